import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseTrajectory, RecordError } from './parse.js';
import { type InvalidRecordError, readTrajectories, writeTrajectories } from './store.js';
import type { Trajectory } from './trajectory.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-store-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const trajectory = (id: string, text = 'hello'): Trajectory => ({
  id,
  taskId: 't',
  trial: 0,
  source: 'rollout',
  messages: [
    { role: 'system', content: 'policy' },
    { role: 'user', content: text },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get', arguments: { a: [1] } } }],
    },
    { role: 'tool', content: '{}', tool_call_id: 'c1' },
  ],
  tools: [{ type: 'function', function: { name: 'get', parameters: { type: 'object' } } }],
  reward: 1,
  outcome: 'passed',
  termination: 'user_stop',
  reference: {
    actions: [{ name: 'get', arguments: { a: [1] }, kind: 'read', compareArguments: ['a'] }],
    requiredFacts: ['12'],
    toolKinds: { get: 'read' },
  },
  metadata: { any: { thing: 1 } },
});

const collect = async <T>(stream: AsyncIterable<T>) => {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
};

test('what is written is read again, whatever characters its texts hold', async () => {
  const path = join(folder, 'deep', 'a.jsonl');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'binary' })), async (texts) => {
      const all = texts.map((text, i) => trajectory(`id-${i}`, `${text}\u2028\n${text}`));
      expect(await writeTrajectories(path, all)).toBe(all.length);
      expect(await collect(readTrajectories(path))).toEqual(all);
    }),
    { numRuns: 50 },
  );
  expect(readdirSync(join(folder, 'deep'))).toEqual(['a.jsonl']);
});

test('a source that fails in the middle leaves the old file whole', async () => {
  const path = join(folder, 'a.jsonl');
  await writeTrajectories(path, [trajectory('old')]);
  const before = readFileSync(path, 'utf8');
  async function* failing() {
    yield trajectory('new');
    throw new Error('the episode runner broke');
  }
  await expect(writeTrajectories(path, failing())).rejects.toThrow('the episode runner broke');
  expect(readFileSync(path, 'utf8')).toBe(before);
  expect(readdirSync(folder)).toEqual(['a.jsonl']);
});

test('a bad line is named with file, line and reason, or collected', async () => {
  const path = join(folder, 'a.jsonl');
  const bad = { ...trajectory('b'), messages: [{ role: 'user', content: 5 }] };
  writeFileSync(
    path,
    `${JSON.stringify(trajectory('a'))}\n\n${JSON.stringify(bad)}\n{"cut":\n${JSON.stringify(trajectory('c'))}\n`,
  );
  await expect(collect(readTrajectories(path))).rejects.toThrow(
    `${path}: record 3: field messages[0].content must be a string, but is a number`,
  );
  const refused: InvalidRecordError[] = [];
  const kept = await collect(readTrajectories(path, { onInvalid: (error) => refused.push(error) }));
  expect(kept.map((item) => item.id)).toEqual(['a', 'c']);
  expect(refused.map((error) => error.record)).toEqual([3, 4]);
  expect(refused[1]!.reason).toMatch(/^not JSON/);
});

test.each<[string, (t: Record<string, unknown>) => void, string]>([
  ['no id', (t) => delete t.id, 'field id'],
  ['empty task', (t) => (t.taskId = ''), 'field taskId is empty'],
  ['trial', (t) => (t.trial = -1), 'field trial'],
  ['reward above 1', (t) => (t.reward = 2), 'outside [0, 1]'],
  ['outcome', (t) => (t.outcome = 'won'), 'passed, failed, excluded'],
  ['role', (t) => (t.messages = [{ role: 'robot' }]), 'messages[0].role'],
  [
    'arguments as text',
    (t) =>
      (t.messages = [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
      ]),
    'messages[0].tool_calls[0].function.arguments must be an object, but is a string',
  ],
  ['reference', (t) => (t.reference = { actions: [{ name: 'f', arguments: {}, kind: 'buy' }] }), 'kind'],
])('a record with a wrong field is refused: %s', (_, spoil, reason) => {
  const record = JSON.parse(JSON.stringify(trajectory('a'))) as Record<string, unknown>;
  expect(parseTrajectory(record).id).toBe('a');
  spoil(record);
  expect(() => parseTrajectory(record)).toThrow(RecordError);
  expect(() => parseTrajectory(record)).toThrow(reason);
});

test('no value crashes the check: it is accepted or refused with a reason', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      try {
        parseTrajectory(value);
      } catch (error) {
        expect(error).toBeInstanceOf(RecordError);
      }
    }),
  );
});
