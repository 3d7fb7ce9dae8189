import { expect, test } from 'vitest';
import { KvCache } from './kv-cache.js';

const shape = { layers: 2, kvHeads: 2, headDim: 3 };

/** The key and value at a place, read by the documented layouts. */
function at(cache: KvCache, layer: number, row: number, head: number, position: number) {
  const block = (row * 2 + head) * 3 * cache.capacity;
  const component = [0, 1, 2];
  return {
    key: component.map((i) => cache.keys[layer]?.[block + i * cache.capacity + position]),
    value: component.map((i) => cache.values[layer]?.[block + position * 3 + i]),
  };
}

/** A number that names its place. */
const mark = (layer: number, row: number, head: number, position: number, i: number) =>
  layer * 1000 + row * 100 + head * 50 + position * 4 + i;

function filled(rows: number, capacity: number): KvCache {
  const cache = new KvCache(shape);
  cache.resize(rows, capacity);
  for (let layer = 0; layer < 2; layer++) {
    for (let row = 0; row < rows; row++) {
      for (let position = 0; position < capacity; position++) {
        const keys = Float32Array.from({ length: 12 }, (_, j) =>
          mark(layer, row, Math.floor((j % 6) / 3), position, j % 3),
        );
        // The second of two tokens in the step.
        cache.write(
          layer,
          row,
          position,
          1,
          keys,
          keys.map((x) => -x),
        );
      }
    }
  }
  return cache;
}

function expectRow(cache: KvCache, row: number, original: number, length: number): void {
  for (let layer = 0; layer < 2; layer++) {
    for (let head = 0; head < 2; head++) {
      for (let position = 0; position < length; position++) {
        const wanted = [0, 1, 2].map((i) => mark(layer, original, head, position, i));
        const found = at(cache, layer, row, head, position);
        expect(found.key).toEqual(wanted);
        expect(found.value.map((x) => -(x as number))).toEqual(wanted);
      }
    }
  }
}

test('keys and values stand at the slot of their position', () => {
  const cache = filled(3, 5);
  for (const row of [0, 1, 2]) expectRow(cache, row, row, 5);
  expect(cache.bytes).toBe(3 * 5 * 2 * 2 * 3 * 2 * 4);
});

test('growing and shrinking keep what fits', () => {
  const cache = filled(3, 5);
  cache.resize(4, 9);
  for (const row of [0, 1, 2]) expectRow(cache, row, row, 5);
  expect(at(cache, 1, 3, 1, 8)).toEqual({ key: [0, 0, 0], value: [0, 0, 0] });
  cache.resize(2, 3);
  for (const row of [0, 1]) expectRow(cache, row, row, 3);
});

test('rows are copied up to a length and swapped whole', () => {
  const cache = filled(3, 5);
  cache.copyRow(0, 2, 3);
  expectRow(cache, 2, 0, 3);
  expect(at(cache, 0, 2, 1, 4).key).toEqual([0, 1, 2].map((i) => mark(0, 2, 1, 4, i)));
  cache.swapRows(0, 1);
  expectRow(cache, 0, 1, 5);
  expectRow(cache, 1, 0, 5);
});
