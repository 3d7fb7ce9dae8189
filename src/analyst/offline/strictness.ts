import { Random } from '../../run/random.js';

/** Where reasonable analysts differ: how strictly the detectors judge. */
export interface Strictness {
  /** The order of values inside a list argument counts. */
  readonly orderedLists: boolean;
  /** Equal calls in a row, or equal messages, that make a loop. */
  readonly loopLength: 3 | 4;
  /** A right write counts as unread when the record it touches, which the reference reads, was never read. */
  readonly readsRequired: boolean;
  /** A wrong value counts as chosen among alternatives only when it stands in the same result as the right one. */
  readonly sameResult: boolean;
  /** A refusal in words counts as one, not only a call that hands over. */
  readonly refusalInWords: boolean;
  /** A wrong change counts although the right one came after it. */
  readonly mendedCounts: boolean;
}

/** The middle of the road: what discovery uses. */
export const MODERATE: Strictness = {
  orderedLists: false,
  loopLength: 3,
  readsRequired: false,
  sameResult: false,
  refusalInWords: true,
  mendedCounts: false,
};

/** A rater's strictness: every switch on its own, a fair coin by seed and rater. */
export function strictnessOf(seed: number, rater: number): Strictness {
  const random = new Random(seed, '/strictness').fork(rater);
  return {
    orderedLists: random.chance(0.5),
    loopLength: random.chance(0.5) ? 3 : 4,
    readsRequired: random.chance(0.5),
    sameResult: random.chance(0.5),
    refusalInWords: random.chance(0.5),
    mendedCounts: random.chance(0.5),
  };
}
