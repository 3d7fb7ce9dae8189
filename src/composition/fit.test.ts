import { expect, test } from 'vitest';
import { gateLearningRate } from './fit.js';

test('the learning rate rises over the warm-up, is held, and falls to a tenth in the second half', () => {
  const options = { epochs: 1, learningRate: 0.02, warmupSteps: 5, batchTokens: 1 };
  const at = (step: number) => gateLearningRate(step, 100, options);
  expect([0, 1, 2, 3, 4].map(at)).toEqual([0.2, 0.4, 0.6, 0.8, 1].map((share) => share * 0.02));
  expect(at(49)).toBe(0.02);
  // Three quarters through: 1 − 1.8 × 0.25 = 0.55; at the end 1 − 1.8 × 0.5 = 0.1.
  expect(at(74)).toBeCloseTo(0.55 * 0.02, 12);
  expect(at(99)).toBeCloseTo(0.1 * 0.02, 12);
});
