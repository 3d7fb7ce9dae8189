import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { JsonShapeError } from '../json-pieces.js';
import { InvalidRecordError } from '../store.js';
import type { Trajectory } from '../trajectory.js';
import { importTrajectories, UnknownFormatError } from './detect.js';
import { readVerdicts } from './verdicts.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-verdicts-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = (text: string, name = 'verdicts.csv') => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const attempt = (id: string, taskId = id, trial = 0): Trajectory => ({
  id,
  taskId,
  trial,
  source: 's',
  messages: [],
  tools: [],
  reward: null,
  outcome: 'excluded',
  termination: null,
  metadata: { excluded: 'no verdict', kept: 1 },
});

test.each([
  ['CSV', 'id,resolved\na,true\nb,0\n'],
  [
    'CSV with a mark, quotes, other words and columns',
    '\ufeffTrajectory ID;Note;Is Resolved\r\n"a";"x;y";YES\r\nb;;unresolved\r\n',
  ],
  ['tabs', 'name\tscore\na\t1.0\nb\t0.2\n'],
  ['JSONL', '{"id":"a","success":true}\n{"id":"b","success":false}\n'],
  ['a list', '[{"id":"a","reward":1},{"id":"b","reward":0.5}]'],
  ['an object by id', '{"a":{"resolved":true},"b":{"resolved":false}}'],
  ['an object of values', '{"a":1,"b":"failed"}'],
])('%s', async (_, text) => {
  const table = await readVerdicts(file(text));
  expect(table.rows).toBe(2);
  expect(table.join(attempt('a'))).toMatchObject({ outcome: 'passed', reward: 1, metadata: { kept: 1 } });
  expect(table.join(attempt('a')).metadata).not.toHaveProperty('excluded');
  expect(table.join(attempt('b'))).toMatchObject({ outcome: 'failed' });
  const other = attempt('c');
  expect(table.join(other)).toBe(other);
  expect(table.unused).toBe(0);
});

test('task and trial name one attempt, a task alone all of them', async () => {
  const table = await readVerdicts(file('task_id,trial,passed\n7,0,1\n7,1,0\n8,,1\n'));
  const outcome = (taskId: string, trial: number) =>
    table.join(attempt(`x${taskId}-${trial}`, taskId, trial)).outcome;
  expect([outcome('7', 0), outcome('7', 1), outcome('7', 2)]).toEqual(['passed', 'failed', 'excluded']);
  expect([outcome('8', 0), outcome('8', 5)]).toEqual(['passed', 'passed']);
});

test('a threshold decides scores, and rows without a verdict are counted', async () => {
  const table = await readVerdicts(file('id,score\na,70\nb,40\nc,\n'), 50);
  expect([table.join(attempt('a')).outcome, table.join(attempt('b')).outcome]).toEqual(['passed', 'failed']);
  expect([table.rows, table.withoutVerdict, table.unused]).toEqual([2, 1, 0]);
});

test.each([
  ['id,resolved\na,1\na,0\n', 'record 2: a has another verdict above'],
  ['colour,resolved\nred,1\n', 'no column names an attempt'],
  ['id,colour\na,red\n', 'no verdict in any'],
  ['id,resolved\na\n', 'no CSV with a header'],
  ['[1]', 'record 1: a verdict has to be an object'],
])('%j is refused: %s', async (text, reason) => {
  await expect(readVerdicts(file(text))).rejects.toThrow(reason);
});

test('no sidecar crashes it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.json(),
        fc
          .array(fc.constantFrom('id', ',', '\n', '"', 'resolved', '1', ';', '\r', 'a', '{', '}'))
          .map((all) => all.join('')),
      ),
      async (text) => {
        try {
          (await readVerdicts(file(text))).join(attempt('a'));
        } catch (error) {
          const named = [InvalidRecordError, JsonShapeError, UnknownFormatError];
          if (!named.some((kind) => error instanceof kind)) throw error;
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('an import takes the verdicts of a sidecar', async () => {
  const ask = { role: 'user', content: 'q' };
  const chats = file(
    ['a', 'b'].map((id) => JSON.stringify({ id, messages: [ask] })).join('\n'),
    'chats.jsonl',
  );
  const outcomes: string[] = [];
  for await (const { outcome } of importTrajectories(chats, { verdicts: file('id,label\na,pass\n') }))
    outcomes.push(outcome);
  expect(outcomes).toEqual(['passed', 'excluded']);
});
