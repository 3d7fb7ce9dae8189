/** Rewards of one scenario's attempts. */
export type Group = readonly number[];

/** How the base model does on an environment (method, step 2). */
export interface CalibrationFigures {
  readonly groups: number;
  readonly groupSize: number;
  readonly meanReward: number;
  /** Population standard deviation of all rewards. */
  readonly rewardStd: number;
  /** Share of attempts with a reward of at least the success threshold. */
  readonly successRate: number;
  /** Shares of groups whose attempts all succeed, all earn nothing, all earn the same, or differ. */
  readonly allSuccessful: number;
  readonly allZero: number;
  readonly constant: number;
  readonly informative: number;
  /** Unbiased estimates of the chance that at least one of k attempts succeeds, for k up to the group's size. */
  readonly passAt: { readonly [k: string]: number };
}

/**
 * - `in range`: every figure in the accepted range.
 * - `usable`: outside, but neither too easy nor too hard; training can still learn from it.
 * - `too easy`, `too hard`: not trained on.
 */
export type Verdict = 'in range' | 'usable' | 'too easy' | 'too hard';

export interface Judgement {
  readonly verdict: Verdict;
  /** Where more success is to be sought: 1 easier, −1 harder, 0 nowhere. */
  readonly direction: -1 | 0 | 1;
  /** Figures outside the accepted range, in words. */
  readonly outside: readonly string[];
}

const EPSILON = 1e-9;

/** @throws RangeError without groups, or when a group is empty. */
export function calibrationFigures(groups: readonly Group[], successThreshold: number): CalibrationFigures {
  if (groups.length === 0 || groups.some((group) => group.length === 0))
    throw new RangeError('calibration needs at least one group, and attempts in each');
  const rewards = groups.flat();
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  const variance = rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / rewards.length;
  const passes = groups.map((group) => group.filter((reward) => reward >= successThreshold).length);
  const share = (holds: (group: Group) => boolean) => groups.filter(holds).length / groups.length;
  const constant = share((group) => Math.max(...group) - Math.min(...group) < EPSILON);
  const groupSize = Math.min(...groups.map((group) => group.length));
  const passAt: { [k: string]: number } = {};
  for (const k of [1, 4, 8, 16])
    if (k <= groupSize)
      passAt[k] =
        groups.reduce((sum, group, i) => sum + passAtK(group.length, passes[i]!, k), 0) / groups.length;
  return {
    groups: groups.length,
    groupSize,
    meanReward: mean,
    rewardStd: Math.sqrt(variance),
    successRate: passes.reduce((sum, n) => sum + n, 0) / rewards.length,
    allSuccessful: share((group) => group.every((reward) => reward >= successThreshold)),
    allZero: share((group) => group.every((reward) => reward < EPSILON)),
    constant,
    informative: 1 - constant,
    passAt,
  };
}

/** 1 − C(n − c, k) / C(n, k): at least one success in k of n attempts of which c succeeded (Chen et al. 2021). */
export function passAtK(n: number, c: number, k: number): number {
  if (n - c < k) return 1;
  let miss = 1;
  for (let i = n - c + 1; i <= n; i++) miss *= 1 - k / i;
  return 1 - miss;
}

/** The method's table of accepted ranges. */
export function judgeCalibration(figures: CalibrationFigures): Judgement {
  const { meanReward, successRate, allSuccessful, allZero, constant, rewardStd } = figures;
  const outside: string[] = [];
  const note = (holds: boolean, text: string) => {
    if (holds) outside.push(text);
  };
  const show = (value: number) => value.toFixed(2);
  note(meanReward < 0.2 || meanReward > 0.6, `mean reward ${show(meanReward)} (0.2–0.6)`);
  note(successRate < 0.2 || successRate > 0.6, `success rate ${show(successRate)} (0.2–0.6)`);
  note(allSuccessful > 0.2, `groups all successful ${show(allSuccessful)} (at most 0.2)`);
  note(allZero > 0.2, `groups all zero ${show(allZero)} (at most 0.2)`);
  note(constant > 0.5, `constant groups ${show(constant)} (at most 0.5)`);
  note(rewardStd < 0.05, `reward std ${show(rewardStd)} (at least 0.05)`);
  if (meanReward > 0.8 || successRate > 0.8 || allSuccessful > 0.5)
    return { verdict: 'too easy', direction: -1, outside };
  if (meanReward < 0.1 || successRate < 0.1 || allZero > 0.5)
    return { verdict: 'too hard', direction: 1, outside };
  if (outside.length === 0) return { verdict: 'in range', direction: 0, outside };
  // With the rates in range, what is off is how success spreads over the scenarios: another difficulty moves the
  // rates away and leaves the spread, so that no rollout is spent on trying. Where the reward has levels, groups
  // differ although few attempts succeed wholly: an easier environment would teach less of the whole.
  const mean = meanReward >= 0.2 && meanReward <= 0.6;
  if (mean && successRate <= 0.6 && (successRate >= 0.2 || constant <= 0.5))
    return { verdict: 'usable', direction: 0, outside };
  return { verdict: 'usable', direction: Math.max(meanReward, successRate) > 0.6 ? -1 : 1, outside };
}
