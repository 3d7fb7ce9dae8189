import type { PolicyRef } from '../engine/contract.js';
import type { Scenario, Score } from '../environment/contract.js';
import type { Message } from '../trajectory/trajectory.js';

/** One attempt to run: which task, which attempt at it, with a hint or not. */
export interface RolloutRequest {
  /** Seed of the scenario. */
  readonly scenario: number;
  /** Attempt number; with the scenario seed and `RolloutOptions.seed` it fixes every random choice. */
  readonly trial: number;
  readonly hint?: boolean;
}

/**
 * An exact token sequence of an episode, as sampled: `sampled[t]` tells whether `tokens[t]` came from the
 * policy, `logprobs[t]` is its log-probability then (0 where it did not). Text is never re-tokenised; where the
 * next prompt is not an exact extension of what was sampled, a new sequence starts.
 */
export interface TokenSequence {
  readonly tokens: readonly number[];
  readonly sampled: readonly boolean[];
  readonly logprobs: readonly number[];
  /** Tokens of the leading prompt (system and first messages), and of the same prompt without the hint. */
  readonly promptLength: number;
  readonly promptWithoutHint?: readonly number[];
  /** routes[t][layer] for sampled tokens, when asked for; empty arrays elsewhere. */
  readonly routes?: readonly (readonly number[])[];
}

/** A finished attempt. */
export interface Rollout<S extends Scenario = Scenario> {
  readonly request: RolloutRequest;
  readonly scenario: S;
  readonly messages: readonly Message[];
  readonly score: Score;
  readonly termination: string;
  readonly turns: number;
  readonly sequences: readonly TokenSequence[];
  /** The infrastructure broke (not the agent): the attempt is neither passed nor failed. */
  readonly broken?: string;
}

export interface RolloutOptions {
  readonly policy: PolicyRef;
  /** 0 is greedy. */
  readonly temperature: number;
  readonly seed: number;
  /** Most new tokens in one assistant turn. */
  readonly maxTurnTokens: number;
  /** Attempts in flight at once; the engine batches them. */
  readonly concurrency: number;
  readonly routes?: boolean;
  readonly signal?: AbortSignal;
  readonly onDone?: (done: number, total: number) => void;
}

/** The default of `maxTurnTokens` for small models. */
export const DEFAULT_MAX_TURN_TOKENS = 64;
