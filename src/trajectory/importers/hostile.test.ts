import { expect, test } from 'vitest';
import { canonicalImporter } from './canonical.js';
import { surviveHostileInput } from './hostile.js';
import { tauBenchImporter } from './tau-bench.js';
import { tau2Importer } from './tau2.js';

const call = { id: 'c', type: 'function', function: { name: 'get_order', arguments: '{"id":"#1"}' } };
const messages = [
  { role: 'system', content: 'policy' },
  { role: 'user', content: 'Where is my order?' },
  { role: 'assistant', content: null, tool_calls: [call] },
  { role: 'tool', tool_call_id: 'c', name: 'get_order', content: '{"status":"sent"}' },
  { role: 'assistant', content: 'It was sent.' },
];
const actions = [{ name: 'get_order', kwargs: { id: '#1' }, arguments: { id: '#1' }, compare_args: ['id'] }];

test('canonical', async () => {
  const plain = { ...call, function: { name: 'get_order', arguments: { id: '#1' } } };
  const record = {
    id: 'a',
    taskId: 't',
    trial: 0,
    source: 'rollout',
    messages: messages.map((message) => (message.tool_calls ? { ...message, tool_calls: [plain] } : message)),
    tools: [{ type: 'function', function: { name: 'get_order', parameters: { type: 'object' } } }],
    reward: 1,
    outcome: 'passed',
    termination: null,
    checks: [{ name: 'DB', passed: true }],
    reference: {
      actions: [{ name: 'get_order', arguments: {}, kind: 'read' }],
      requiredFacts: ['sent'],
      toolKinds: { get_order: 'read' },
    },
    metadata: { a: 1 },
  };
  await surviveHostileInput(canonicalImporter, { real: [record] });
});

test('τ-bench', async () => {
  const result = {
    task_id: 3,
    trial: 1,
    reward: 0,
    info: { task: { actions, outputs: ['10'] } },
    traj: messages,
  };
  await surviveHostileInput(tauBenchImporter, { real: [result, { ...result, trial: 2 }] });
});

test('τ²-bench, bare and with tasks', async () => {
  const own = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c', name: 'get', arguments: { a: 1 } }],
  };
  const simulation = {
    id: 's',
    task_id: '7',
    trial: 0,
    termination_reason: 'user_stop',
    reward_info: {
      reward: 1,
      reward_breakdown: { DB: 1 },
      action_checks: [{ action: actions[0], tool_type: 'read' }],
    },
    messages: [
      own,
      { role: 'tool', id: 'c', content: 'x', requestor: 'assistant', error: false },
      ...messages,
    ],
    ticks: [{ agent_chunk: { content: 'a', tool_calls: [] }, user_chunk: { content: 'b' } }],
  };
  const task = { id: '7', evaluation_criteria: { actions, communicate_info: ['42'], reward_basis: ['DB'] } };
  const info = { environment_info: { domain_name: 'shop', policy: 'p', tool_defs: [] } };
  await surviveHostileInput(tau2Importer, { real: [simulation] });
  await surviveHostileInput(tau2Importer, {
    real: [task, simulation],
    write: ([first, ...rest], print) => print({ info, tasks: [first], simulations: rest }),
    runs: 30,
  });
});

test('the harness notices what is no refusal', async () => {
  const careless = {
    name: 'careless',
    title: '',
    matches: () => true,
    async *read() {
      yield* [];
      throw new TypeError('x is undefined');
    },
  };
  await expect(surviveHostileInput(careless, { real: [{}] })).rejects.toThrow();
});
