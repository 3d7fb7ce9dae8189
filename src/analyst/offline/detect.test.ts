import { describe, expect, test } from 'vitest';
import type { Message, Reference, ToolKind, ToolSchema, Trajectory } from '../../trajectory/trajectory.js';
import { detect } from './detect.js';
import { messageText } from './evidence.js';
import { MODERATE, type Strictness } from './strictness.js';

/** A small shop: orders with items, products with variants, payments on file. */
const toolKinds: { [tool: string]: ToolKind } = {
  get_user: 'read',
  get_order: 'read',
  get_product: 'read',
  cancel_order: 'write',
  exchange_item: 'write',
  set_address: 'write',
  transfer: 'handover',
};
type Turn = string | readonly [name: string, args: { readonly [name: string]: unknown }, result: unknown];

/** User turns begin with `user:`, other strings are the agent's; triples are calls with their results. */
function conversation(turns: readonly Turn[]): Message[] {
  const messages: Message[] = [{ role: 'system', content: 'policy' }];
  turns.forEach((turn, i) => {
    if (typeof turn === 'string') {
      const user = turn.startsWith('user:');
      messages.push({ role: user ? 'user' : 'assistant', content: user ? turn.slice(5).trim() : turn });
      return;
    }
    const [name, args, result] = turn;
    const id = `c${i}`;
    messages.push({
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name, arguments: args } }],
    });
    messages.push({ role: 'tool', content: JSON.stringify(result), tool_call_id: id, name });
  });
  return messages;
}

const golden = (name: string, args: { readonly [name: string]: unknown }) => ({
  name,
  arguments: args,
  kind: toolKinds[name]!,
});

function attempt(
  turns: readonly Turn[],
  reference: Partial<Reference> | null,
  extra: Partial<Trajectory> = {},
): Trajectory {
  return {
    id: 'a',
    taskId: 't',
    trial: 0,
    source: 'test',
    messages: conversation(turns),
    tools: [],
    reward: 0,
    outcome: 'failed',
    termination: 'user_stop',
    ...(reference ? { reference: { actions: [], requiredFacts: [], toolKinds, ...reference } } : {}),
    metadata: {},
    ...extra,
  };
}

function lacking(trajectory: Trajectory, strictness: Partial<Strictness> = {}): string[] {
  const { findings } = detect(trajectory, { ...MODERATE, ...strictness });
  for (const { evidence } of findings) {
    const message = trajectory.messages[evidence.message]!;
    expect(message.role).toBe('assistant');
    expect(evidence.quote).not.toBe('');
    expect(messageText(message)).toContain(evidence.quote);
    expect(evidence.note).not.toBe('');
  }
  return [...new Set(findings.map((finding) => finding.capability))].sort();
}

const ASK = 'user: I am u7. Exchange the lamp of order o1 for a blue one and cancel order o2.';
const USER: Turn = ['get_user', { user: 'u7' }, { payments: ['card-3', 'gift-5'] }];
const ORDER: Turn = [
  'get_order',
  { order: 'o1' },
  { status: 'delivered', payment: 'gift-5', items: ['lamp:i1', 'mug:i2'] },
];
const PRODUCT: Turn = [
  'get_product',
  { name: 'lamp' },
  { variants: ['$4 red:v1', '$6 blue:v2', '$9 green:v3'] },
];
const EXCHANGE = { order: 'o1', item: 'lamp:i1', variant: 'blue:v2', payment: 'gift-5' };
const exchange = (change: object = {}): Turn => ['exchange_item', { ...EXCHANGE, ...change }, { ok: true }];
const CANCEL: Turn = ['cancel_order', { order: 'o2' }, { ok: true }];
const BOTH = { actions: [golden('exchange_item', EXCHANGE), golden('cancel_order', { order: 'o2' })] };
const LOOKED_UP: Turn[] = [ASK, USER, ORDER, PRODUCT];

describe('against the reference', () => {
  test('nothing is lacking where everything is done, in any order and with reads beyond', () => {
    expect(lacking(attempt([...LOOKED_UP, CANCEL, exchange(), 'Done.'], BOTH))).toEqual([]);
    expect(
      lacking(attempt([...LOOKED_UP, ORDER, exchange({ variant: ' Blue:V2 ' }), CANCEL, 'Done.'], BOTH)),
    ).toEqual([]);
  });

  test.each<[string, readonly Turn[], string[]]>([
    ['another listed variant', [exchange({ variant: 'red:v1' }), CANCEL], ['structured_data_reasoning']],
    ['another listed item', [exchange({ item: 'mug:i2' }), CANCEL], ['structured_data_reasoning']],
    [
      'a payment that the record gives',
      [exchange({ payment: 'card-3' }), CANCEL],
      ['tool_calling_precision'],
    ],
    ['a made-up variant', [exchange({ variant: 'blue:v7' }), CANCEL], ['tool_calling_precision']],
    ['a missing argument', [exchange({ payment: undefined }), CANCEL], ['tool_calling_precision']],
    [
      'an id that the user said, miscopied',
      [exchange(), ['cancel_order', { order: 'o3' }, { error: 'not found' }]],
      ['tool_calling_precision'],
    ],
    [
      'two faults in one call',
      [exchange({ variant: 'red:v1', payment: 'card-3' }), CANCEL],
      ['structured_data_reasoning', 'tool_calling_precision'],
    ],
    ['a part left out', [exchange(), 'Done.'], ['multi_step_task_completion']],
    [
      'a part left out, the other one wrong',
      [exchange({ variant: 'red:v1' }), 'Done.'],
      ['multi_step_task_completion', 'structured_data_reasoning'],
    ],
    [
      'a change too many',
      [exchange(), CANCEL, ['set_address', { order: 'o9' }, { ok: true }]],
      ['precondition_verification'],
    ],
    ['a change carried out twice', [exchange(), CANCEL, CANCEL], ['loop_avoidance']],
    ['only talk', ['I have done both for you.'], ['action_execution']],
    ['a refusal', ['Sorry, I am unable to change these orders.'], ['escalation_judgment']],
    [
      'handed over',
      [['transfer', { summary: 'the customer wants two things done today' }, { ok: true }]],
      ['escalation_judgment'],
    ],
    [
      'given up after an error',
      [['get_order', { order: 'o2' }, { error: 'timeout' }], 'Sorry.'],
      ['error_recovery'],
    ],
    [
      'the right call failed and was given up',
      [exchange(), ['cancel_order', { order: 'o2' }, { error: 'timeout' }]],
      ['error_recovery'],
    ],
  ])('%s', (_, turns, expected) => {
    const end = typeof turns.at(-1) === 'string' ? turns : [...turns, 'Done.'];
    expect(lacking(attempt([...LOOKED_UP, ...end], BOTH))).toEqual(expected);
  });

  test('an argument filled in before its source was read', () => {
    const turns: Turn[] = [ASK, USER, ORDER, exchange({ variant: 'blue:v9' }), CANCEL, 'Done.'];
    expect(lacking(attempt(turns, BOTH))).toEqual(['information_gathering']);
  });

  test('asking for what could be looked up', () => {
    const reads = { actions: [golden('get_order', { order: 'o1' }), ...BOTH.actions] };
    expect(
      lacking(attempt([ASK, 'Which variant id?', 'user: I do not know.', 'Call again.'], reads)),
    ).toEqual(['information_gathering']);
  });

  test('an error that is mended is no fault; a wrong try before the right one neither', () => {
    const mended: Turn[] = [
      ...LOOKED_UP,
      ['exchange_item', { ...EXCHANGE, payment: 'x' }, { error: 'no' }],
      exchange(),
      CANCEL,
      'Done.',
    ];
    expect(lacking(attempt(mended, BOTH))).toEqual([]);
  });

  test('a wrong change beside the right one', () => {
    const wrong = exchange({ variant: 'red:v1' });
    const made: Turn = ['exchange_item', { ...EXCHANGE, variant: 'red:v1' }, { booking: 'x901' }];
    const run = (turns: Turn[], strictness: Partial<Strictness> = {}) =>
      lacking(attempt([...LOOKED_UP, ...turns, CANCEL, 'Done.'], BOTH), strictness);
    // Corrected: whether it counts is a matter of opinion.
    expect(run([wrong, exchange()])).toEqual([]);
    expect(run([wrong, exchange()], { mendedCounts: true })).toEqual(['structured_data_reasoning']);
    // What it made stays, unless it is taken back.
    expect(run([made, exchange()])).toEqual(['structured_data_reasoning']);
    expect(run([made, ['cancel_order', { order: 'x901' }, { ok: true }], exchange()])).toEqual([]);
    // The right one is overwritten.
    expect(run([exchange(), wrong])).toEqual(['structured_data_reasoning']);
    expect(run([exchange(), exchange({ payment: 'card-3' })])).toEqual(['tool_calling_precision']);
  });

  test('a change that the reference hands over, one request at a time', () => {
    const tools: ToolSchema[] = ['cancel_order', 'transfer'].map((name) => ({
      type: 'function',
      function: { name, parameters: { type: 'object', properties: { order: { type: 'string' } } } },
    }));
    const refused = { actions: [golden('exchange_item', EXCHANGE), golden('transfer', { order: 'o2' })] };
    const handed: Turn = ['transfer', { order: 'o2' }, { ok: true }];
    const run = (turns: Turn[]) => attempt([...LOOKED_UP, ...turns, 'Done.'], refused, { tools });
    expect(lacking(run([exchange(), handed]))).toEqual([]);
    expect(lacking(run([exchange(), CANCEL]))).toEqual(['precondition_verification']);
    expect(lacking(run([exchange()]))).toEqual(['multi_step_task_completion']);
    expect(lacking(run([['transfer', { order: 'o1' }, { ok: true }], handed]))).toEqual([
      'escalation_judgment',
    ]);
    // Refusals show in such a reference: without one, no precondition is in question.
    const needed = (reference: Partial<Reference>) =>
      detect(attempt([...LOOKED_UP, exchange(), 'Done.'], reference, { tools }), MODERATE).needed;
    expect(needed(refused).has('precondition_verification')).toBe(true);
    expect(needed(BOTH).has('precondition_verification')).toBe(false);
  });

  test('a case that belongs to someone else and is kept; a change made instead', () => {
    const over = { actions: [golden('transfer', { summary: 'x' })] };
    expect(lacking(attempt([...LOOKED_UP, 'All fine, good bye.'], over))).toEqual(['escalation_judgment']);
    expect(lacking(attempt([...LOOKED_UP, exchange(), 'Done.'], over))).toEqual([
      'precondition_verification',
    ]);
    const summary: Turn = [
      'transfer',
      { summary: 'other words for the same thing, at some length' },
      { ok: true },
    ];
    expect(
      lacking(
        attempt([...LOOKED_UP, summary, 'Bye.'], {
          actions: [golden('transfer', { summary: 'a summary of more than six words, never compared' })],
        }),
      ),
    ).toEqual([]);
  });

  test('changes beyond the reference are no fault where the verifier only tests conditions', () => {
    const turns: Turn[] = [
      ...LOOKED_UP,
      exchange(),
      CANCEL,
      ['set_address', { order: 'o9' }, { ok: true }],
      'Done.',
    ];
    expect(lacking(attempt(turns, { ...BOTH, exhaustive: false }))).toEqual([]);
  });

  test('required facts: digits with commas count, and wrong operations drag their facts along', () => {
    const facts = { ...BOTH, requiredFacts: ['1234', 'Exchanged'] };
    const end = (turns: Turn[], last: string) => attempt([...LOOKED_UP, ...turns, last], facts);
    expect(lacking(end([exchange(), CANCEL], 'It costs $1,234 and is exchanged.'))).toEqual([]);
    expect(lacking(end([exchange(), CANCEL], 'It is exchanged.'))).toEqual(['information_reporting']);
    expect(lacking(end([exchange()], 'It is exchanged.'))).toEqual(['multi_step_task_completion']);
  });

  test('only the arguments that count are compared; numbers, texts and lists in any order', () => {
    const action = {
      ...golden('set_address', { ids: ['b2', 'a1'], n: 5, note: 'x' }),
      compareArguments: ['ids', 'n'],
    };
    const call: Turn = ['set_address', { ids: ['a1', 'b2'], n: '5.0', note: 'other' }, { ok: true }];
    const run = attempt([ASK, USER, call, 'Done.'], { actions: [action] });
    expect(lacking(run)).toEqual([]);
    expect(lacking(run, { orderedLists: true })).toEqual(['tool_calling_precision']);
  });
});

describe('without a reference', () => {
  const ONE = 'user: I am u7. Please see to my order o1.';
  test('loops, also back and forth; not the same call now and then', () => {
    const a: Turn = ['get_user', { user: 'u7' }, { payments: [] }];
    const b: Turn = ['get_order', { order: 'o1' }, { status: 'pending' }];
    const others: Turn[] = [1, 2, 3, 4, 5].map((n) => ['get_product', { name: `p${n}` }, { n }]);
    expect(lacking(attempt([ONE, a, a, a, 'Bye.'], null))).toEqual(['loop_avoidance']);
    expect(lacking(attempt([ONE, a, b, a, b, a, 'Bye.'], null))).toEqual(['loop_avoidance']);
    expect(lacking(attempt([ONE, a, ...others, a, ...others, a, 'Bye.'], null))).toEqual([]);
    expect(lacking(attempt([ONE, a, a, a, 'Bye.'], null), { loopLength: 4 })).toEqual([]);
    expect(lacking(attempt([ONE, 'Wait.', 'user: ok', 'Wait.', 'user: ok', 'Wait.'], null))).toEqual([
      'loop_avoidance',
    ]);
  });

  test('broken turns and errors left standing', () => {
    const broken = attempt([ONE, 'Let me see.'], null);
    const messages: Message[] = [...broken.messages, { role: 'assistant', content: '', malformed: 'empty' }];
    expect(lacking({ ...broken, messages })).toEqual(['well_formed_output']);
    expect(lacking({ ...broken, termination: 'agent_error' })).toEqual(['well_formed_output']);
    const failed: Turn = ['get_order', { order: 'o1' }, { error: 'no' }];
    expect(lacking(attempt([ONE, failed, 'Sorry.'], null))).toEqual(['error_recovery']);
    expect(lacking(attempt([ONE, failed, ORDER, 'Here.'], null))).toEqual([]);
  });

  const failing: Turn = ['cancel_order', { order: 'o1' }, { error: 'locked' }];
  const cancel: Turn = ['cancel_order', { order: 'o1' }, { ok: true }];

  test('errors: a read is made good by any later success, a change by its tool, its entity or a hand-over', () => {
    const run = (...turns: Turn[]) => lacking(attempt([ONE, ...turns, 'Good bye.'], null));
    expect(run(ORDER, failing, ORDER)).toEqual(['error_recovery']);
    expect(run(ORDER, failing, cancel)).toEqual([]);
    expect(run(ORDER, failing, ['set_address', { order: 'o1' }, { ok: true }])).toEqual([]);
    expect(run(ORDER, failing, ['transfer', { summary: 'locked' }, { ok: true }])).toEqual([]);
    expect(
      run(['get_order', { order: 'o1' }, { error: 'busy' }], USER, ['get_product', { name: 'lamp' }, {}]),
    ).toEqual([]);
  });

  test('a dropped request: of two things of one form that the user names, no call concerns the second', () => {
    const order = (id: string): Turn => ['get_order', { order: id }, { status: 'pending' }];
    const run = (asked: string, turns: Turn[], last = 'Here you are.') =>
      lacking(attempt([`user: ${asked}`, ...turns, last], null));
    const both = 'Where are my orders #A100 and #A200?';
    expect(run(both, [order('#A100')])).toEqual(['multi_step_task_completion']);
    expect(run(both, [order('#A100'), order('#A200')])).toEqual([]);
    // Things of another form, a refusal and a hand-over are no dropped requests.
    expect(run('My order is #A100, my postcode 90210x.', [order('#A100')])).toEqual([]);
    expect(run(both, [order('#A100')], 'I am unable to help with the other one.')).toEqual([]);
    expect(run(both, [order('#A100'), ['transfer', { summary: 'two' }, {}]])).toEqual([]);
  });

  test('empty words: announced at the end, or claimed without a change', () => {
    const run = (...turns: Turn[]) => lacking(attempt([ONE, USER, ORDER, ...turns], null));
    const tools: ToolSchema[] = [
      { type: 'function', function: { name: 'cancel_order', parameters: { type: 'object' } } },
    ];
    expect(run('I will now cancel order o1. One moment.')).toEqual(['action_execution']);
    expect(run('I will now cancel order o1. Is that right?')).toEqual([]);
    expect(run('I will now cancel order o1.', cancel, 'Anything else?')).toEqual([]);
    expect(run(['transfer', { summary: 'x' }, {}], 'You are being transferred, please hold on.')).toEqual([]);
    const claim = attempt([ONE, USER, 'I have cancelled order o1.'], null, { tools });
    expect(lacking(claim)).toEqual(['action_execution']);
    // Where nothing can be changed by a call, words may be all there is.
    expect(lacking({ ...claim, tools: [] })).toEqual([]);
    expect(run(cancel, 'I have cancelled order o1.')).toEqual([]);
  });

  test('hand-overs: unseen, or in words alone', () => {
    const transfer: Turn = ['transfer', { summary: 'please help' }, { ok: true }];
    expect(lacking(attempt([ONE, transfer, 'Good bye.'], null))).toEqual(['escalation_judgment']);
    expect(lacking(attempt([ONE, ORDER, transfer, 'Good bye.'], null))).toEqual([]);
    const tools: ToolSchema[] = [
      { type: 'function', function: { name: 'transfer', parameters: { type: 'object' } } },
    ];
    const words = attempt([ONE, ORDER, 'Transferring you to a human agent.'], null, { tools });
    expect(lacking(words)).toEqual(['escalation_judgment']);
    expect(lacking({ ...words, tools: [] })).toEqual([]);
  });

  test('an id that stood nowhere and that the tool does not know', () => {
    const guess = (id: string, result: object): Turn => ['get_order', { order: id }, result];
    const run = (turn: Turn) => lacking(attempt([ONE, USER, turn, ORDER, 'Here.'], null));
    expect(run(guess('o77', { error: 'not found' }))).toEqual(['tool_calling_precision']);
    expect(run(guess('o77', { status: 'found after all' }))).toEqual([]);
    // A path is put together, not taken over.
    expect(run(guess('./orders/o77.txt', { error: 'not found' }))).toEqual([]);
    expect(run(guess('o1', { error: 'not found' }))).toEqual([]);
    expect(run(guess('gift-5', { error: 'not found' }))).toEqual([]);
  });

  test('what the rules apply to is needed, and nothing else', () => {
    const needs = (...turns: Turn[]) =>
      [...detect(attempt(['user: hello', ...turns, 'Bye.'], null), MODERATE).needed].sort();
    expect(needs()).toEqual(['well_formed_output']);
    expect(needs(['set_address', { street: 'Oak' }, { ok: true }])).toEqual([
      'action_execution',
      'well_formed_output',
    ]);
  });
});

test('the verdict is never read: a passed attempt is judged as a failed one', () => {
  const turns: Turn[] = [...LOOKED_UP, exchange({ variant: 'red:v1' }), 'Done.'];
  const failed = detect(attempt(turns, BOTH), MODERATE);
  const passed = detect(
    attempt(turns, BOTH, { outcome: 'passed', reward: 1, checks: [{ name: 'all', passed: true }] }),
    MODERATE,
  );
  expect(passed).toEqual(failed);
});
