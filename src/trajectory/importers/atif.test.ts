import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  fileOf,
  folderOf,
  readAll,
  readOne,
  readPast,
  testData,
} from '../../../test/support/importer-files.js';
import { atifImporter } from './atif.js';
import { surviveHostileInput } from './hostile.js';
import { readSample } from './sample.js';

const call = (id: string, keys: string) => ({
  tool_call_id: id,
  function_name: 'bash_command',
  arguments: { keystrokes: keys },
});
const step = (source: string, message: unknown, extra: object = {}) => ({
  step_id: 1,
  source,
  message,
  ...extra,
});
const results = (...contents: unknown[]) => ({
  observation: { results: contents.map((content) => ({ content })) },
});
const steps = [
  step('user', 'Make hello.txt.'),
  step('agent', 'I list.', { tool_calls: [call('a', 'ls\n')], ...results('x') }),
  step('agent', [{ type: 'text', text: 'Two.' }], {
    reasoning_content: 'hm',
    tool_calls: [call('b', 'cd\n'), call('c', 'ls\n')],
    ...results('the screen'),
  }),
  step('agent', 'Named.', {
    tool_calls: [call('d', '1'), call('e', '2')],
    observation: {
      results: [
        { source_call_id: 'e', content: 'Error: 2' },
        { source_call_id: 'd', content: 'one' },
      ],
    },
  }),
  step(
    'agent',
    'no json',
    results('Previous response had parsing errors:\nERROR: Missing commands\nPlease fix'),
  ),
  step('system', 'Summed up.', {
    observation: {
      results: [{ subagent_trajectory_ref: [{ session_id: 's', trajectory_path: 'trajectory.sub.json' }] }],
    },
  }),
];
const trajectory = (extra: object = {}) => ({
  schema_version: 'ATIF-v1.7',
  session_id: 'session',
  agent: {
    name: 'terminus-2',
    version: '2',
    model_name: 'm',
    tool_definitions: [
      { type: 'function', function: { name: 'bash_command', parameters: { type: 'object' } } },
    ],
  },
  steps,
  final_metrics: { total_cost_usd: 0.25 },
  ...extra,
});

test('steps become messages, observations answer their calls', async () => {
  const path = fileOf('hello.trajectory.json', trajectory());
  expect(atifImporter.matches(await readSample(path))).toBe(true);
  const t = await readOne(atifImporter, path);
  const tool = (id: string, keys: string) => ({
    id,
    type: 'function',
    function: { name: 'bash_command', arguments: { keystrokes: keys } },
  });
  expect(t.messages).toEqual([
    { role: 'user', content: 'Make hello.txt.' },
    { role: 'assistant', content: 'I list.', tool_calls: [tool('a', 'ls\n')] },
    { role: 'tool', content: 'x', tool_call_id: 'a' },
    {
      role: 'assistant',
      content: 'Two.',
      reasoning: 'hm',
      tool_calls: [tool('b', 'cd\n'), tool('c', 'ls\n')],
    },
    { role: 'tool', content: 'the screen', tool_call_id: 'c' },
    { role: 'assistant', content: 'Named.', tool_calls: [tool('d', '1'), tool('e', '2')] },
    { role: 'tool', content: 'Error: 2', tool_call_id: 'e', error: true },
    { role: 'tool', content: 'one', tool_call_id: 'd' },
    { role: 'assistant', content: 'no json', malformed: 'ERROR: Missing commands' },
    { role: 'user', content: 'Previous response had parsing errors:\nERROR: Missing commands\nPlease fix' },
    { role: 'system', content: 'Summed up.' },
  ]);
  expect(t).toMatchObject({ id: 'hello-0', taskId: 'hello', outcome: 'excluded', reward: null });
  expect(t.metadata).toMatchObject({
    agent: 'terminus-2',
    model: 'm',
    cost: 0.25,
    subagentsLeftOut: ['trajectory.sub.json'],
  });
  expect(t.tools.map((offered) => offered.function.name)).toEqual(['bash_command']);
});

test('a job’s folder: verifier’s results of each trial, exceptions before them excluded', async () => {
  const at = (trial: string) => `job/${trial}/agent/trajectory.json`;
  const result = (task_name: string, trial_name: string, extra: object) => ({
    task_name,
    trial_name,
    ...extra,
  });
  const folder = folderOf({
    'job/result.json': { n_total_trials: 6 },
    [at('t__a')]: trajectory(),
    'job/t__a/result.json': result('t', 't__a', {
      verifier_result: { rewards: { reward: 1 } },
      exception_info: null,
    }),
    [at('t__b')]: trajectory(),
    'job/t__b/result.json': result('t', 't__b', {
      verifier_result: { rewards: { reward: 0, style: 0.5 } },
      exception_info: { exception_type: 'AgentTimeoutError', exception_message: 'after 600 s' },
    }),
    [at('t__c')]: trajectory(),
    'job/t__c/result.json': result('t', 't__c', {
      verifier_result: null,
      exception_info: { exception_type: 'DockerError' },
    }),
    [at('u__a')]: trajectory(),
    'job/u__a/verifier/reward.txt': '1\n',
    'job/u__a/verifier/ctrf.json': {
      results: {
        tests: [
          { name: 'test_file', status: 'passed' },
          { name: 'test_text', status: 'failed', message: 'no' },
        ],
      },
    },
    'job/u__a/agent/mini-swe-agent.trajectory.json': { messages: [] },
    [at('u__b')]: trajectory(),
    'job/u__b/verifier/reward.json': { accuracy: 0.5 },
    [at('u__c')]: trajectory(),
    'job/u__c/verifier/reward.json': { a: 1, b: 0 },
  });
  expect(atifImporter.matches(await readSample(folder))).toBe(true);
  const mixed = folderOf({ 'a.trajectory.json': trajectory(), 'other.json': [] });
  expect(atifImporter.matches(await readSample(mixed))).toBe(false);
  const all = await readAll(atifImporter, folder);
  expect(all.map((t) => [t.id, t.taskId, t.trial, t.outcome, t.reward, t.termination])).toEqual([
    ['t__a', 't', 0, 'passed', 1, null],
    ['t__b', 't', 1, 'failed', 0, 'AgentTimeoutError'],
    ['t__c', 't', 2, 'excluded', null, 'DockerError'],
    ['u__a-0', 'u__a', 0, 'passed', 1, null],
    ['u__b-0', 'u__b', 0, 'failed', 0.5, null],
    ['u__c-0', 'u__c', 0, 'excluded', null, null],
  ]);
  expect(all[1]!.checks).toEqual([
    { name: 'reward', passed: false, detail: '0' },
    { name: 'style', passed: false, detail: '0.5' },
  ]);
  expect(all[3]!.checks).toEqual([
    { name: 'test_file', passed: true },
    { name: 'test_text', passed: false, detail: 'no' },
  ]);
  expect(all[2]!.metadata.excluded).toBe('infrastructure: DockerError before it was verified');
  // One trial alone, and its trajectory alone, find the same verdict.
  for (const path of ['job/t__a', at('t__a')])
    expect((await readOne(atifImporter, join(folder, path))).outcome).toBe('passed');
  const lenient = await readAll(atifImporter, folder, { passAt: 0.5 });
  expect(lenient.map((t) => t.outcome)).toEqual([
    'passed',
    'failed',
    'excluded',
    'passed',
    'passed',
    'excluded',
  ]);
});

test('continuations are joined without the steps that they repeat', async () => {
  const more = [
    step('user', 'Make hello.txt.', { is_copied_context: true }),
    step('agent', 'Done.', { tool_calls: [call('f', 'exit\n')], ...results('bye') }),
  ];
  const folder = folderOf({
    'agent/trajectory.json': trajectory({
      steps: steps.slice(0, 2),
      continued_trajectory_ref: 'trajectory.cont-1.json',
    }),
    'agent/trajectory.cont-1.json': trajectory({
      steps: more,
      continued_trajectory_ref: 'trajectory.cont-2.json',
    }),
    'agent/trajectory.cont-2.json': trajectory({ steps: [step('agent', 'Really.')] }),
    'verifier/reward.txt': '0.0',
  });
  const t = await readOne(atifImporter, folder);
  expect(t.messages.map((m) => m.content)).toEqual([
    'Make hello.txt.',
    'I list.',
    'x',
    'Done.',
    'bye',
    'Really.',
  ]);
  expect(t).toMatchObject({ outcome: 'failed', metadata: { partsJoined: 3 } });
});

test.each([
  ['gone.json', /its continuation gone\.json is missing/],
  ['../trajectory.json', /does not name a file beside/],
  ['/etc/passwd', /does not name a file beside/],
  ['..', /does not name a file beside/],
  ['trajectory.json', /lead back to trajectory\.json/],
])('a continuation in %s is refused', async (reference, message) => {
  const path = fileOf('trajectory.json', trajectory({ continued_trajectory_ref: reference }));
  await expect(readAll(atifImporter, path)).rejects.toThrow(message);
});

test('lines and lists of trajectories; verdicts left in the file', async () => {
  const records = [
    trajectory({ trajectory_id: 'a', extra: { success: true } }),
    trajectory({ trajectory_id: 'b', final_metrics: { extra: { verdict: 'fail' } } }),
    trajectory({ schema_version: 'ATIF-v2.0' }),
    trajectory({ trajectory_id: 'd', steps: [step('robot', 'x')] }),
  ];
  const lines = fileOf('all.jsonl', records.map((record) => JSON.stringify(record)).join('\n'));
  for (const path of [lines, fileOf('all.json', records)]) {
    expect(atifImporter.matches(await readSample(path))).toBe(true);
    const { read, refused } = await readPast(atifImporter, path);
    expect(read.map((t) => [t.id, t.outcome])).toEqual([
      ['a-0', 'passed'],
      ['b-0', 'failed'],
    ]);
    expect(refused).toEqual([
      expect.stringMatching(/record 3: field schema_version must be ATIF-v1\.x, but is "ATIF-v2\.0"/),
      expect.stringMatching(/record 4: field steps\[0\]\.source must be system, user or agent/),
    ]);
  }
});

test('damaged files of a trial are named', async () => {
  const folder = folderOf({ 'agent/trajectory.json': trajectory(), 'verifier/reward.txt': 'all good' });
  await expect(readAll(atifImporter, folder)).rejects.toThrow(/reward\.txt holds no number: "all good"/);
  const broken = folderOf({ 'agent/trajectory.json': trajectory(), 'result.json': '{"verifier_result":' });
  await expect(readAll(atifImporter, broken)).rejects.toThrow(/result\.json is not JSON/);
});

test('no input crashes it', async () => {
  await surviveHostileInput(atifImporter, {
    real: [trajectory(), trajectory({ extra: { success: true } })],
    runs: 15,
  });
});

test('whatever a trial’s files hold, the trajectory is read or refused by name', async () => {
  const folder = folderOf({
    'agent/trajectory.json': trajectory(),
    'verifier/reward.json': '',
    'verifier/ctrf.json': '',
  });
  const json = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constant(JSON.parse('{"toString":null,"__proto__":1}')),
  );
  const some = (keys: readonly string[], value: fc.Arbitrary<unknown>) =>
    fc.record(Object.fromEntries(keys.map((key) => [key, value])), { requiredKeys: [] });
  const rewards = fc.oneof(json, some(['reward', 'style'], fc.oneof(json, fc.double())));
  const parts = {
    verifier_result: fc.oneof(json, some(['rewards'], rewards)),
    exception_info: json,
    task_name: json,
  };
  const result = fc.oneof(json, fc.record(parts, { requiredKeys: [] }));
  const test = fc.oneof(json, some(['name', 'status', 'message'], fc.oneof(json, fc.constant('passed'))));
  const report = fc.oneof(
    json,
    fc.array(test).map((tests) => ({ results: { tests } })),
  );
  const check = fc.asyncProperty(result, rewards, report, async (...values) => {
    for (const [i, name] of ['result.json', 'verifier/reward.json', 'verifier/ctrf.json'].entries())
      writeFileSync(join(folder, name), JSON.stringify(values[i]));
    const { read, refused } = await readPast(atifImporter, folder);
    expect(read.length + refused.length).toBe(1);
  });
  await fc.assert(check, { numRuns: 100 });
});

const real = testData('trajectories/atif');
test.skipIf(!real)('the real files (skipped where the optional test data is absent)', async () => {
  for (const [name, malformed] of [
    ['hello-world-context-summarization', 0],
    ['hello-world-invalid-json', 1],
    ['hello-world-timeout', 0],
  ] as const) {
    const path = join(real!, `${name}.trajectory.json`);
    expect(atifImporter.matches(await readSample(path))).toBe(true);
    const t = await readOne(atifImporter, path);
    const raw: {
      steps: {
        source: string;
        message: string;
        tool_calls?: { tool_call_id: string }[];
        observation?: { results: { content?: string }[] };
      }[];
    } = JSON.parse(readFileSync(path, 'utf8'));
    const said = raw.steps.flatMap((s) => [
      s.message,
      ...(s.observation?.results ?? []).flatMap((r) => r.content ?? []),
    ]);
    expect(t.messages.map((m) => m.content)).toEqual(said);
    const made = raw.steps.flatMap((s) => (s.tool_calls ?? []).map((c) => c.tool_call_id));
    expect(t.messages.flatMap((m) => (m.role === 'tool' ? [m.tool_call_id] : []))).toEqual(made);
    expect(t.messages.filter((m) => m.role === 'assistant' && m.malformed)).toHaveLength(malformed);
    expect(t).toMatchObject({ taskId: name, outcome: 'excluded' });
  }
  expect(await readAll(atifImporter, real!)).toHaveLength(3);
});
