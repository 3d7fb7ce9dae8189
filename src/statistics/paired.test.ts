import { expect, test } from 'vitest';
import { comparePaired, countPairs, mcnemarExact, pairedInterval } from './paired.js';

/** Exact binomial tail by whole numbers: an independent way to the same p. */
function byCounting(b: number, c: number): number {
  const n = b + c;
  let coefficient = 1n;
  let sum = 1n;
  for (let i = 1; i <= Math.min(b, c); i++) {
    coefficient = (coefficient * BigInt(n - i + 1)) / BigInt(i);
    sum += coefficient;
  }
  return Math.min(1, Number((2n * sum * 10n ** 15n) / 2n ** BigInt(n)) / 1e15);
}

test('airway reactivity of 21 children (Fagerland, Lydersen & Laake 2014): p = 0.0703, interval by hand', () => {
  // Before and after: 1 both, 1 only first, 7 only second, 12 neither.
  expect(mcnemarExact(1, 7)).toBeCloseTo((2 * (1 + 8)) / 256, 12);
  const [low, high] = pairedInterval({ n: 21, onlyFirst: 1, onlySecond: 7 });
  expect(low).toBeCloseTo(-0.508, 3);
  expect(high).toBeCloseTo(-0.013, 3);
});

test('the exact p equals counting with whole numbers, and is symmetric', () => {
  for (const [b, c] of [
    [0, 0],
    [0, 5],
    [10, 10],
    [31, 12],
    [140, 97],
    [300, 251],
  ] as const) {
    expect(mcnemarExact(b, c)).toBeCloseTo(byCounting(b, c), 11);
    expect(mcnemarExact(c, b)).toBe(mcnemarExact(b, c));
  }
  // 2^-3000 is far below the smallest double; the tail there is about one half.
  expect(mcnemarExact(1500, 1500)).toBe(1);
  expect(mcnemarExact(1560, 1440)).toBeCloseTo(0.029791, 5);
});

test('pairs are counted task by task, and the difference is that of the pass rates', () => {
  const first = [true, true, false, true, false, true];
  const second = [true, false, true, false, false, false];
  expect(countPairs(first, second)).toEqual({ n: 6, onlyFirst: 3, onlySecond: 1 });
  expect(comparePaired(first, second).difference).toBeCloseTo(4 / 6 - 2 / 6, 12);
  expect(() => countPairs([true], [])).toThrow(RangeError);
});

test('equal outcomes still have an interval of some width', () => {
  const same = Array.from({ length: 512 }, (_, i) => i % 2 === 0);
  const { difference, interval, p } = comparePaired(same, same);
  expect(difference).toBe(0);
  expect(p).toBe(1);
  expect(interval[0]).toBeLessThan(0);
  expect(interval[1]).toBeGreaterThan(0);
});
