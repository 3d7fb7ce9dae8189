import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fileOf, folderOf, readAll, readOne, testData } from '../../../test/support/importer-files.js';
import { surviveHostileInput } from './hostile.js';
import { readSample } from './sample.js';
import { sweAgentImporter } from './swe-agent.js';

const history = [
  { role: 'system', content: 'You are a programmer.', agent: 'main', message_type: 'system_prompt' },
  { role: 'user', content: 'Here is a demonstration.', agent: 'main', is_demo: true },
  { role: 'user', content: [{ type: 'text', text: 'Fix the issue.' }], agent: 'main' },
  { role: 'assistant', content: 'Look.\n```\nls\n```', thought: 'Look.\n\n', action: 'ls\n', agent: 'main' },
  { role: 'user', content: 'a.py', agent: 'main' },
  { role: 'assistant', content: 'other', thought: 'other', action: 'x', agent: 'reviewer' },
  {
    role: 'assistant',
    content: 'Edit.',
    thought: 'Edit.',
    action: 'str_replace_editor view a.py',
    agent: 'main',
    tool_calls: [
      {
        id: 'n1',
        type: 'function',
        function: { name: 'str_replace_editor', arguments: '{"command":"view"}' },
      },
    ],
    thinking_blocks: [{ type: 'thinking', thinking: 'hm' }],
  },
  { role: 'tool', content: [{ type: 'text', text: 'Error: no file' }], tool_call_ids: ['n1'], agent: 'main' },
];
const run = (extra = {}) => ({
  environment: 'swe_main',
  trajectory: [],
  history,
  info: { exit_status: 'submitted', submission: 'diff --git a/a b/a', model_stats: { instance_cost: 0.5 } },
  ...extra,
});

test('the history: actions become calls of bash, calls of the model stay, demonstrations go', async () => {
  const path = fileOf('owner__repo-7.traj', run());
  expect(sweAgentImporter.matches(await readSample(path))).toBe(true);
  const t = await readOne(sweAgentImporter, path);
  expect(t).toMatchObject({
    taskId: 'owner__repo-7',
    termination: 'submitted',
    outcome: 'excluded',
    metadata: { cost: 0.5, demonstrationsLeftOut: 1, otherAgentsLeftOut: 1, patch: 'diff --git a/a b/a' },
  });
  expect(t.messages).toEqual([
    { role: 'system', content: 'You are a programmer.' },
    { role: 'user', content: 'Fix the issue.' },
    {
      role: 'assistant',
      content: 'Look.',
      tool_calls: [
        { id: 'call_3', type: 'function', function: { name: 'bash', arguments: { command: 'ls' } } },
      ],
    },
    { role: 'tool', content: 'a.py', tool_call_id: 'call_3' },
    {
      role: 'assistant',
      content: 'Edit.',
      reasoning: 'hm',
      tool_calls: [
        {
          id: 'n1',
          type: 'function',
          function: { name: 'str_replace_editor', arguments: { command: 'view' } },
        },
      ],
    },
    { role: 'tool', content: 'Error: no file', tool_call_id: 'n1', error: true },
  ]);
});

test('without a history: what the first step was shown, then the steps', async () => {
  const shown = [{ role: 'user', content: 'Fix the issue.' }];
  const steps = [
    { action: 'ls', observation: 'a.py', response: 'Look.\n```\nls\n```', thought: 'Look.', query: shown },
    { action: '', observation: '', response: 'Done.', thought: 'Done.', query: [...shown, ...shown] },
  ];
  const path = fileOf('a.traj', {
    trajectory: steps,
    info: { exit_status: 'exit_cost' },
    replay_config: '{}',
  });
  expect(sweAgentImporter.matches(await readSample(path))).toBe(true);
  const t = await readOne(sweAgentImporter, path);
  expect(t.messages.map((m) => [m.role, m.content])).toEqual([
    ['user', 'Fix the issue.'],
    ['assistant', 'Look.'],
    ['tool', 'a.py'],
    ['assistant', 'Done.'],
  ]);
  expect(t.termination).toBe('exit_cost');
});

test('verdicts by report beside the file, by run report, and none for the infrastructure', async () => {
  const api = run({ info: { exit_status: 'submitted (exit_api)', submission: 'd' } });
  const folder = folderOf({
    'a/a.traj': run(),
    'a/report.json': { a: { resolved: true, patch_exists: true, patch_successfully_applied: true } },
    'b/b.traj': run(),
    'c/c.traj': api,
    'd/d.traj': run({ info: { exit_status: 'exit_context', submission: null } }),
    'model.run.json': { resolved_ids: ['a'], unresolved_ids: ['b', 'c'], empty_patch_ids: ['d'] },
  });
  const all = await readAll(sweAgentImporter, folder);
  expect(all.map((t) => [t.taskId, t.outcome])).toEqual([
    ['a', 'passed'],
    ['b', 'failed'],
    ['c', 'excluded'],
    ['d', 'failed'],
  ]);
  expect(all[3]!.checks).toEqual([{ name: 'patch_exists', passed: false, detail: 'the patch is empty' }]);
  // A report that is named counts alone.
  const given = fileOf('v.csv', 'id,resolved\nb,true\n');
  const named = await readAll(sweAgentImporter, folder, { verdicts: given });
  expect(named.map((t) => t.outcome)).toEqual(['excluded', 'passed', 'excluded', 'excluded']);
});

test('no input crashes it', async () => {
  const steps = [{ action: 'ls', observation: 'a', response: 'r', thought: 't', query: history.slice(0, 3) }];
  await surviveHostileInput(sweAgentImporter, {
    real: [run(), { trajectory: steps, info: {} }],
    file: 'x.traj',
    runs: 15,
  });
});

const real = testData('trajectories/swe-agent/pydicom__pydicom-1458.traj');
test.skipIf(!real)('the real file (skipped where the optional test data is absent)', async () => {
  expect(sweAgentImporter.matches(await readSample(real!))).toBe(true);
  const t = await readOne(sweAgentImporter, real!);
  const raw: {
    history: { role: string; is_demo?: boolean; action?: string }[];
    trajectory: { action: string; observation: string }[];
    info: { submission: string };
  } = JSON.parse(readFileSync(real!, 'utf8'));
  expect(t.messages).toHaveLength(raw.history.filter((m) => !m.is_demo).length);
  // The steps hold the actions a second time, apart from the history that was read.
  const calls = t.messages.flatMap((m) => (m.role === 'assistant' ? (m.tool_calls ?? []) : []));
  expect(calls.map((call) => `${call.function.arguments.command}\n`)).toEqual(
    raw.trajectory.map((step) => step.action),
  );
  const observed = t.messages.filter((m) => m.role === 'tool').map((m) => m.content);
  for (const [i, content] of observed.entries())
    expect(content.startsWith(raw.trajectory[i]!.observation.trimEnd().slice(0, 60))).toBe(true);
  expect(observed).toHaveLength(raw.trajectory.length - 1);
  expect(t.metadata.patch).toBe(raw.info.submission);
});
