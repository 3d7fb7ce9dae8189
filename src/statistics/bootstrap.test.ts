import { expect, test } from 'vitest';
import { clusterBootstrap, percentileInterval } from './bootstrap.js';

test('three clusters are drawn as often as counting all 27 ordered draws says', () => {
  const resamples = 27_000;
  const seen = new Map<string, number>();
  clusterBootstrap(
    3,
    (times) => {
      const key = times.join();
      seen.set(key, (seen.get(key) ?? 0) + 1);
    },
    { seed: 5, resamples },
  );
  // All of one kind: 1 of 27 draws; two of one and one of another: 3; each once: 6.
  const share: { [key: string]: number } = { '3,0,0': 1, '2,1,0': 3, '1,1,1': 6, '0,1,2': 3 };
  expect(seen.size).toBe(10);
  for (const [key, n] of Object.entries(share)) {
    const p = n / 27;
    const deviations = (seen.get(key)! - resamples * p) / Math.sqrt(resamples * p * (1 - p));
    expect(Math.abs(deviations)).toBeLessThan(4);
  }
});

test('the seed decides; without a cluster there is nothing to draw', () => {
  const draw = (seed: number) => clusterBootstrap(9, (times) => times.join(), { seed, resamples: 20 });
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1)).not.toEqual(draw(2));
  expect(() => clusterBootstrap(0, () => 0, { seed: 1, resamples: 1 })).toThrow(RangeError);
});

test('percentiles, whatever the order: 2.5 % of 0 … 40 is 1', () => {
  const values = Array.from({ length: 41 }, (_, i) => (i * 7) % 41);
  const [low, high] = percentileInterval(values);
  expect([low, high]).toEqual([expect.closeTo(1, 12), expect.closeTo(39, 12)]);
  expect(percentileInterval(values, 0.5)).toEqual([10, 30]);
  expect(() => percentileInterval([])).toThrow(RangeError);
});
