import { clusterBootstrap, percentileInterval } from './bootstrap.js';
import { criticalValue } from './normal.js';
import { wilson } from './proportion.js';
import { mean } from './summary.js';

/** How one task went over its repeated trials. */
export interface Trials {
  readonly passed: number;
  readonly n: number;
}

/** A rate over tasks with an interval. */
export interface RateEstimate {
  readonly k: number;
  /** Tasks with at least k trials: the others cannot tell. */
  readonly tasks: number;
  readonly rate: number;
  readonly interval: readonly [number, number];
}

function check({ passed, n }: Trials, k: number): void {
  if (!Number.isInteger(passed) || !Number.isInteger(n) || passed < 0 || passed > n)
    throw new RangeError(`trials need whole numbers 0 ≤ passed ≤ n, got ${passed} of ${n}`);
  if (!Number.isInteger(k) || k < 1 || k > n) throw new RangeError(`k must be between 1 and ${n}, got ${k}`);
}

/** Share of the k-subsets of n trials that lie within `chosen` of them: C(chosen, k) / C(n, k). */
function shareOfSubsets(chosen: number, n: number, k: number): number {
  let share = 1;
  for (let i = 0; i < k; i++) share *= Math.max(0, chosen - i) / (n - i);
  return share;
}

/**
 * Unbiased estimate of pass^k of one task, the probability that k trials all pass: C(c, k) / C(n, k).
 * Source: τ-bench (Yao et al. 2024, section 4).
 * @throws RangeError unless 0 ≤ passed ≤ n and 1 ≤ k ≤ n, whole numbers.
 */
export function passHatK(trials: Trials, k: number): number {
  check(trials, k);
  return shareOfSubsets(trials.passed, trials.n, k);
}

/**
 * Unbiased estimate of pass@k of one task, the probability that at least one of k trials passes:
 * 1 − C(n − c, k) / C(n, k). Source: Chen et al. 2021 (arXiv 2107.03374), section 2.1.
 * @throws RangeError unless 0 ≤ passed ≤ n and 1 ≤ k ≤ n, whole numbers.
 */
export function passAtK(trials: Trials, k: number): number {
  check(trials, k);
  return 1 - shareOfSubsets(trials.n - trials.passed, trials.n, k);
}

/**
 * Mean of a per-task estimate over the tasks with at least k trials, with a percentile bootstrap over tasks. Where
 * all tasks agree the bootstrap has no width; the interval is then Wilson's with the tasks as n, which is no
 * narrower than it should be: a value in [0, 1] with mean p varies at most as a proportion does, p(1 − p).
 * @returns null when no task has k trials.
 */
export function overTasks(
  tasks: readonly Trials[],
  k: number,
  estimate: (trials: Trials, k: number) => number,
  options: { readonly seed: number; readonly resamples: number; readonly confidence?: number },
): RateEstimate | null {
  const values = tasks.filter((trials) => trials.n >= k).map((trials) => estimate(trials, k));
  if (values.length === 0) return null;
  const rate = mean(values);
  const means = clusterBootstrap(
    values.length,
    (times) => values.reduce((sum, value, i) => sum + value * times[i]!, 0) / values.length,
    options,
  );
  const confidence = options.confidence ?? 0.95;
  const alike = values.every((value) => value === values[0]);
  // Adding equal values may leave a mean a rounding above 1.
  const within = Math.min(1, Math.max(0, rate));
  return {
    k,
    tasks: values.length,
    rate: within,
    interval: alike
      ? wilson(within * values.length, values.length, criticalValue(confidence))
      : percentileInterval(means, confidence),
  };
}
