import fc from 'fast-check';
import { expect, test } from 'vitest';
import { groupAdvantages } from './advantages.js';

test('rewards [1, 0, 0, 0]: centred, and over the population standard deviation sqrt(3)/4', () => {
  expect(groupAdvantages([1, 0, 0, 0], 'mean')).toEqual([0.75, -0.25, -0.25, -0.25]);
  const normalised = groupAdvantages([1, 0, 0, 0], 'mean-std')!;
  expect(normalised[0]).toBeCloseTo(0.75 / 0.4330127, 4);
  expect(normalised[1]).toBeCloseTo(-0.25 / 0.4330127, 4);
});

test('constant groups teach nothing, also when all but one attempt broke', () => {
  expect(groupAdvantages([0.5, 0.5, 0.5], 'mean')).toBeNull();
  expect(groupAdvantages([1, null, null], 'mean-std')).toBeNull();
  expect(groupAdvantages([null, null], 'mean')).toBeNull();
});

test('a broken attempt leaves the group: the others have what they would have without it', () => {
  expect(groupAdvantages([1, null, 0], 'mean')).toEqual([0.5, null, -0.5]);
});

test('advantages sum to zero and keep the order of the rewards', () => {
  const rewards = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 2, maxLength: 16 });
  fc.assert(
    fc.property(rewards, fc.constantFrom('mean' as const, 'mean-std' as const), (list, normalisation) => {
      const advantages = groupAdvantages(list, normalisation);
      fc.pre(advantages !== null);
      const values = advantages as number[];
      expect(values.reduce((a, b) => a + b, 0)).toBeCloseTo(0, 6);
      list.forEach((reward, i) => {
        list.forEach((other, j) => {
          if (reward > other) expect(values[i]!).toBeGreaterThanOrEqual(values[j]!);
        });
      });
      if (normalisation === 'mean-std') {
        const variance = values.reduce((sum, value) => sum + value ** 2, 0) / values.length;
        expect(variance).toBeLessThanOrEqual(1 + 1e-9);
      }
    }),
    { seed: 3 },
  );
});
