import { describe, expect, test } from 'vitest';
import { evaluatesAfter, GRPO_DEFAULTS, learningRateAt, plannedRollouts, withBudget } from './settings.js';

const settings = {
  ...GRPO_DEFAULTS,
  learningRate: 1,
  warmup: 4,
  fallFrom: 0.5,
  finalShare: 0.1,
  iterations: 20,
};

test('the learning rate rises, stays and falls linearly towards a tenth', () => {
  const rate = (iteration: number) => learningRateAt(settings, iteration);
  expect([0, 1, 2, 3].map(rate)).toEqual([0.25, 0.5, 0.75, 1]);
  expect([4, 10].map(rate)).toEqual([1, 1]);
  // A fifth and nine tenths of the way from 10 to 20.
  expect(rate(12)).toBeCloseTo(1 - 0.9 * 0.2, 12);
  expect(rate(19)).toBeCloseTo(1 - 0.9 * 0.9, 12);
});

describe('rollouts', () => {
  const small = { ...GRPO_DEFAULTS, groups: 2, groupSize: 4, heldOut: 10, evaluateEvery: 3, iterations: 7 };

  test('are batches and evaluations; the last iteration always has one', () => {
    expect([0, 1, 2, 3, 4, 5, 6].filter((i) => evaluatesAfter(small, i))).toEqual([2, 5, 6]);
    expect(plannedRollouts(small)).toBe(7 * 8 + 3 * 10);
    expect(plannedRollouts({ ...small, heldOut: 0 })).toBe(56);
  });

  test('a budget is used up as far as whole iterations go, and never overspent', () => {
    for (const budget of [18, 60, 333, 1000, 6144]) {
      const fitted = withBudget(small, budget);
      expect(plannedRollouts(fitted)).toBeLessThanOrEqual(budget);
      expect(budget - plannedRollouts(fitted)).toBeLessThan(8 + 10);
    }
    expect(() => withBudget(small, 17)).toThrow(RangeError);
    // Three evaluations in a training of 7 iterations; two trainings have six.
    const evaluations = (fitted: typeof small) =>
      Array.from({ length: fitted.iterations }, (_, i) => evaluatesAfter(fitted, i)).filter(Boolean).length;
    expect(evaluations(withBudget(small, 1000))).toBe(3);
    expect(evaluations(withBudget(small, 1000, 2))).toBe(6);
  });
});
