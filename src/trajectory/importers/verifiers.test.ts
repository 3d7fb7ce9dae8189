import { expect, test } from 'vitest';
import { fileOf, folderOf, readAll, readPast } from '../../../test/support/importer-files.js';
import { surviveHostileInput } from './hostile.js';
import { readSample } from './sample.js';
import { verifiersImporter } from './verifiers.js';

const rollout = (extra: object = {}) => ({
  example_id: 0,
  task: 'default',
  prompt: [
    { role: 'system', content: 'Use tools.' },
    { role: 'user', content: 'What is 2 + 2?' },
  ],
  completion: [
    {
      role: 'assistant',
      content: '',
      tool_calls: [
        JSON.stringify({ id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":2,"b":2}' } }),
      ],
    },
    { role: 'tool', content: '4', tool_call_id: 'c1' },
    { role: 'assistant', content: '4' },
  ],
  reward: 1.0,
  error: null,
  stop_condition: 'has_final_answer',
  metrics: { correct: 1, format: 0.5 },
  tool_defs: [{ name: 'add', description: 'Adds.', parameters: { type: 'object' } }],
  ...extra,
});
const lines = (...records: object[]) => records.map((record) => JSON.stringify(record)).join('\n');

test('rollouts: prompt and completion joined, trials counted, errors left out', async () => {
  const folder = folderOf({
    'evals/x/results.jsonl': lines(
      rollout(),
      rollout({ reward: 0.4, stop_condition: undefined, is_truncated: true }),
      rollout({ example_id: 1, error: { error: 'ModelError', error_chain_str: 'ModelError -> timeout' } }),
      rollout({ example_id: 2, reward: 1.2 }),
      rollout({ example_id: 3, prompt: 'Say four.', completion: 'four', reward: null }),
      rollout({ example_id: 4, task: 'hard' }),
    ),
    'evals/x/metadata.json': { env_id: 'sums', model: 'm' },
  });
  expect(verifiersImporter.matches(await readSample(folder))).toBe(true);
  const all = await readAll(verifiersImporter, folder);
  expect(all.map((t) => [t.id, t.outcome, t.reward, t.termination])).toEqual([
    ['sums/0-0', 'passed', 1, 'has_final_answer'],
    ['sums/0-1', 'failed', 0.4, 'truncated'],
    ['sums/1-0', 'excluded', null, 'error'],
    ['sums/2-0', 'excluded', null, 'has_final_answer'],
    ['sums/3-0', 'excluded', null, 'has_final_answer'],
    ['hard/4-0', 'passed', 1, 'has_final_answer'],
  ]);
  expect(all[0]!.messages).toEqual([
    { role: 'system', content: 'Use tools.' },
    { role: 'user', content: 'What is 2 + 2?' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: { a: 2, b: 2 } } }],
    },
    { role: 'tool', content: '4', tool_call_id: 'c1' },
    { role: 'assistant', content: '4' },
  ]);
  expect(all[0]!.metadata).toEqual({ score: 1, metrics: { correct: 1, format: 0.5 } });
  expect(all[2]!.metadata.excluded).toBe('infrastructure: ModelError -> timeout');
  expect(all[3]!.metadata.excluded).toContain('--pass-at');
  expect(all[4]!.messages.map((m) => m.role)).toEqual(['user', 'assistant']);
  // With a pass mark, the sum of weighted rewards may lie anywhere.
  const marked = await readAll(verifiersImporter, folder, { passAt: 0.4 });
  expect(marked.map((t) => t.reward)).toEqual([1, 0.4, null, 1, null, 1]);
  expect(marked[1]!.outcome).toBe('passed');
});

test('what is refused is named', async () => {
  const path = fileOf(
    'results.jsonl',
    lines(rollout(), rollout({ completion: 5 }), rollout({ reward: 'high' })),
  );
  expect(verifiersImporter.matches(await readSample(path))).toBe(true);
  const { read, refused } = await readPast(verifiersImporter, path);
  expect(read.map((t) => t.id)).toEqual(['0-0']);
  expect(refused).toEqual([
    expect.stringMatching(/record 2: field completion must be a list/),
    expect.stringMatching(/record 3: field reward must be a number/),
  ]);
});

test('no input crashes it', async () => {
  await surviveHostileInput(verifiersImporter, {
    real: [rollout(), rollout({ prompt: 'a', completion: 'b' })],
    runs: 15,
  });
});
