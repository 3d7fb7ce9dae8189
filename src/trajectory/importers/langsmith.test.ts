import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { EPISODES, expectedMessages, langSmithRuns } from '../../../test/support/traced-episodes.js';
import type { Trajectory } from '../trajectory.js';
import type { ImporterOptions } from './importer.js';
import { langSmithImporter } from './langsmith.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-langsmith-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const read = async (records: readonly unknown[], options: ImporterOptions = {}): Promise<Trajectory[]> => {
  const path = join(folder, 'runs.jsonl');
  writeFileSync(path, records.map((record) => JSON.stringify(record)).join('\n'));
  const all: Trajectory[] = [];
  for await (const trajectory of langSmithImporter.read(path, options)) all.push(trajectory);
  return all;
};

const [episode] = EPISODES;
const [root, ...children] = langSmithRuns(episode!, 'openai');
const withoutTrace = ({ trace_id: _, dotted_order: __, ...run }: (typeof children)[number]) => run;

test('a root run with its children inside is the same trace as the runs in lines', async () => {
  const nested = { ...withoutTrace(root!), child_runs: children.map(withoutTrace) };
  const [whole] = await read([nested]);
  expect(whole).toEqual((await read([root, ...children]))[0]);
  expect(whole!.messages).toHaveLength(expectedMessages(episode!).length);
});

test('the trace is told by trace_id, else by dotted_order, else it is the root', async () => {
  const ordered = children.map(({ trace_id: _, ...run }) => run);
  expect(await read([withoutTrace(root!), ...ordered])).toEqual(await read([root, ...children]));
  await expect(read([root, withoutTrace(children[0]!)])).rejects.toThrow(
    /record 2: run .* neither trace_id nor dotted_order/,
  );
});

test('feedback: listed on the run, in rows of its own, summed up; people first', async () => {
  const { feedback_stats: _, ...bare } = root as typeof root & { feedback_stats?: unknown };
  const feedback = (more: object) => ({ id: 'f', run_id: bare.id, key: 'correctness', ...more });
  const outcomes = async (records: readonly unknown[], options: ImporterOptions = {}) =>
    (await read([...records, ...children], options)).map(({ outcome, reward }) => [outcome, reward]);
  expect(await outcomes([bare])).toEqual([['excluded', null]]);
  expect(await outcomes([{ ...bare, feedback: [feedback({ score: 1, comment: 'right' })] }])).toEqual([
    ['passed', 1],
  ]);
  expect(await outcomes([feedback({ score: 0.4 }), bare])).toEqual([['failed', 0.4]]);
  expect(await outcomes([feedback({ score: 0.4 }), bare], { passAt: 0.4 })).toEqual([['passed', 0.4]]);
  expect(await outcomes([bare, feedback({ value: 'incorrect', score: null })])).toEqual([['failed', 0]]);
  expect(
    await outcomes([
      bare,
      feedback({ score: true }),
      feedback({ score: 0, feedback_source: { type: 'app' } }),
    ]),
  ).toEqual([['failed', 0]]);
  expect(
    await outcomes([
      { ...bare, feedback_stats: { correctness: { n: 2, avg: null, values: { correct: 2 } } } },
    ]),
  ).toEqual([['passed', 1]]);
  // Two criteria of which none is the outcome.
  expect(
    await outcomes([{ ...bare, feedback_stats: { tone: { n: 1, avg: 1 }, length: { n: 1, avg: 0 } } }]),
  ).toEqual([['excluded', null]]);
});

test('the project’s session_id is no session; a thread is; an example goes before both', async () => {
  const { reference_example_id: _, ...bare } = root as typeof root & { reference_example_id?: unknown };
  const task = async (first: object) => (await read([first, ...children]))[0]!.taskId;
  expect(await task(bare)).toMatch(/^task-[0-9a-f]{12}$/);
  const threaded = { ...bare, extra: { metadata: { thread_id: 'thread-9' } } };
  expect(await task(threaded)).toBe('thread-9');
  expect(await task({ ...threaded, reference_example_id: 'example-3' })).toBe('example-3');
});

test('a graph’s state tells the conversation where the requests were not exported', async () => {
  const messages = [
    { type: 'human', content: 'Where is A7?' },
    { type: 'ai', content: '', tool_calls: [{ name: 'get_order', args: { id: 'A7' }, id: 'c' }] },
    { type: 'tool', content: 'sent', tool_call_id: 'c', name: 'get_order', status: 'success' },
    { type: 'ai', content: 'It was sent.' },
  ];
  const graph = { ...root, inputs: { messages: messages.slice(0, 1) }, outputs: { messages } };
  const [trajectory] = await read([graph]);
  expect(trajectory!.messages.map(({ role, content }) => [role, content])).toEqual([
    ['user', 'Where is A7?'],
    ['assistant', null],
    ['tool', 'sent'],
    ['assistant', 'It was sent.'],
  ]);
  expect(trajectory!.metadata.messagesFrom).toBe('steps');
});

test('rows of bulk exports: run_id, inputs and outputs as JSON text', async () => {
  const row = ({ id, inputs, outputs, extra, ...run }: (typeof children)[number]) => ({
    run_id: id,
    ...run,
    inputs: JSON.stringify(inputs),
    outputs: JSON.stringify(outputs),
    extra: JSON.stringify(extra),
  });
  expect(await read([root!, ...children].map((run) => row(run)))).toEqual(await read([root, ...children]));
});

test('a broken run says so', async () => {
  const [trajectory] = await read([
    { ...root, error: 'TimeoutError()\nTraceback …', outputs: null },
    children[0],
  ]);
  expect(trajectory).toMatchObject({ metadata: { error: 'TimeoutError()' } });
  await expect(read([{ hello: 1 }])).rejects.toThrow(/record 1: field run_type is missing/);
});
