import { expect, test } from 'vitest';
import { Random } from '../run/random.js';
import { calibrationFigures, judgeCalibration, passAtK } from './calibrate.js';

test('figures of groups counted by hand', () => {
  // Rewards: mean 3.5 / 8; variance of {1,0,0.5,0,0,0,1,1} = (3·1 + .25)/8 − .4375² = .40625 − .19140625.
  const figures = calibrationFigures(
    [
      [1, 0],
      [0.5, 0],
      [0, 0],
      [1, 1],
    ],
    1,
  );
  expect(figures).toMatchObject({
    groups: 4,
    groupSize: 2,
    meanReward: 0.4375,
    successRate: 3 / 8,
    allSuccessful: 0.25,
    allZero: 0.25,
    constant: 0.5,
    informative: 0.5,
  });
  expect(figures.rewardStd).toBeCloseTo(Math.sqrt(0.40625 - 0.4375 ** 2), 12);
  expect(figures.passAt).toEqual({ 1: (0.5 + 0 + 0 + 1) / 4 });
  expect(() => calibrationFigures([[1], []], 1)).toThrow(RangeError);
});

test('pass@k is one minus the share of k-subsets without a success', () => {
  // n = 5, c = 2, k = 3: C(3,3)/C(5,3) = 1/10 miss.
  expect(passAtK(5, 2, 3)).toBeCloseTo(0.9, 12);
  // n = 16, c = 1, k = 4: a quarter of the subsets hold the one success.
  expect(passAtK(16, 1, 4)).toBeCloseTo(0.25, 12);
  expect(passAtK(8, 0, 4)).toBe(0);
  expect(passAtK(8, 5, 4)).toBe(1);
});

/** Groups of a policy that succeeds with chance `p` everywhere. */
const groupsOf = (p: number, n = 200, k = 16) => {
  const random = new Random(3, `p${p}`);
  return Array.from({ length: n }, () => Array.from({ length: k }, () => (random.chance(p) ? 1 : 0)));
};

test.each([
  [0.02, 'too hard', 1],
  [0.15, 'usable', 1],
  [0.4, 'in range', 0],
  [0.7, 'usable', -1],
  [0.95, 'too easy', -1],
] as const)('a policy that succeeds with chance %f is judged %s', (p, verdict, direction) => {
  expect(judgeCalibration(calibrationFigures(groupsOf(p), 1))).toMatchObject({ verdict, direction });
});

test('a good average of scenarios that are each certain is no use', () => {
  // Half of the scenarios always succeed, half never: mean 0.5, yet no group teaches anything.
  const groups = Array.from({ length: 20 }, (_, i) => Array.from({ length: 8 }, () => i % 2));
  const judged = judgeCalibration(calibrationFigures(groups, 1));
  expect(judged.verdict).toBe('usable');
  expect(judged.outside.join()).toMatch(/constant groups 1\.00/);
});

test('where the reward has levels, few whole successes are no reason for an easier environment', () => {
  // Success 1/8 in each group, half of the reward for half of the rest: mean 0.125 + 0.5 · 3/8.
  const levels = Array.from({ length: 10 }, () => [1, 0.5, 0.5, 0.5, 0, 0, 0, 0]);
  const judged = judgeCalibration(calibrationFigures(levels, 1));
  expect(judged).toMatchObject({ verdict: 'usable', direction: 0 });
  expect(judged.outside).toEqual(['success rate 0.13 (0.2–0.6)']);
  // The same success without levels asks for an easier one.
  const bare = levels.map((group) => group.map(Math.floor));
  expect(judgeCalibration(calibrationFigures(bare, 1))).toMatchObject({ verdict: 'usable', direction: 1 });
});
