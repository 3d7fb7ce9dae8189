import { z } from 'zod';

const fraction = z.number().min(0).max(1);
const count = z.int().min(1);
const positive = z.number().positive();

/** Attempts of the base model on the target's training split, the material of the diagnosis. */
const rollout = z.strictObject({
  /** Attempts at every training task. */
  trials: count.default(32),
  temperature: z.number().min(0).default(1),
  /** Most new tokens in one assistant turn. */
  maxTurnTokens: count.default(64),
  /** Attempts in flight at once; the engine batches them. */
  concurrency: count.default(64),
});

/** Step 1: retained is what `ratersNeeded` of `raters` find with coverage and gap at least these. */
const diagnose = z.strictObject({
  raters: count.default(10),
  ratersNeeded: count.default(8),
  /** ρ: share of failed attempts that lack the capability. */
  coverage: fraction.default(0.1),
  /** δ: error rate among failed minus error rate among passed attempts. */
  gap: fraction.default(0.2),
});

/** Step 2: checks and calibration of the written environments. */
const synthesize = z.strictObject({
  /** Seeds on which the oracle has to score 1 and the mistakes low. */
  checkSeeds: count.default(200),
  /** Seeds and rollouts a seed of the calibration on the base model. */
  calibrationSeeds: count.default(100),
  calibrationGroup: count.default(16),
  /** Most rounds of changing the difficulty. */
  rounds: count.default(5),
});

/** Step 3: GRPO, one LoRA a capability. */
const train = z.strictObject({
  rank: count.default(8),
  alpha: positive.default(16),
  /** Seeds an iteration, rollouts a seed. */
  groups: count.default(8),
  groupSize: z.int().min(2).default(8),
  iterations: count.default(20),
  /** Peak learning rate; it falls to a tenth. */
  learningRate: positive.default(8e-3),
  /** Held-out seeds of the environment, evaluated every `evaluateEvery` iterations. */
  heldOut: count.default(64),
  evaluateEvery: count.default(4),
});

/** Step 4: token-level top-1 gates over the frozen adapters. */
const compose = z.strictObject({
  /** Attempts in each capability's environment whose passed ones the gates are fitted to. */
  rollouts: count.default(96),
  /** Attempts of the mixture in each environment of two capabilities. */
  pairRollouts: z.int().min(0).default(48),
  epochs: count.default(4),
  learningRate: positive.default(2e-2),
});

/** What the mixture is compared with, at equal total rollouts. */
const baselines = z.strictObject({
  mixedLora: z.boolean().default(true),
  directGrpo: z.boolean().default(true),
  merges: z.boolean().default(true),
});

const evaluate = z.strictObject({
  /** Held-out tasks of every split. */
  tasks: count.default(512),
  splits: z
    .array(z.enum(['test', 'shift']))
    .min(1)
    .default(['test', 'shift']),
  decodings: z
    .array(z.enum(['sample', 'greedy']))
    .min(1)
    .default(['sample', 'greedy']),
});

/** The whole of `trace.config.*`; every field has a default. */
export const configSchema = z.strictObject({
  /** `desk`, or the path of a module whose default export is a `Target`. */
  target: z.string().min(1).default('desk'),
  /** `desk-base`, or the path of a Hugging Face folder (Qwen3 family). */
  model: z.string().min(1).default('desk-base'),
  /** The seed of everything. */
  seed: z.int().min(0).default(1),
  /** Who discovers, labels and writes environments: `offline` needs no model and no key. */
  analyst: z.enum(['offline']).default('offline'),
  rollout: rollout.prefault({}),
  diagnose: diagnose.prefault({}),
  synthesize: synthesize.prefault({}),
  train: train.prefault({}),
  compose: compose.prefault({}),
  baselines: baselines.prefault({}),
  evaluate: evaluate.prefault({}),
});

/** A configuration as a project writes it: every field optional. */
export type TraceConfigInput = z.input<typeof configSchema>;
/** A configuration with its defaults filled in. */
export type TraceConfig = z.output<typeof configSchema>;

/**
 * Types a `trace.config.ts`.
 *
 * @example
 * import { defineConfig } from 'trace-agents';
 * export default defineConfig({ target: 'desk' });
 */
export function defineConfig(config: TraceConfigInput): TraceConfigInput {
  return config;
}
