import { readFileSync } from 'node:fs';
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
import { openHandsImporter } from './openhands.js';
import { readSample } from './sample.js';

const response = (id: string, ...calls: [id: string, args: string][]) => ({
  id,
  model: 'some-model',
  choices: [
    {
      message: {
        role: 'assistant',
        content: 'I look.',
        tool_calls: calls.map(([call, args]) => ({
          id: call,
          function: { name: 'execute_bash', arguments: args },
        })),
      },
    },
  ],
});
const both = response('r1', ['c1', '{"command":"ls"}'], ['c2', '{"command":"false"}']);
const call = (id: string, model_response: unknown) => ({
  function_name: 'execute_bash',
  tool_call_id: id,
  model_response,
});
const history = [
  {
    id: 0,
    source: 'agent',
    action: 'system',
    args: {
      content: 'Policy.',
      tools: [{ type: 'function', function: { name: 'execute_bash', parameters: {} } }],
    },
  },
  { id: 1, source: 'user', action: 'message', args: { content: 'Fix it.' } },
  { id: 2, source: 'user', action: 'recall', args: { query: 'Fix it.' } },
  { id: 3, source: 'environment', observation: 'recall', content: 'Added recall', cause: 2 },
  {
    id: 4,
    source: 'agent',
    action: 'run',
    args: { command: 'ls', thought: '' },
    tool_call_metadata: call('c1', both),
  },
  {
    id: 5,
    source: 'agent',
    observation: 'run',
    cause: 4,
    content: 'a.py',
    extras: { metadata: { exit_code: 0 } },
    tool_call_metadata: call('c1', both),
  },
  { id: 6, source: 'agent', action: 'run', args: { command: 'false' }, tool_call_metadata: call('c2', both) },
  {
    id: 7,
    source: 'agent',
    observation: 'run',
    cause: 6,
    content: '',
    extras: { metadata: { exit_code: 1 } },
  },
  { id: 8, source: 'agent', observation: 'error', content: 'No function named x.' },
  {
    id: 9,
    source: 'agent',
    action: 'edit',
    args: { path: 'a.py', content: 'x', thought: 'I edit.', start: 1, impl_source: 'default' },
  },
  { id: 10, source: 'agent', observation: 'edit', cause: 9, content: 'ERROR: no such line' },
  { id: 11, source: 'agent', action: 'finish', args: { final_thought: 'Done.', thought: 'Done.' } },
  { id: 12, source: 'environment', observation: 'agent_state_changed', extras: { agent_state: 'finished' } },
];
const output = (instance_id: string, extra: object = {}) => ({
  instance_id,
  test_result: { git_patch: 'diff --git a/a b/a' },
  instruction: 'Fix it.',
  metadata: { agent_class: 'CodeActAgent', llm_config: { model: 'configured' } },
  history,
  metrics: {},
  error: null,
  ...extra,
});

test('events become the conversation: parallel calls in one turn, errors marked, bookkeeping left out', async () => {
  const path = fileOf('output.jsonl', `${JSON.stringify(output('a__b-1'))}\n`);
  expect(openHandsImporter.matches(await readSample(path))).toBe(true);
  const t = await readOne(openHandsImporter, path);
  const run = (id: string, command: string) => ({
    id,
    type: 'function',
    function: { name: 'execute_bash', arguments: { command } },
  });
  expect(t.messages).toEqual([
    { role: 'system', content: 'Policy.' },
    { role: 'user', content: 'Fix it.' },
    { role: 'assistant', content: 'I look.', tool_calls: [run('c1', 'ls'), run('c2', 'false')] },
    { role: 'tool', content: 'a.py', tool_call_id: 'c1' },
    { role: 'tool', content: '', tool_call_id: 'c2', error: true },
    { role: 'user', content: 'No function named x.' },
    {
      role: 'assistant',
      content: 'I edit.',
      tool_calls: [
        {
          id: 'call_9',
          type: 'function',
          function: { name: 'edit', arguments: { path: 'a.py', content: 'x', start: 1 } },
        },
      ],
    },
    { role: 'tool', content: 'ERROR: no such line', tool_call_id: 'call_9', error: true },
    {
      role: 'assistant',
      content: 'Done.',
      tool_calls: [
        {
          id: 'call_11',
          type: 'function',
          function: { name: 'finish', arguments: { final_thought: 'Done.' } },
        },
      ],
    },
  ]);
  expect(t.tools.map((tool) => tool.function.name)).toEqual(['execute_bash']);
  expect(t.metadata).toMatchObject({
    model: 'configured',
    agent: 'CodeActAgent',
    eventsLeftOut: { recall: 2, agent_state_changed: 1 },
  });
});

test('verdicts: test_result.report, a report before it, none for the infrastructure; trials are counted', async () => {
  const report = (extra: object) => ({
    test_result: { git_patch: 'd', report: { resolved: false, ...extra } },
  });
  const lines = [
    output('solved', report({ resolved: true })),
    output('solved', report({})),
    output('unapplied', report({ failed_apply_patch: true })),
    output('empty', { test_result: { git_patch: '', report: { resolved: false, empty_generation: true } } }),
    output('sandbox', { ...report({}), error: 'AgentRuntimeDisconnectedError: gone' }),
    output('stuck', { ...report({}), error: 'AgentStuckInLoopError: Agent got stuck in a loop' }),
    output('unknown'),
    output('dead', { history: [], error: 'Maximum retries' }),
    output('pairs', { ...report({}), history: [[history[4], history[5]], [history[11]]] }),
  ];
  const folder = folderOf({
    'run/output.jsonl': lines.map((line) => JSON.stringify(line)).join('\n'),
    'run/reports/stuck/report.json': {
      stuck: { resolved: true, patch_exists: true, patch_successfully_applied: true },
    },
  });
  const all = await readAll(openHandsImporter, folder);
  expect(all.map((t) => [t.id, t.outcome, t.checks?.[0]?.name])).toEqual([
    ['solved-0', 'passed', undefined],
    ['solved-1', 'failed', undefined],
    ['unapplied-0', 'failed', 'patch_applied'],
    ['empty-0', 'failed', 'patch_exists'],
    ['sandbox-0', 'excluded', undefined],
    ['stuck-0', 'passed', 'patch_exists'],
    ['unknown-0', 'excluded', undefined],
    ['dead-0', 'excluded', undefined],
    ['pairs-0', 'failed', undefined],
  ]);
  expect(all[8]!.messages.map((m) => m.role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
});

test('a damaged line is named by its number', async () => {
  const path = fileOf(
    'output.jsonl',
    `${JSON.stringify(output('a'))}\n{"instance_id": 5\n${JSON.stringify({ history })}`,
  );
  const { read, refused } = await readPast(openHandsImporter, path);
  expect(read.map((t) => t.taskId)).toEqual(['a']);
  expect(refused).toEqual([
    expect.stringMatching(/record 2: not JSON/),
    expect.stringMatching(/record 3: field instance_id/),
  ]);
});

test('no input crashes it', async () => {
  await surviveHostileInput(openHandsImporter, { real: history, runs: 15 });
  await surviveHostileInput(openHandsImporter, {
    real: [output('a'), output('b')],
    file: 'output.jsonl',
    runs: 15,
  });
});

const real = testData('trajectories/openhands/basic.json');
test.skipIf(!real)('the real file (skipped where the optional test data is absent)', async () => {
  expect(openHandsImporter.matches(await readSample(real!))).toBe(true);
  const t = await readOne(openHandsImporter, real!);
  const raw: { action?: string; args: { thought: string }; tool_call_metadata: { tool_call_id: string } }[] =
    JSON.parse(readFileSync(real!, 'utf8'));
  expect(t.messages.map((m) => m.role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  const [, edit, , finish] = raw;
  expect(t.messages[1]).toMatchObject({
    content: edit!.args.thought,
    tool_calls: [
      {
        id: edit!.tool_call_metadata.tool_call_id,
        function: {
          name: 'str_replace_editor',
          arguments: { command: 'create', path: '/workspace/game_2048.py' },
        },
      },
    ],
  });
  expect(t.messages[2]).toMatchObject({ tool_call_id: edit!.tool_call_metadata.tool_call_id });
  expect(t.messages[3]).toMatchObject({ content: finish!.args.thought });
  expect(t).toMatchObject({ taskId: 'basic', termination: 'finish', outcome: 'excluded' });
});
