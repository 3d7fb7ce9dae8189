import { expect, test } from 'vitest';
import { wilson } from './proportion.js';

test('the bounds solve |p̂ − p| = z √(p(1−p)/n), the equation that defines the interval', () => {
  for (const [passed, n] of [
    [1, 29],
    [15, 148],
    [81, 263],
    [500, 512],
  ] as const)
    for (const p of wilson(passed, n, 1.96))
      expect(Math.abs(passed / n - p)).toBeCloseTo(1.96 * Math.sqrt((p * (1 - p)) / n), 12);
});

test('Newcombe (1998), table I, method 3: 81 of 263 and 0 of 20', () => {
  const [low, high] = wilson(81, 263);
  expect(low).toBeCloseTo(0.2553, 4);
  expect(high).toBeCloseTo(0.3662, 4);
  expect(wilson(0, 20)[0]).toBe(0);
  expect(wilson(0, 20)[1]).toBeCloseTo(0.1611, 4);
  expect(wilson(20, 20)).toEqual([expect.closeTo(1 - 0.1611, 4), 1]);
});

test('what is no proportion is refused', () => {
  expect(() => wilson(0, 0)).toThrow(RangeError);
  expect(() => wilson(3, 2)).toThrow(RangeError);
  expect(() => wilson(-1, 2)).toThrow(RangeError);
});
