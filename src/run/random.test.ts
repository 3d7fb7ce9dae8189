import { expect, test } from 'vitest';
import { deriveSeed, Random } from './random.js';

const draws = (random: Random, n: number) => Array.from({ length: n }, () => random.float());

test('the same seed gives the same stream, another seed another one', () => {
  expect(draws(new Random(5), 20)).toEqual(draws(new Random(5), 20));
  expect(draws(new Random(5), 20)).not.toEqual(draws(new Random(6), 20));
});

test('neighbouring seeds are unrelated', () => {
  // Mean of the first draw over many seeds is 1/2 within 5 standard errors (1/sqrt(12 n)).
  const n = 4000;
  let sum = 0;
  for (let seed = 0; seed < n; seed++) sum += new Random(seed).float();
  expect(Math.abs(sum / n - 0.5)).toBeLessThan(5 / Math.sqrt(12 * n));
});

test('a fork does not depend on draws made before it', () => {
  const a = new Random(1);
  const b = new Random(1);
  b.float();
  expect(draws(a.fork('x', 2), 5)).toEqual(draws(b.fork('x', 2), 5));
  expect(draws(a.fork('x', 2), 5)).not.toEqual(draws(a.fork('x', 3), 5));
});

test('int covers its range evenly', () => {
  const random = new Random(3);
  const counts = [0, 0, 0, 0, 0];
  for (let i = 0; i < 50_000; i++) counts[random.int(5)]!++;
  // Each count is binomial(50000, 0.2): standard deviation 89; 5 of them.
  for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(450);
  expect(() => random.int(0)).toThrow(RangeError);
});

test('gaussian has mean 0 and variance 1', () => {
  const random = new Random(9);
  const values = Array.from({ length: 20_000 }, () => random.gaussian());
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const variance = values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length;
  expect(Math.abs(mean)).toBeLessThan(5 / Math.sqrt(20_000));
  expect(Math.abs(variance - 1)).toBeLessThan(5 * Math.sqrt(2 / 20_000));
});

test('shuffle keeps the elements and leaves the list alone', () => {
  const items = [1, 2, 3, 4, 5, 6];
  const shuffled = new Random(2).shuffle(items);
  expect([...shuffled].sort()).toEqual(items);
  expect(items).toEqual([1, 2, 3, 4, 5, 6]);
  expect(deriveSeed('a', 1)).toBe(deriveSeed('a', 1));
});
