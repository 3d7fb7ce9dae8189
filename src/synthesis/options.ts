import { DEFAULT_MAX_TURN_TOKENS } from '../agent/contract.js';

/** Settings of step 2; the defaults are those of the embedded target. */
export interface SynthesisOptions {
  /** Seeds on which the oracle has to score 1 and cheats low. */
  readonly checkSeeds: number;
  /** Scenarios of one round of calibration, and attempts of the base model at each. */
  readonly calibrationSeeds: number;
  readonly calibrationGroup: number;
  /** Most rounds of changing the difficulty. */
  readonly rounds: number;
  /** Write an environment of each pair of accepted capabilities too; composition plays them. */
  readonly pairs: boolean;
  readonly successThreshold: number;
  readonly concurrency: number;
  readonly maxTurnTokens: number;
}

/**
 * The method calibrates with 100 seeds × 16 attempts. Here every rollout counts in the budget that the baselines get
 * too, so that 16 × 8 have to do: the success rate is then known to about ±0.08.
 */
export const SYNTHESIS_DEFAULTS: SynthesisOptions = {
  checkSeeds: 200,
  calibrationSeeds: 16,
  calibrationGroup: 8,
  rounds: 5,
  pairs: true,
  successThreshold: 1,
  concurrency: 64,
  maxTurnTokens: DEFAULT_MAX_TURN_TOKENS,
};

/** A smoke run: shows that the machinery works, not what it reaches. */
export const SYNTHESIS_FAST: SynthesisOptions = {
  ...SYNTHESIS_DEFAULTS,
  checkSeeds: 40,
  calibrationSeeds: 8,
  calibrationGroup: 8,
  rounds: 2,
};
