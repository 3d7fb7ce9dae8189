import { criticalValue } from './normal.js';
import { wilson } from './proportion.js';

/** A difference with the ends of its interval. */
export interface DifferenceEstimate {
  readonly difference: number;
  readonly interval: readonly [number, number];
}

/**
 * Difference p1 − p2 of two independent proportions with Newcombe's hybrid score interval
 * (Newcombe 1998, Statistics in Medicine 17:873–890, method 10). A group without members counts as proportion
 * 0 with the interval [0, 1].
 * @throws RangeError for counts outside [0, n].
 */
export function newcombeDifference(
  successes1: number,
  n1: number,
  successes2: number,
  n2: number,
  confidence = 0.95,
): DifferenceEstimate {
  const z = criticalValue(confidence);
  const interval = (successes: number, n: number) => (n === 0 ? ([0, 1] as const) : wilson(successes, n, z));
  const [low1, high1] = interval(successes1, n1);
  const [low2, high2] = interval(successes2, n2);
  const p1 = n1 === 0 ? 0 : successes1 / n1;
  const p2 = n2 === 0 ? 0 : successes2 / n2;
  const difference = p1 - p2;
  return {
    difference,
    interval: [
      Math.max(-1, difference - Math.hypot(p1 - low1, high2 - p2)),
      Math.min(1, difference + Math.hypot(high1 - p1, p2 - low2)),
    ],
  };
}
