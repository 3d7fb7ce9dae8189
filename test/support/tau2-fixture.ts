import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A small checkout of its own: the benchmark's layout, other people and other goods. */
export function writeTau2Fixture(folder: string): string {
  const write = (domain: string, name: string, value: unknown) => {
    const path = join(folder, 'tau2', 'domains', domain);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, name), typeof value === 'string' ? value : pythonNumbers(JSON.stringify(value)));
  };
  for (const domain of ['retail', 'airline', 'mock']) write(domain, 'policy.md', `The policy of ${domain}.`);
  write('retail', 'db.json', RETAIL);
  write('retail', 'tasks.json', RETAIL_TASKS);
  write('retail', 'split_tasks.json', {
    train: ['return-lamp'],
    test: ['judged'],
    base: ['return-lamp', 'judged'],
  });
  write('airline', 'db.json', AIRLINE);
  write('airline', 'tasks.json', []);
  write('mock', 'policy_solo.md', 'Work alone.');
  write('mock', 'db.json', MOCK);
  write('mock', 'user_db.json', { notifications: {} });
  write('mock', 'tasks.json', MOCK_TASKS);
  for (const name of ['simulation_guidelines.md', 'simulation_guidelines_tools.md'])
    writeFileSync(join(folder, 'tau2', name), `Play the user.<PERSONA_GUIDELINES> (${name})`);
  return folder;
}

/**
 * What JavaScript's objects cannot say: a float 1.0 (written `float:1.0`), and keys that look like numbers in an
 * order of their own (written `id:9`).
 */
const pythonNumbers = (json: string): string =>
  json.replace(/"float:([-\d.]+)"/g, '$1').replace(/"id:(\d+)"/g, '"$1"');

const home = {
  address1: '1 Elm Road',
  address2: '',
  city: 'Springfield',
  country: 'USA',
  state: 'IL',
  zip: '62701',
};
const variant = (id: string, price: string, colour: string) => ({
  price: `float:${price}`,
  item_id: id,
  available: true,
  options: { colour },
});
const order = (id: string, status: string, items: readonly (readonly [string, string])[]) => ({
  status,
  order_id: id,
  user_id: 'ann_lee_1',
  address: home,
  items: items.map(([item, price]) => ({
    name: 'Lamp',
    product_id: '30',
    item_id: item,
    price: `float:${price}`,
    options: { colour: 'red' },
  })),
  fulfillments: [],
  payment_history: [{ transaction_type: 'payment', amount: 'float:30.0', payment_method_id: 'gift_card_1' }],
});
const RETAIL = {
  products: {
    '30': {
      name: 'Lamp',
      product_id: '30',
      variants: {
        'id:9': variant('9', '10.0', 'red'),
        'id:11': variant('11', '10.1', 'blue'),
        'id:7': variant('7', '10.35', 'green'),
        'id:10': variant('10', '20.0', 'red'),
      },
    },
  },
  users: {
    ann_lee_1: {
      user_id: 'ann_lee_1',
      name: { first_name: 'Ann', last_name: 'Lee' },
      address: home,
      email: 'ann@example.org',
      payment_methods: { gift_card_1: { source: 'gift_card', id: 'gift_card_1', balance: 'float:5.0' } },
      orders: ['#W1', '#W2'],
    },
  },
  orders: {
    '#W1': order('#W1', 'pending', [
      ['9', '10.0'],
      ['10', '20.0'],
    ]),
    '#W2': order('#W2', 'delivered', [['9', '10.0']]),
  },
};
const RETAIL_TASKS = [
  {
    id: 'return-lamp',
    user_scenario: {
      instructions: {
        domain: 'retail',
        reason_for_call: 'Return the lamp.\n\nIt is too bright.',
        task_instructions: 'Be brief.',
      },
    },
    evaluation_criteria: {
      actions: [
        {
          action_id: '0',
          name: 'return_delivered_order_items',
          arguments: { order_id: '#W2', item_ids: ['9'], payment_method_id: 'gift_card_1' },
        },
      ],
      communicate_info: ['1000'],
      reward_basis: ['DB', 'COMMUNICATE'],
    },
  },
  {
    id: 'judged',
    user_scenario: { instructions: 'Ask something.' },
    evaluation_criteria: {
      actions: [],
      nl_assertions: ['The agent is friendly.'],
      reward_basis: ['DB', 'NL_ASSERTION'],
    },
  },
];

const AIRLINE = {
  flights: {
    F1: {
      flight_number: 'F1',
      origin: 'JFK',
      destination: 'SEA',
      scheduled_departure_time_est: '20:00:00',
      scheduled_arrival_time_est: '01:00:00+1',
      dates: {
        '2024-05-20': {
          status: 'available',
          available_seats: { basic_economy: 3, economy: 1, business: 0 },
          prices: { basic_economy: 50, economy: 100, business: 300 },
        },
        '2024-05-21': { status: 'cancelled' },
      },
    },
  },
  users: {
    bob_ray_2: {
      user_id: 'bob_ray_2',
      name: { first_name: 'Bob', last_name: 'Ray' },
      address: home,
      email: 'bob@example.org',
      dob: '1990-01-01',
      payment_methods: {
        gift_card_2: { source: 'gift_card', id: 'gift_card_2', amount: 'float:130.0' },
        certificate_2: { source: 'certificate', id: 'certificate_2', amount: 'float:20.0' },
      },
      saved_passengers: [],
      membership: 'regular',
      reservations: [],
    },
  },
  reservations: {},
};

const MOCK = {
  tasks: { task_1: { task_id: 'task_1', title: 'One', description: null, status: 'pending' } },
  users: { user_1: { user_id: 'user_1', name: 'Ann', tasks: ['task_1'] } },
};
const MOCK_TASKS = [
  {
    id: 'finish',
    ticket: 'Complete task_1.',
    user_scenario: { persona: 'Calm', instructions: 'Have task_1 completed, then read notif_1.' },
    initial_state: {
      initialization_actions: [
        {
          env_type: 'user',
          func_name: 'add_notification',
          arguments: { notification_id: 'notif_1', message: 'Task One is yours.' },
        },
      ],
    },
    evaluation_criteria: {
      actions: [
        { action_id: '0', name: 'update_task_status', arguments: { task_id: 'task_1', status: 'completed' } },
      ],
      env_assertions: [
        {
          env_type: 'user',
          func_name: 'assert_notification_status',
          arguments: { notification_id: 'notif_1', expected_status: 'read' },
        },
      ],
      reward_basis: ['ENV_ASSERTION', 'ACTION'],
    },
  },
];
