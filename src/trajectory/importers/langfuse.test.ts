import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { EPISODES, langfuseTrace } from '../../../test/support/traced-episodes.js';
import type { Trajectory } from '../trajectory.js';
import type { ImporterOptions } from './importer.js';
import { langfuseImporter } from './langfuse.js';
import { readSample } from './sample.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-langfuse-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (value: unknown) => {
  const path = join(folder, 'export.json');
  const lines = Array.isArray(value) && value.map((record) => JSON.stringify(record)).join('\n');
  writeFileSync(path, lines || JSON.stringify(value, null, 2));
  return path;
};
const read = async (value: unknown, options: ImporterOptions = {}): Promise<Trajectory[]> => {
  const all: Trajectory[] = [];
  for await (const trajectory of langfuseImporter.read(write(value), options)) all.push(trajectory);
  return all;
};
const known = async (value: unknown) => langfuseImporter.matches(await readSample(write(value)));

const trace = langfuseTrace(EPISODES[0]!);
const { observations, scores, ...bare } = trace;
const snake = (value: object) =>
  Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      inner,
    ]),
  );
const asTexts = (observation: (typeof observations)[number]) => ({
  ...observation,
  input: JSON.stringify(observation.input),
  output: typeof observation.output === 'string' ? observation.output : JSON.stringify(observation.output),
  metadata: '{}',
});

test('one trace in every form: whole, downloaded, in a session, as rows, in snake_case, as texts', async () => {
  const expected = await read([trace]);
  const forms: readonly unknown[] = [
    trace,
    { trace: bare, observations, scores },
    { id: 'session-1', createdAt: bare.timestamp, projectId: 'p', traces: [trace] },
    [bare, ...observations, ...scores],
    [...scores, ...[...observations].reverse(), bare],
    [snake(bare), ...observations.map(snake), ...scores.map(snake)],
    [bare, ...observations.map(asTexts), ...scores],
  ];
  for (const form of forms) {
    expect(await read(form)).toEqual(expected);
    expect(await known(form)).toBe(true);
  }
  expect(expected).toMatchObject([
    { taskId: 'task-1', outcome: 'passed', checks: [{ name: 'success', passed: true }] },
  ]);
});

test('scores: numbers, booleans, categories; people first; on a step', async () => {
  const outcomes = async (given: readonly object[], options: ImporterOptions = {}) => {
    const named = given.map((score) => ({ traceId: trace.id, observationId: null, ...score }));
    return (await read([{ ...trace, scores: named }], options)).map(({ outcome, reward }) => [
      outcome,
      reward,
    ]);
  };
  expect(await outcomes([])).toEqual([['excluded', null]]);
  expect(await outcomes([{ name: 'accuracy', value: 0.7, dataType: 'NUMERIC' }])).toEqual([['failed', 0.7]]);
  expect(await outcomes([{ name: 'accuracy', value: 0.7, dataType: 'NUMERIC' }], { passAt: 0.6 })).toEqual([
    ['passed', 0.7],
  ]);
  expect(await outcomes([{ name: 'ok', value: 0, stringValue: 'False', dataType: 'BOOLEAN' }])).toEqual([
    ['failed', 0],
  ]);
  expect(
    await outcomes([{ name: 'verdict', value: 1, stringValue: 'incorrect', dataType: 'CATEGORICAL' }]),
  ).toEqual([['failed', 0]]);
  expect(await outcomes([{ name: 'verdict', value: 'correct', dataType: 'CATEGORICAL' }])).toEqual([
    ['passed', 1],
  ]);
  expect(
    await outcomes([
      { name: 'correct', value: 1, dataType: 'NUMERIC', source: 'EVAL' },
      { name: 'correct', value: 0, dataType: 'NUMERIC', source: 'ANNOTATION' },
    ]),
  ).toEqual([['failed', 0]]);
  expect(await outcomes([{ name: 'stars', value: 4, dataType: 'NUMERIC' }])).toEqual([['excluded', null]]);
  expect(await outcomes([{ name: 'stars', value: 4, dataType: 'NUMERIC' }], { passAt: 4 })).toEqual([
    ['passed', 1],
  ]);
  // A score of the whole trace goes before one of a step.
  const step = { name: 'correct', value: 1, dataType: 'NUMERIC', observationId: observations[0]!.id };
  expect(await outcomes([step, { name: 'goal', value: 0, dataType: 'NUMERIC' }])).toEqual([['failed', 0]]);
});

test('a trace without observations is told by its input and output', async () => {
  const [trajectory] = await read([{ ...bare, observations: [], scores }]);
  expect(trajectory!.messages).toEqual([
    { role: 'user', content: EPISODES[0]!.request },
    { role: 'assistant', content: 'I am sorry, it was sent already.' },
  ]);
});

test('tools by their names, as the exports of 2026 have them', async () => {
  const schema = { description: 'Look an order up', parameters: { type: 'object', properties: {} } };
  const [first] = observations;
  const generation = {
    ...first,
    input: [{ role: 'user', content: 'Hi' }],
    output: 'Hello.',
    toolDefinitions: { get_order: JSON.stringify(schema) },
  };
  const [trajectory] = await read([{ ...trace, observations: [generation] }]);
  expect(trajectory!.tools).toEqual([{ type: 'function', function: { name: 'get_order', ...schema } }]);
});

test('what is no record of Langfuse is named', async () => {
  await expect(read([{ hello: 1 }])).rejects.toThrow(
    /record 1: neither a trace nor an observation nor a score/,
  );
  const odd = { ...observations[0]!, input: [{ role: 'wizard', content: 'x' }] };
  await expect(read([{ ...trace, observations: [odd] }])).rejects.toThrow(
    /observation \w+: input\[0\]\.role must be/,
  );
});
