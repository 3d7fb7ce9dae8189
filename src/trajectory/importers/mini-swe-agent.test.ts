import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  fileOf,
  folderOf,
  readAll,
  readOne,
  readPast,
  testData,
} from '../../../test/support/importer-files.js';
import { surviveHostileInput } from './hostile.js';
import { miniSweAgentImporter } from './mini-swe-agent.js';
import { readSample } from './sample.js';

const system = { role: 'system', content: 'One ```bash``` block a reply.' };
const task = { role: 'user', content: 'Fix it.' };
const reply = (command: string, extra = {}) => ({
  role: 'assistant',
  content: `THOUGHT: look.\n\n\`\`\`mswea_bash_command\n${command}\n\`\`\``,
  ...extra,
});
const output = (code: number, text: string) => ({
  role: 'user',
  content: `<returncode>${code}</returncode>\n<output>\n${text}\n</output>`,
});
const list = [system, task, reply('ls'), output(0, 'a.py'), reply('cat b.py'), output(1, 'no such file')];
const run = (instance_id: string, info = {}, messages: unknown[] = list) => ({
  info: { exit_status: 'Submitted', submission: 'diff --git a/a b/a\n', ...info },
  messages,
  trajectory_format: 'mini-swe-agent-1.1',
  instance_id,
});

test('a bare list: the one command of a reply is a call where its output follows', async () => {
  const path = fileOf('owner__repo-1.traj.json', [
    ...list,
    reply('rm x'),
    { role: 'user', content: 'Please answer with exactly one command.' },
    { role: 'assistant', content: 'Two:\n```bash\na\n```\n```bash\nb\n```' },
  ]);
  expect(miniSweAgentImporter.matches(await readSample(path))).toBe(true);
  const t = await readOne(miniSweAgentImporter, path);
  expect(t).toMatchObject({
    id: 'owner__repo-1-0',
    taskId: 'owner__repo-1',
    outcome: 'excluded',
    reward: null,
  });
  expect(t.metadata.excluded).toContain('--verdicts');
  expect(t.messages.slice(2)).toEqual([
    {
      role: 'assistant',
      content: 'THOUGHT: look.',
      tool_calls: [
        { id: 'call_2_0', type: 'function', function: { name: 'bash', arguments: { command: 'ls' } } },
      ],
    },
    { role: 'tool', content: output(0, 'a.py').content, tool_call_id: 'call_2_0' },
    expect.objectContaining({ role: 'assistant' }),
    { role: 'tool', content: output(1, 'no such file').content, tool_call_id: 'call_4_0', error: true },
    // Nothing tells that this one was run: the text stays whole.
    { role: 'assistant', content: reply('rm x').content },
    { role: 'user', content: 'Please answer with exactly one command.' },
    { role: 'assistant', content: 'Two:\n```bash\na\n```\n```bash\nb\n```' },
  ]);
  expect(t.tools.map((tool) => tool.function.name)).toEqual(['bash']);
});

test('the object form: commands apart, calls of the model, the end', async () => {
  const path = fileOf(
    'x.traj.json',
    run('owner__repo-2', { exit_status: undefined, submission: undefined }, [
      task,
      reply('make', { extra: { actions: [{ command: 'make' }] } }),
      { role: 'user', content: 'ok', extra: { returncode: 2 } },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'n1', type: 'function', function: { name: 'bash', arguments: '{"command":"pwd"}' } },
        ],
        extra: { actions: [{ command: 'pwd', tool_call_id: 'n1' }] },
      },
      { role: 'tool', tool_call_id: 'n1', content: '/', extra: { returncode: 0 } },
      {
        object: 'response',
        output: [
          { type: 'message', content: [{ type: 'output_text', text: 'now' }] },
          { type: 'function_call', call_id: 'r1', name: 'bash', arguments: '{"command":"id"}' },
        ],
      },
      { type: 'function_call_output', call_id: 'r1', output: 'root', extra: { returncode: 0 } },
      { role: 'exit', content: 'diff', extra: { exit_status: 'LimitsExceeded', submission: '' } },
    ]),
  );
  expect(miniSweAgentImporter.matches(await readSample(path))).toBe(true);
  const t = await readOne(miniSweAgentImporter, path);
  expect(t).toMatchObject({ taskId: 'owner__repo-2', termination: 'LimitsExceeded', outcome: 'excluded' });
  expect(t.checks).toEqual([{ name: 'patch_exists', passed: false, detail: 'the patch is empty' }]);
  expect(
    t.messages.map((m) => [
      m.role,
      m.role === 'assistant'
        ? m.tool_calls?.[0]?.function.arguments
        : m.role === 'tool'
          ? (m.error ?? false)
          : null,
    ]),
  ).toEqual([
    ['user', null],
    ['assistant', { command: 'make' }],
    ['tool', true],
    ['assistant', { command: 'pwd' }],
    ['tool', false],
    ['assistant', { command: 'id' }],
    ['tool', false],
  ]);
});

const report = (entry: object) => ({
  patch_is_None: false,
  patch_exists: true,
  patch_successfully_applied: true,
  ...entry,
});
const tests = (f2p: string[], p2p: string[]) => ({
  FAIL_TO_PASS: { success: ['t1'], failure: f2p },
  PASS_TO_PASS: { success: ['t2', 't3'], failure: p2p },
});

test('a folder with report.json files and a run report: verdicts and causes', async () => {
  const ids = [
    'solved',
    'f2p',
    'p2p',
    'unapplied',
    'empty',
    'infra',
    'listed',
    'ambiguous',
    'broken',
    'nowhere',
  ];
  const infos: Record<string, object> = { broken: { exit_status: 'RateLimitError', submission: '' } };
  const files = Object.fromEntries(ids.map((id) => [`runs/${id}/${id}.traj.json`, run(id, infos[id])]));
  const at = (id: string) => `logs/run_evaluation/r/m/${id}/report.json`;
  const folder = folderOf({
    ...files,
    'preds.json': { solved: { model_patch: 'x', resolved: false } },
    [at('solved')]: { solved: report({ resolved: true, tests_status: tests([], []) }) },
    [at('f2p')]: { f2p: report({ resolved: false, tests_status: tests(['t9', 't8'], []) }) },
    [at('p2p')]: { p2p: report({ resolved: false, tests_status: tests([], ['t4']) }) },
    [at('unapplied')]: { unapplied: report({ resolved: false, patch_successfully_applied: false }) },
    [at('infra')]: {
      infra: report({ resolved: false, infra_failure: true, infra_failure_reason: 'no disk' }),
    },
    'm.r.json': {
      resolved_ids: ['solved'],
      unresolved_ids: ['f2p', 'p2p', 'unapplied', 'ambiguous', 'listed', 'broken'],
      empty_patch_ids: ['empty'],
      error_ids: [],
      ambiguous_failure_ids: ['ambiguous'],
      failure_reasons: { ambiguous: 'no_tests_collected' },
      schema_version: 2,
    },
  });
  expect(miniSweAgentImporter.matches(await readSample(folder))).toBe(true);
  const mixed = folderOf({ 'a.traj.json': run('a'), 'other.json': [] });
  expect(miniSweAgentImporter.matches(await readSample(mixed))).toBe(false);
  const all = new Map((await readAll(miniSweAgentImporter, folder)).map((t) => [t.taskId, t]));
  expect([...all].map(([id, t]) => [id, t.outcome, t.reward])).toEqual([
    ['ambiguous', 'excluded', null],
    ['broken', 'excluded', null],
    ['empty', 'failed', 0],
    ['f2p', 'failed', 0],
    ['infra', 'excluded', null],
    ['listed', 'failed', 0],
    ['nowhere', 'excluded', null],
    ['p2p', 'failed', 0],
    ['solved', 'passed', 1],
    ['unapplied', 'failed', 0],
  ]);
  const failedChecks = (id: string) => (all.get(id)!.checks ?? []).filter((check) => !check.passed);
  expect(failedChecks('solved')).toEqual([]);
  expect(failedChecks('f2p')).toEqual([
    { name: 'fail_to_pass', passed: false, detail: '2 of 3 tests still fail: t9, t8' },
  ]);
  expect(failedChecks('p2p')).toEqual([
    { name: 'pass_to_pass', passed: false, detail: '1 of 3 tests are broken: t4' },
  ]);
  expect(failedChecks('unapplied').map((check) => check.name)).toEqual(['patch_applied']);
  expect(failedChecks('empty').map((check) => check.name)).toEqual(['patch_exists']);
  expect(all.get('infra')!.metadata.excluded).toBe('infrastructure: no disk');
  expect(all.get('ambiguous')!.metadata.excluded).toBe('ambiguous evaluation: no_tests_collected');
  expect(all.get('broken')!.metadata.excluded).toBe('infrastructure: RateLimitError');
});

test('a file that is cut off is named, and costs nothing else', async () => {
  const cut = JSON.stringify(run('b')).slice(0, -30);
  const folder = folderOf({ 'a.traj.json': run('a'), 'b.traj.json': cut, 'c.traj.json': run('c') });
  const { read, refused } = await readPast(miniSweAgentImporter, folder);
  expect(read.map((t) => t.taskId)).toEqual(['a', 'c']);
  expect(refused).toEqual([expect.stringMatching(/b\.traj\.json: record 1: .*cut off/)]);
  await expect(readAll(miniSweAgentImporter, join(folder, 'b.traj.json'))).rejects.toThrow(/cut off/);
});

test('no input crashes it', async () => {
  const turns = [
    task,
    reply('ls', { extra: { actions: [{ command: 'ls' }] } }),
    { ...output(1, ''), extra: { returncode: 1 } },
  ];
  await surviveHostileInput(miniSweAgentImporter, { real: [run('a', {}, turns)], runs: 15 });
  await surviveHostileInput(miniSweAgentImporter, { real: list, runs: 15 });
});

const real = testData('trajectories/mini-swe-agent/github_issue.traj.json');
test.skipIf(!real)('the real file (skipped where the optional test data is absent)', async () => {
  expect(miniSweAgentImporter.matches(await readSample(real!))).toBe(true);
  const t = await readOne(miniSweAgentImporter, real!);
  const raw: { role: string; content: string }[] = JSON.parse(readFileSync(real!, 'utf8'));
  expect(t.messages).toHaveLength(raw.length);
  // Every reply has its one command, cut out by hand here.
  const commands = raw
    .filter((m) => m.role === 'assistant')
    .map((m) => m.content.split('```mswea_bash_command\n')[1]!.split('\n```')[0]);
  const called = t.messages.flatMap((m) => (m.role === 'assistant' ? (m.tool_calls ?? []) : []));
  expect(called.map((call) => call.function.arguments.command)).toEqual(commands);
  const codes = raw.filter((m) => m.content.startsWith('<returncode>1<')).length;
  expect(t.messages.filter((m) => m.role === 'tool' && m.error)).toHaveLength(codes);
  expect(t.outcome).toBe('excluded');
});
