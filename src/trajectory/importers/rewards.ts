import type { Trajectory } from '../trajectory.js';

/** A score of at least this is a pass where nothing else is said: full marks, but for rounding. */
export const FULL_MARKS = 1 - 1e-6;

export interface ScoreVerdict extends Pick<Trajectory, 'reward' | 'outcome'> {
  /** Said where the score alone does not tell; goes into the metadata. */
  readonly excluded?: string;
}

/**
 * What a score says of an attempt. Scores outside [0, 1] have no natural pass mark: they need `passAt`, and the reward
 * is then 1 or 0.
 */
export function scoreVerdict(score: number, passAt: number | undefined): ScoreVerdict {
  const natural = score >= 0 && score <= 1;
  if (!natural && passAt === undefined)
    return {
      reward: null,
      outcome: 'excluded',
      excluded: `score ${score} lies outside [0, 1]: say with --pass-at what a pass is`,
    };
  const passed = score >= (passAt ?? FULL_MARKS);
  return { reward: natural ? score : passed ? 1 : 0, outcome: passed ? 'passed' : 'failed' };
}

/** No verdict at all, and why. */
export function withoutVerdict(excluded: string): ScoreVerdict {
  return { reward: null, outcome: 'excluded', excluded };
}
