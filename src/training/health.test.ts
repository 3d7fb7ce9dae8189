import { describe, expect, test } from 'vitest';
import { silentNow, trainingTroubles } from './health.js';
import type { TrainingLine } from './training-log.js';

const line = (reward: number, more: Partial<TrainingLine> = {}): TrainingLine => ({
  iteration: 1,
  rollouts: 0,
  reward,
  success: reward,
  broken: 0,
  groups: 8,
  constantGroups: 0,
  gradientNorm: 1,
  clipFraction: 0,
  learningRate: 1,
  turnTokens: 20,
  turns: 3,
  ...more,
});
const run = (rewards: number[], more: (i: number) => Partial<TrainingLine> = () => ({})) =>
  rewards.map((reward, i) => line(reward, more(i)));

describe('troubles of a finished training', () => {
  test('none when the reward rose by more than chance, or was high from the start', () => {
    expect(trainingTroubles(run([0.2, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]), 64)).toEqual([]);
    expect(trainingTroubles(run([0.95, 0.96, 0.95, 0.97]), 64)).toEqual([]);
  });

  test('a flat reward: two quarters of 2 × 64 attempts at 0.30 and 0.36 differ by one standard error', () => {
    // sqrt((0.3·0.7 + 0.36·0.64) / 128) = 0.0586
    const [trouble] = trainingTroubles(run([0.3, 0.3, 0.2, 0.4, 0.3, 0.3, 0.36, 0.36]), 64);
    expect(trouble).toContain('from 0.30 to 0.36 (standard error of the difference at most 0.06)');
  });

  test('turns that collapsed', () => {
    const collapsed = run([0.2, 0.2, 0.4, 0.5], (i) => ({ turnTokens: i < 2 ? 20 : 4 }));
    expect(trainingTroubles(collapsed, 640)).toEqual(['the turns collapsed from 20.0 to 4.0 tokens']);
  });
});

test('silence is said once, when the fifth iteration in a row taught nothing', () => {
  const silent = (n: number) => [line(0.5), ...run(Array(n).fill(0), () => ({ gradientNorm: null }))];
  expect([4, 5, 6].map((n) => silentNow(silent(n)))).toEqual([false, true, false]);
  // Where nearly all attempts succeed, groups are constant because nothing is left to learn.
  const solved = run(Array(5).fill(1), () => ({ gradientNorm: null }));
  expect(silentNow(solved)).toBe(false);
  expect(trainingTroubles(solved, 64)).toEqual([]);
});
