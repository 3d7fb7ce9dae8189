import { z } from 'zod';

const fraction = z.number().min(0).max(1);
const count = z.int().min(1);
const positive = z.number().positive();

/** Attempts of the base model on the target's training split, the material of the diagnosis. */
const rollout = z.strictObject({
  /** Most and fewest attempts at every training task. */
  trials: count.optional(),
  minTrials: count.optional(),
  /** Passed attempts that the diagnosis needs for its contrast: sampling goes on until they are there. */
  passedNeeded: z.int().min(0).optional(),
  temperature: z.number().min(0).optional(),
  /** Most new tokens in one assistant turn. */
  maxTurnTokens: count.optional(),
  /** Attempts in flight at once; the engine batches them. */
  concurrency: count.optional(),
});

/** Step 1: retained is what `ratersNeeded` of `raters` find with coverage and gap at least these. */
const diagnose = z.strictObject({
  raters: count.optional(),
  ratersNeeded: count.optional(),
  /** ρ: share of failed attempts that lack the capability. */
  coverage: fraction.optional(),
  /** δ: error rate among failed minus error rate among passed attempts. */
  gap: fraction.optional(),
});

/** Step 2: checks and calibration of the written environments. */
const synthesize = z.strictObject({
  /** Seeds on which the oracle has to score 1 and the mistakes low. */
  checkSeeds: count.optional(),
  /** Seeds and rollouts a seed of the calibration on the base model. */
  calibrationSeeds: count.optional(),
  calibrationGroup: count.optional(),
  /** Most rounds of changing the difficulty. */
  rounds: count.optional(),
  /** Write an environment of each pair of accepted capabilities too. */
  pairs: z.boolean().optional(),
  concurrency: count.optional(),
  maxTurnTokens: count.optional(),
});

/** Step 3: GRPO, one LoRA a capability. */
const train = z.strictObject({
  rank: count.optional(),
  alpha: positive.optional(),
  iterations: count.optional(),
  /** Tasks in a batch, and attempts at each. */
  groups: count.optional(),
  groupSize: z.int().min(2).optional(),
  /** Peak learning rate, iterations over which it rises, share after which it falls, and to what share. */
  learningRate: positive.optional(),
  warmup: z.int().min(0).optional(),
  fallFrom: fraction.optional(),
  finalShare: fraction.optional(),
  /** Bounds of the ratio in the PPO loss, absolute. */
  clipLow: fraction.optional(),
  clipHigh: z.number().min(1).optional(),
  /** Most L2 norm of the gradient; 0: unbounded. */
  gradientClip: z.number().min(0).optional(),
  normalisation: z.enum(['mean', 'mean-std']).optional(),
  aggregation: z.enum(['token', 'sequence']).optional(),
  /** Share of a group's attempts that see the hint; it is taken out before the gradient. */
  hintShare: fraction.optional(),
  dropReadTurns: z.boolean().optional(),
  temperature: positive.optional(),
  maxTurnTokens: count.optional(),
  concurrency: count.optional(),
  /** Held-out tasks of one evaluation, and iterations between evaluations. */
  heldOut: z.int().min(0).optional(),
  evaluateEvery: count.optional(),
  /** Training stops once the held-out success is at least `stopAt` in `stopAfter` evaluations in a row. */
  stopAt: fraction.optional(),
  stopAfter: count.optional(),
});

/** Step 4: token-level top-1 gates over the frozen adapters. */
const compose = z.strictObject({
  /** Attempts of each adapter in its own environment; the passed ones teach the gates. */
  rollouts: count.optional(),
  /** Attempts of the mixture in each environment of two capabilities. */
  pairRollouts: z.int().min(0).optional(),
  epochs: count.optional(),
  learningRate: positive.optional(),
  warmupSteps: z.int().min(0).optional(),
  /** Padded tokens in one gradient step. */
  batchTokens: count.optional(),
  concurrency: count.optional(),
  maxTurnTokens: count.optional(),
});

/** What the mixture is compared with, at equal total rollouts. */
const baselines = z.strictObject({
  mixedLora: z.boolean().optional(),
  directGrpo: z.boolean().optional(),
  /** Training tasks of direct GRPO; absent: the whole compound split. */
  targetTasks: count.optional(),
});

const evaluate = z.strictObject({
  /** Held-out tasks of every split, and how many at its beginning are left out. */
  tasks: count.optional(),
  skip: z.int().min(0).optional(),
  splits: z
    .array(z.enum(['test', 'shift']))
    .min(1)
    .optional(),
  decodings: z
    .array(z.enum(['sample', 'greedy']))
    .min(1)
    .optional(),
  /** Whether the average and the sum of the adapters are evaluated too. */
  merges: z.boolean().optional(),
  concurrency: count.optional(),
  maxTurnTokens: count.optional(),
});

const reading = {
  /** Folder of prompts; absent: told by the attempts. */
  family: z.enum(['general', 'tool-use', 'code-repair']).optional(),
  /** Most candidate capabilities. */
  candidates: count.optional(),
  /** Most tokens, estimated, in which an attempt is shown to a rater. */
  trajectoryTokens: z.int().min(500).optional(),
  /** Most attempts that discovery reads, and most tokens of them in one request. */
  discoverAttempts: z.int().min(2).optional(),
  batchTokens: z.int().min(1_000).optional(),
  /** Show the target's reference solution to the raters. */
  showReference: z.boolean().optional(),
};

/** Settings of analysts that answer by prompts (docs/analysts.md). */
const analystObject = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('offline') }),
  z.strictObject({ kind: z.literal('handoff'), ...reading }),
  z.strictObject({
    kind: z.literal('llm'),
    ...reading,
    /** `openai-compatible`, `anthropic`, or the npm package of an AI SDK provider. */
    provider: z.string().min(1).optional(),
    model: z.string().min(1),
    baseUrl: z.url().optional(),
    /** Environment variable that holds the key; keys stand in no file. */
    apiKeyEnv: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable, never the key itself')
      .optional(),
    temperature: z.number().min(0).optional(),
    maxOutputTokens: count.optional(),
    /** Passed on to the provider with every request. */
    options: z.record(z.string(), z.json()).optional(),
    concurrency: count.optional(),
    timeoutSeconds: positive.optional(),
    retries: z.int().min(0).optional(),
    backoffSeconds: positive.optional(),
    tries: count.optional(),
    /** Hard stops over all requests of a run. */
    budget: z.strictObject({ tokens: count.optional(), usd: positive.optional() }).optional(),
    /** US dollars for a million tokens. */
    price: z
      .strictObject({
        input: z.number().min(0),
        output: z.number().min(0),
        cachedInput: z.number().min(0).optional(),
      })
      .optional(),
  }),
]);

/** The analyst of a configuration: one that needs no settings by its name, or its settings. */
export const analystSchema = z.union([z.enum(['offline', 'handoff']), analystObject]);

/**
 * The whole of `trace.config.*`. Every field may be left out: the settings of a step that are not named here are the
 * step's own defaults (docs/configuration.md).
 */
export const configSchema = z.strictObject({
  /** `desk`, or the path of a module whose default export is a `Target`. */
  target: z.string().min(1).default('desk'),
  /** `desk-base`, or the path of a Hugging Face folder (Qwen3 family). */
  model: z.string().min(1).default('desk-base'),
  /** The seed of everything. */
  seed: z.int().min(0).default(1),
  /** Who discovers and labels: `offline` needs no model and no key. */
  analyst: analystSchema.default('offline'),
  /** Threads of the engine, one core each; another number gives other last digits. */
  threads: count.default(2),
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
/** A checked configuration; every section is there, maybe empty. */
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
