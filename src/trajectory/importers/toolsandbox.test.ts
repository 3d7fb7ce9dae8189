import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileOf, folderOf, readAll, readOne, readPast } from '../../../test/support/importer-files.js';
import { surviveHostileInput } from './hostile.js';
import { readSample } from './sample.js';
import { toolSandboxImporter } from './toolsandbox.js';

const conversation = [
  { role: 'system', content: 'Use tools.' },
  { role: 'user', content: 'Text Ann.' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: 'c', type: 'function', function: { name: 'send_message', arguments: '{"to":"Ann"}' } },
    ],
  },
  {
    role: 'tool',
    tool_call_id: 'c',
    name: 'send_message',
    content: 'ConnectionError: Cellular service is off',
  },
  { role: 'assistant', content: 'Sorry.', assistant_details: { milestone_matches: [] } },
];
const result = (name: string, extra: object = {}) => ({
  name,
  categories: ['STATE_DEPENDENCY'],
  traceback: null,
  exception_type: null,
  milestone_similarity: 0.5,
  minefield_similarity: 0,
  similarity: 0.5,
  turn_count: 3,
  milestone_mapping: { 0: [2, 1], 1: [-1, 0] },
  minefield_mapping: {},
  ...extra,
});
const summary = (...results: unknown[]) => ({
  per_scenario_results: results,
  category_aggregated_results: { STATE_DEPENDENCY: { similarity: 0.5, turn_count: 3 } },
  git_sha: 'x',
});

test('the summary with its conversations: similarity, milestones, exceptions', async () => {
  const folder = folderOf({
    'result_summary.json': summary(
      result('send'),
      result('send_all', { similarity: 1, milestone_similarity: 1, milestone_mapping: { 0: [2, 1] } }),
      result('broken', { exception_type: 'APIError', traceback: 'Traceback …', similarity: 0 }),
    ),
    'trajectories/send/conversation.json': conversation,
    'trajectories/send_all/conversation.json': conversation,
  });
  expect(toolSandboxImporter.matches(await readSample(folder))).toBe(true);
  expect(toolSandboxImporter.matches(await readSample(join(folder, 'result_summary.json')))).toBe(true);
  const all = await readAll(toolSandboxImporter, folder);
  expect(all.map((t) => [t.id, t.outcome, t.reward, t.termination])).toEqual([
    ['send', 'failed', 0.5, null],
    ['send_all', 'passed', 1, null],
    ['broken', 'excluded', null, 'APIError'],
  ]);
  expect(all[0]!.messages.map((m) => m.role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant']);
  expect(all[0]!.messages[3]).toMatchObject({ error: true, tool_call_id: 'c' });
  expect(all[0]!.checks!.map(({ name, passed }) => [name, passed])).toEqual([
    ['milestones', false],
    ['minefields', true],
    ['milestone_0', true],
    ['milestone_1', false],
  ]);
  const lenient = await readAll(toolSandboxImporter, folder, { passAt: 0.5 });
  expect(lenient.map((t) => t.outcome)).toEqual(['passed', 'passed', 'excluded']);
});

test('a missing conversation and a name that leads elsewhere are refused by number', async () => {
  const folder = folderOf({
    'result_summary.json': summary(result('gone'), result('../../etc'), result('..')),
  });
  const { refused } = await readPast(toolSandboxImporter, folder);
  expect(refused).toEqual([
    expect.stringMatching(/record 1: .*trajectories\/gone\/conversation\.json is missing/),
    expect.stringMatching(/record 2: field name is no folder/),
    expect.stringMatching(/record 3: field name is no folder/),
  ]);
});

test('a conversation alone has no verdict', async () => {
  const path = fileOf('trajectories/send/conversation.json', conversation);
  expect(toolSandboxImporter.matches(await readSample(path))).toBe(true);
  const t = await readOne(toolSandboxImporter, path);
  expect(t).toMatchObject({ id: 'send', outcome: 'excluded', reward: null });
});

test('no input crashes it', async () => {
  const broken = result('b', { exception_type: 'X' });
  await surviveHostileInput(toolSandboxImporter, { real: [summary(broken, result('gone'))], runs: 15 });
  await surviveHostileInput(toolSandboxImporter, { real: conversation, runs: 15 });
});
