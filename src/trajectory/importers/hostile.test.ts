import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parquetWriteFile } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { JsonShapeError } from '../json-pieces.js';
import { parseTrajectory } from '../parse.js';
import { anthropicImporter } from './anthropic.js';
import { canonicalImporter } from './canonical.js';
import { importTrajectories, UnknownFormatError } from './detect.js';
import { surviveHostileInput } from './hostile.js';
import { openaiChatImporter } from './openai-chat.js';
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

const anthropicMessages = [
  { role: 'user', content: 'Where?' },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'a' },
      { type: 'tool_use', id: 't', name: 'get', input: { id: 1 } },
    ],
  },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'x' }], is_error: true },
    ],
  },
];
const beside = {
  id: 'a',
  task_id: 7,
  trial: 0,
  reward: 0.5,
  label: 'pass',
  metadata: { a: { b: 1 } },
  model: 'm',
  tools: [{ type: 'function', function: { name: 'get_order', parameters: { type: 'object' } } }],
};

test('chats in OpenAI’s form', async () => {
  const older = [
    { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
    { role: 'function', name: 'f', content: '1' },
    { type: 'reasoning', summary: [{ text: 'x' }] },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: '1' },
  ];
  const logged = { request: { messages }, response: { choices: [{ message: messages[4] }] } };
  const real = [
    { ...beside, messages },
    { ...beside, messages: older },
    { messages: older },
    messages,
    logged,
  ];
  await surviveHostileInput(openaiChatImporter, { real });
});

test('Anthropic messages', async () => {
  const record = { ...beside, system: [{ type: 'text', text: 'policy' }], messages: anthropicMessages };
  await surviveHostileInput(anthropicImporter, { real: [record, { ...record, id: 'b' }] });
});

test('a damaged Parquet file is refused, never misread without end', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trace-hostile-parquet-'));
  const path = join(folder, 'rows.parquet');
  try {
    parquetWriteFile({
      filename: path,
      columnData: [
        { name: 'messages', data: [messages, messages].map((list) => JSON.stringify(list)), type: 'STRING' },
        { name: 'reward', data: [1, 0], type: 'DOUBLE' },
      ],
    });
    const whole = readFileSync(path);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(whole.length - 1),
        fc.integer({ min: 1, max: 255 }),
        fc.boolean(),
        async (at, by, cut) => {
          const bytes = cut ? whole.subarray(0, at) : Buffer.from(whole);
          if (!cut) bytes[at] = bytes[at]! ^ by;
          writeFileSync(path, bytes);
          try {
            for await (const trajectory of importTrajectories(path, { onInvalid: () => {} }))
              parseTrajectory(JSON.parse(JSON.stringify(trajectory)));
          } catch (error) {
            expect([JsonShapeError, UnknownFormatError].some((kind) => error instanceof kind)).toBe(true);
          }
        },
      ),
      { numRuns: 150 },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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
