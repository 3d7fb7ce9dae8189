import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { JsonShapeError } from '../json-pieces.js';
import { parseTrajectory } from '../parse.js';
import type { InvalidRecordError } from '../store.js';
import type { Trajectory } from '../trajectory.js';
import { detectFormat, importTrajectories, UnknownFormatError } from './detect.js';
import { toolKindByName } from './tool-kinds.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-import-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const collect = async <T>(stream: AsyncIterable<T>) => {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
};
const file = (value: unknown, name = 'results.json') => {
  const path = join(folder, name);
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value, null, 2));
  return path;
};

const simulation = (id: string, extra: object = {}) => ({
  id,
  task_id: '7',
  trial: 0,
  termination_reason: 'user_stop',
  reward_info: { reward: 1, reward_breakdown: { DB: 1, COMMUNICATE: 1 } },
  messages: [
    { role: 'assistant', content: 'Hi', tool_calls: null },
    { role: 'user', content: 'change it', tool_calls: null },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', name: 'set_order', arguments: { id: 1 }, requestor: 'assistant' }],
    },
    { role: 'tool', id: 'c', content: 'no such order', requestor: 'assistant', error: true },
    { role: 'user', content: null, tool_calls: [{ id: 'u', name: 'reboot', arguments: {} }] },
    { role: 'tool', id: 'u', content: 'done', requestor: 'user', error: false },
  ],
  ...extra,
});
const task = {
  id: '7',
  evaluation_criteria: {
    actions: [
      { name: 'set_order', arguments: { id: 2 }, requestor: 'assistant', compare_args: ['id'] },
      { name: 'reboot', arguments: {}, requestor: 'user', compare_args: null },
    ],
    communicate_info: ['42'],
    nl_assertions: ['be kind'],
    reward_basis: ['DB', 'COMMUNICATE'],
  },
};
const info = { environment_info: { domain_name: 'shop', policy: 'the policy', tool_defs: null } };

describe('τ²-bench', () => {
  test('one file: conversation as the agent sees it, reference from the task', async () => {
    const path = file({ info, tasks: [task], simulations: [simulation('s1')] });
    expect(await detectFormat(path)).toBe('tau2');
    const [t] = await collect(importTrajectories(path));
    expect(t).toMatchObject({
      id: 's1',
      taskId: '7',
      outcome: 'passed',
      termination: 'user_stop',
      systemPrompt: 'the policy',
      checks: [
        { name: 'DB', passed: true },
        { name: 'COMMUNICATE', passed: true },
      ],
      metadata: { domain: 'shop', userCalls: ['reboot'] },
      reference: {
        // The user's own action is none of the agent's.
        actions: [{ name: 'set_order', arguments: { id: 2 }, kind: 'write', compareArguments: ['id'] }],
        requiredFacts: ['42'],
        toolKinds: { set_order: 'write' },
        assertions: ['be kind'],
      },
    });
    expect(t!.reference!.exhaustive).toBeUndefined();
    expect(t!.messages.map((m) => m.role)).toEqual(['assistant', 'user', 'assistant', 'tool']);
    expect(t!.messages[3]).toEqual({
      role: 'tool',
      content: 'no such order',
      tool_call_id: 'c',
      error: true,
    });
    expect(parseTrajectory(JSON.parse(JSON.stringify(t)))).toEqual(t);
  });

  test('a turn that the benchmark calls invalid is malformed', async () => {
    const invalid = {
      role: 'assistant',
      content: '',
      tool_calls: null,
      errors: ['Invalid message format. Original message: x. Error: You sent an empty message.'],
    };
    const [t] = await collect(importTrajectories(file([simulation('a', { messages: [invalid] })])));
    expect(t!.messages[0]).toMatchObject({ content: '', malformed: 'You sent an empty message.' });
  });

  test('tasks behind the simulations, and a verifier that tests conditions only', async () => {
    const conditions = {
      ...task,
      evaluation_criteria: { ...task.evaluation_criteria, reward_basis: ['ENV_ASSERTION'] },
    };
    const [t] = await collect(
      importTrajectories(file({ simulations: [simulation('s1')], tasks: [conditions], info })),
    );
    expect(t!.reference).toMatchObject({ exhaustive: false, requiredFacts: ['42'] });
  });

  test('in solo mode the golden actions of the user are the agent’s', async () => {
    const alone = simulation('s', { messages: [{ role: 'assistant', content: 'done' }] });
    const [t] = await collect(importTrajectories(file({ tasks: [task], simulations: [alone] })));
    expect(t!.reference!.actions.map((action) => action.name)).toEqual(['set_order', 'reboot']);
  });

  test('bare list, no info, no tasks, no task_id, null termination, null reward', async () => {
    const path = file([
      simulation('a', { task_id: undefined, termination_reason: null, trial: null }),
      simulation('b', { reward_info: null }),
      simulation('c', { reward_info: { reward: 0 }, termination_reason: 'infrastructure_error' }),
      simulation('d', {
        trial: undefined,
        reward_info: { reward: 0, action_checks: [{ action: task.evaluation_criteria.actions[0] }] },
      }),
    ]);
    expect(await detectFormat(path)).toBe('tau2');
    const all = await collect(importTrajectories(path));
    expect(all.map((t) => [t.id, t.taskId, t.outcome, t.termination])).toEqual([
      ['a', 'a', 'passed', null],
      ['b', '7', 'excluded', 'user_stop'],
      ['c', '7', 'excluded', 'infrastructure_error'],
      ['d', '7', 'failed', 'user_stop'],
    ]);
    expect(all[0]!.reference).toBeUndefined();
    expect(all[3]!.reference!.actions).toHaveLength(1);
    expect(all[3]!.trial).toBe(2);
  });

  test('the folder form, in the order of its index; a missing file is named', async () => {
    mkdirSync(join(folder, 'simulations'));
    const index = ['s2', 's1'].map((id) => ({ id, task_id: '7' }));
    file({ info, tasks: [task], simulation_index: index });
    for (const id of ['s1', 's2', 's3']) file(simulation(id), `simulations/${id}.json`);
    expect(await detectFormat(folder)).toBe('tau2');
    expect((await collect(importTrajectories(folder))).map((t) => t.id)).toEqual(['s2', 's1', 's3']);
    expect(await collect(importTrajectories(join(folder, 'results.json')))).toHaveLength(3);
    rmSync(join(folder, 'simulations', 's1.json'));
    await expect(collect(importTrajectories(folder))).rejects.toThrow(/s1\.json: record 2: .*missing/);
  });
});

describe('τ-bench', () => {
  const result = {
    task_id: 3,
    trial: 1,
    reward: 0,
    info: {
      task: { actions: [{ name: 'cancel_order', kwargs: { id: '#1' } }], outputs: ['10'] },
    },
    traj: [
      { role: 'system', content: 'policy' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c', type: 'function', function: { name: 'get_order', arguments: '{"id":"#1"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c', name: 'get_order', content: 'Error: order not found' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'd', type: 'function', function: { name: 'get_order', arguments: '{"id":' } }],
      },
      { role: 'user', content: 'bye ###STOP###' },
    ],
  };

  test('arguments parsed, errors marked, broken arguments kept as malformed', async () => {
    const path = file([result]);
    expect(await detectFormat(path)).toBe('tau-bench');
    const [t] = await collect(importTrajectories(path));
    expect(t).toMatchObject({
      id: '3-1',
      taskId: '3',
      trial: 1,
      outcome: 'failed',
      termination: 'user_stop',
      reference: {
        actions: [{ name: 'cancel_order', arguments: { id: '#1' }, kind: 'write' }],
        requiredFacts: ['10'],
        toolKinds: { get_order: 'read', cancel_order: 'write' },
      },
    });
    expect(t!.messages[1]).toMatchObject({ tool_calls: [{ function: { arguments: { id: '#1' } } }] });
    expect(t!.messages[2]).toMatchObject({ error: true });
    expect(t!.messages[3]).toMatchObject({ malformed: expect.stringContaining('get_order') });
  });

  test('a run that broke is excluded; the same id twice is refused', async () => {
    const broken = { task_id: 0, reward: 0, info: { error: 'rate limit' }, traj: [], trial: 0 };
    const [t] = await collect(importTrajectories(file([broken])));
    expect(t).toMatchObject({ outcome: 'excluded', reward: null, metadata: { error: 'rate limit' } });
    const twice = file([result, broken, result]);
    await expect(collect(importTrajectories(twice))).rejects.toThrow(
      'record 3: id 3-1 stands already in record 1',
    );
  });
});

describe('any input', () => {
  test.each(['', '[]', '{}', 'hello', '[1,2]', '{"a":1}\n{"a":2}\n', '{"messages": []}'])(
    'what no importer knows is refused: %j',
    async (text) => {
      await expect(detectFormat(file(text))).rejects.toThrow(UnknownFormatError);
    },
  );

  test.each([
    ['little-endian', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['big-endian', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
  ])('UTF-16 is told by name: %s', async (_, encode) => {
    const path = join(folder, 'wide.jsonl');
    writeFileSync(path, encode('{"messages":[]}\n'));
    await expect(detectFormat(path)).rejects.toThrow('UTF-16; save it as UTF-8');
  });

  test('a file that is cut off says so', async () => {
    const whole = JSON.stringify([simulation('a'), simulation('b')]);
    const reading = collect(importTrajectories(file(whole.slice(0, -40))));
    await expect(reading).rejects.toThrow(JsonShapeError);
  });

  const json = fc.jsonValue({ maxDepth: 3 });
  const record = (keys: readonly string[]) =>
    fc.record(Object.fromEntries(keys.map((key) => [key, json])), { requiredKeys: [] });
  const message = fc.oneof(
    json,
    fc.record(
      {
        role: fc.constantFrom('user', 'assistant', 'tool', 'system', 5),
        content: json,
        tool_calls: json,
        tool_messages: json,
        requestor: fc.constantFrom('user', 'assistant'),
        error: json,
      },
      { requiredKeys: [] },
    ),
  );
  const spoiled = fc.oneof(
    record(['task_id', 'reward', 'info', 'traj', 'trial']),
    record(['id', 'task_id', 'messages', 'ticks', 'reward_info', 'termination_reason', 'trial']),
    fc.record({
      id: json,
      task_id: fc.oneof(fc.string(), fc.nat(), json),
      messages: fc.array(message),
      reward_info: fc.oneof(json, record(['reward', 'action_checks', 'reward_breakdown'])),
    }),
    fc.record({
      task_id: fc.nat(),
      reward: fc.oneof(fc.float({ noNaN: true }), json),
      traj: fc.array(message),
      info: fc.record({ task: record(['actions', 'outputs']) }),
    }),
  );

  test('no record crashes an importer: it becomes a valid trajectory or is refused by number', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(spoiled),
        fc.constantFrom('tau-bench', 'tau2', 'canonical'),
        fc.boolean(),
        async (records, format, wrapped) => {
          const path = file(
            format === 'canonical'
              ? records.map((item) => JSON.stringify(item)).join('\n')
              : wrapped && format === 'tau2'
                ? { tasks: records, simulations: records, info: records[0] ?? null }
                : records,
          );
          const refused: InvalidRecordError[] = [];
          const read: Trajectory[] = await collect(
            importTrajectories(path, { format, onInvalid: (error) => refused.push(error) }),
          );
          expect(read.length + refused.length).toBe(records.length);
          for (const trajectory of read) parseTrajectory(JSON.parse(JSON.stringify(trajectory)));
          for (const error of refused) expect(error.message).toMatch(/record \d+: ./);
        },
      ),
      { numRuns: 300 },
    );
  });
});

test.each([
  ['get_order', 'read'],
  ['find_user_id_by_email', 'read'],
  ['list_all_airports', 'read'],
  ['search_direct_flight', 'read'],
  ['check_status_bar', 'read'],
  ['can_send_mms', 'read'],
  ['calculate', 'other'],
  ['think', 'other'],
  ['transfer_to_human_agents', 'handover'],
  ['cancel_reservation', 'write'],
  ['getaway_booking', 'write'],
  ['toggle_data', 'write'],
] as const)('the kind of %s is %s', (name, kind) => {
  expect(toolKindByName(name)).toBe(kind);
});

const data = process.env.TRACE_TEST_DATA ?? resolve(import.meta.dirname, '../../../../shared/data');
const real = existsSync(join(data, 'tau2', 'results'));

describe.skipIf(!real)('real files (skipped where the optional test data is absent)', () => {
  // Counts read from the files by hand.
  test.each([
    ['trajectories/tau-bench-gpt-4o-airline.json', 43, 57, 0],
    ['tau2/results/33665ecc__cd9c5ed2-9751-4c86-8dac-8a895a332e41.json', 0, 0, 1],
    ['tau2/results/83e60796__gpt-4.1_airline_default_gpt-4.1_1trials.json', 10, 10, 0],
    ['tau2/results/94ad2a06__gpt-4.1_retail_defautl_gpt-4.1_1trials.json', 34, 6, 0],
    ['tau2/results/b4e983fc__qwen2.5_7b_airline_default_gpt-4.1-2025-04-14_1trials.json', 9, 41, 0],
    ['tau2/results/e93263f9__gpt-4.1_telecom_no-user_gpt-4.1_1trials.json', 20, 20, 0],
  ])('%s', async (name, passed, failed, excluded) => {
    const path = join(data, name);
    const all = await collect(importTrajectories(path));
    const count = (outcome: string) => all.filter((t) => t.outcome === outcome).length;
    expect([count('passed'), count('failed'), count('excluded')]).toEqual([passed, failed, excluded]);
    for (const t of all) parseTrajectory(JSON.parse(JSON.stringify(t)));
    // Every record of the file is there, with as many messages as it has.
    const raw = JSON.parse(readFileSync(path, 'utf8'));
    const records = Array.isArray(raw) ? raw : (raw.simulations ?? [raw]);
    expect(all.map((t) => t.messages.length)).toEqual(
      records.map((r: { traj?: unknown[]; messages?: unknown[] }) => (r.traj ?? r.messages ?? []).length),
    );
    if (passed + failed > 0) expect(all.every((t) => t.reference)).toBe(true);
  });
});
