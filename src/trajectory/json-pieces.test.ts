import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { JsonShapeError, jsonPieces } from './json-pieces.js';
import { readLines } from './lines.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-json-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (text: string) => {
  const path = join(folder, 'value.json');
  writeFileSync(path, text);
  return path;
};
const collect = async <T>(stream: AsyncIterable<T>) => {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
};

test('the elements of a list, whatever is in them, compact or indented', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue()), fc.constantFrom(0, 2), async (list, indent) => {
      const pieces = await collect(jsonPieces(file(JSON.stringify(list, null, indent))));
      // JSON.parse of the whole is the independent reading.
      expect(pieces.map((piece) => JSON.parse(piece.text))).toEqual(JSON.parse(JSON.stringify(list)));
      expect(pieces.map((piece) => piece.index)).toEqual(list.map((_, i) => i));
    }),
    { numRuns: 200 },
  );
});

test('members of an object; named lists come apart, named members are skipped', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.array(fc.jsonValue()), fc.string(), async (value, list, key) => {
      fc.pre(!['open', 'skip', '__proto__'].includes(key));
      const pieces = await collect(
        jsonPieces(file(JSON.stringify({ skip: list, [key]: value, open: list, last: 1 }, null, 1)), {
          open: ['open'],
          skip: ['skip'],
        }),
      );
      const expected = JSON.parse(JSON.stringify({ value, list })) as { value: unknown; list: unknown[] };
      const members = new Map(
        pieces.filter((p) => p.index === null).map((p) => [p.key, JSON.parse(p.text) as unknown]),
      );
      expect(members.get('last')).toBe(1);
      if (key !== 'last') expect(members.get(key)).toEqual(expected.value);
      expect(members.has('skip')).toBe(false);
      expect(pieces.filter((p) => p.key === 'open').map((p) => JSON.parse(p.text))).toEqual(expected.list);
    }),
    { numRuns: 200 },
  );
});

test('values longer than a read block are put together, UTF-8 unbroken', async () => {
  const long = 'äß\\"}]😀'.repeat(60_000);
  const pieces = await collect(jsonPieces(file(JSON.stringify([long, { long }]))));
  expect(pieces.map((piece) => JSON.parse(piece.text))).toEqual([long, { long }]);
});

test.each([
  ['', 'ends before'],
  ['[1, 2', 'ends before'],
  ['{"a": [1', 'ends before'],
  ['{"a" 1}', 'no colon'],
  ['{a: 1}', 'no quoted key'],
  ['hello', 'neither'],
  ['[1] [2]', 'after the end'],
])('what is not one JSON value is refused: %j', async (text, reason) => {
  const reading = collect(jsonPieces(file(text)));
  await expect(reading).rejects.toThrow(JsonShapeError);
  await expect(reading).rejects.toThrow(reason);
});

test('no bytes crash it: it ends or says what is wrong', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: fc.constantFrom(...'[]{}",:\\ 1a\n') }), async (text) => {
      try {
        await collect(jsonPieces(file(text), { open: ['a'] }));
      } catch (error) {
        expect(error instanceof JsonShapeError || error instanceof SyntaxError).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});

test('lines end at line feeds alone and keep their numbers', async () => {
  const path = file('\ufeffone\u2028still one\r\n\n  two  \nthree');
  expect(await collect(readLines(path))).toEqual([
    { number: 1, text: 'one\u2028still one' },
    { number: 3, text: 'two' },
    { number: 4, text: 'three' },
  ]);
});
