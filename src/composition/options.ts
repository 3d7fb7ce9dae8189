/** Settings of step 4; the defaults are those of the embedded target. */
export interface CompositionOptions {
  /** Capabilities to compose, in the order of their slots; absent: every folder of `adapters/`, sorted. */
  readonly capabilities?: readonly string[];
  /** Attempts of each adapter in its own environment; the passed ones teach the gates. */
  readonly rollouts: number;
  /** Attempts of the mixture in each environment of two capabilities; 0 leaves that round out. */
  readonly pairRollouts: number;
  /** A reward of at least this is a pass. */
  readonly successThreshold: number;
  readonly epochs: number;
  readonly learningRate: number;
  /** Steps over which the learning rate rises from nothing. */
  readonly warmupSteps: number;
  /** Padded tokens in one gradient step. */
  readonly batchTokens: number;
  /** Attempts in flight at once. */
  readonly concurrency: number;
  /** Most new tokens in one assistant turn. */
  readonly maxTurnTokens: number;
}

export const COMPOSITION_DEFAULTS: CompositionOptions = {
  rollouts: 96,
  pairRollouts: 48,
  successThreshold: 1,
  epochs: 4,
  learningRate: 2e-2,
  warmupSteps: 5,
  batchTokens: 2048,
  concurrency: 64,
  maxTurnTokens: 64,
};

/** A smoke run: shows that the machinery works, not what it reaches. */
export const COMPOSITION_FAST: CompositionOptions = {
  ...COMPOSITION_DEFAULTS,
  rollouts: 32,
  pairRollouts: 8,
  epochs: 2,
};
