import { DEFAULT_MAX_TURN_TOKENS } from '../agent/contract.js';
import type { AdvantageNormalisation } from './advantages.js';

/** Settings of one GRPO training. */
export interface GrpoSettings {
  /** LoRA rank and alpha: the adapter's change of a weight is scaled by alpha / rank. */
  readonly rank: number;
  readonly alpha: number;
  /** Iterations: one batch of attempts, one step of the optimizer. */
  readonly iterations: number;
  /** Tasks in a batch, and attempts at each. */
  readonly groups: number;
  readonly groupSize: number;
  readonly learningRate: number;
  /** Iterations over which the learning rate rises. */
  readonly warmup: number;
  /** Share of the iterations after which it falls, linearly, to `finalShare` of its peak. */
  readonly fallFrom: number;
  readonly finalShare: number;
  /** Bounds of the ratio in the PPO loss, absolute. */
  readonly clipLow: number;
  readonly clipHigh: number;
  /** Most L2 norm of the gradient; 0: unbounded. */
  readonly gradientClip: number;
  readonly normalisation: AdvantageNormalisation;
  /** `token`: every token counts the same. `sequence`: every sequence does (1/T inside it). */
  readonly aggregation: 'token' | 'sequence';
  /** Share of a group's attempts that see the hint; it is taken out of the prompt before the gradient. */
  readonly hintShare: number;
  /** Leave turns out of the gradient that only read; at least one turn of an attempt stays. */
  readonly dropReadTurns: boolean;
  readonly temperature: number;
  readonly maxTurnTokens: number;
  /** Attempts in flight at once. */
  readonly concurrency: number;
  /** Held-out tasks of one evaluation; 0: none, and the last checkpoint is the best. */
  readonly heldOut: number;
  /** Iterations between evaluations; the last iteration always has one. */
  readonly evaluateEvery: number;
  /** Training stops once the held-out success is at least `stopAt` in `stopAfter` evaluations in a row. Above 1: never. */
  readonly stopAt: number;
  readonly stopAfter: number;
}

/**
 * For models of about a million parameters: small updates at a high learning rate, advantages without the division
 * by the standard deviation. At twice the learning rate and half the groups a policy can lose its randomness within
 * five iterations, before it has seen both sides of a decision.
 */
export const GRPO_DEFAULTS: GrpoSettings = {
  rank: 8,
  alpha: 16,
  iterations: 32,
  groups: 16,
  groupSize: 8,
  learningRate: 4e-3,
  warmup: 3,
  fallFrom: 0.4,
  finalShare: 0.1,
  clipLow: 0.8,
  clipHigh: 1.28,
  gradientClip: 1,
  normalisation: 'mean',
  aggregation: 'token',
  hintShare: 0,
  dropReadTurns: false,
  temperature: 1,
  maxTurnTokens: DEFAULT_MAX_TURN_TOKENS,
  concurrency: 64,
  heldOut: 64,
  evaluateEvery: 4,
  stopAt: 0.98,
  stopAfter: 2,
};

/** A smoke run: shows that the machinery works, not what it reaches. */
export const GRPO_FAST: GrpoSettings = {
  ...GRPO_DEFAULTS,
  iterations: 3,
  heldOut: 16,
  evaluateEvery: 3,
};

/**
 * The learning rate of an iteration (from 0): a linear rise over `warmup` iterations, flat until `fallFrom`, then a
 * linear fall that would reach `finalShare` at the end.
 */
export function learningRateAt(settings: GrpoSettings, iteration: number): number {
  const { learningRate, warmup, fallFrom, finalShare, iterations } = settings;
  const rise = Math.min(1, (iteration + 1) / Math.max(1, warmup));
  const past = Math.max(0, iteration / iterations - fallFrom) / (1 - fallFrom || 1);
  return learningRate * rise * (1 - (1 - finalShare) * Math.min(1, past));
}

/** Whether an evaluation follows an iteration (from 0). */
export function evaluatesAfter(settings: GrpoSettings, iteration: number): boolean {
  if (settings.heldOut === 0) return false;
  return (iteration + 1) % settings.evaluateEvery === 0 || iteration + 1 === settings.iterations;
}

/** Attempts that a whole training costs when nothing stops it early, evaluations counted. */
export function plannedRollouts(settings: GrpoSettings): number {
  let evaluations = 0;
  for (let i = 0; i < settings.iterations; i++) if (evaluatesAfter(settings, i)) evaluations++;
  return settings.iterations * settings.groups * settings.groupSize + evaluations * settings.heldOut;
}

/**
 * The same settings with as many iterations as a budget of rollouts allows, evaluations counted: for comparisons
 * at equal total rollouts. There are as many evaluations to choose a checkpoint by as in `trainings` trainings of
 * the given settings.
 * @throws RangeError when the budget does not pay for one iteration.
 */
export function withBudget(settings: GrpoSettings, rollouts: number, trainings = 1): GrpoSettings {
  const each = settings.heldOut === 0 ? 0 : Math.ceil(settings.iterations / settings.evaluateEvery);
  const batch = settings.groups * settings.groupSize;
  for (let iterations = Math.floor(rollouts / batch); iterations > 0; iterations--) {
    const evaluateEvery = Math.max(1, Math.ceil(iterations / Math.max(1, trainings * each)));
    const fitted = { ...settings, iterations, evaluateEvery };
    if (plannedRollouts(fitted) <= rollouts) return fitted;
  }
  throw new RangeError(`${rollouts} rollouts do not pay for one iteration of ${batch} and its evaluation`);
}
