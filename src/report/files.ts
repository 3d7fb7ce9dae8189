import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { InputError } from '../run/errors.js';
import { runPaths } from '../run/paths.js';

const share = z.number().min(-1).max(1);
const bounds = z.tuple([z.number(), z.number()]);
const cell = { split: z.string(), decoding: z.string() };
const paired = { difference: share, interval: bounds, p: z.number() };

/** The parts of `evaluation.json` that the report shows. */
export const evaluationSchema = z.object({
  target: z.string(),
  model: z.string(),
  seed: z.number(),
  systems: z.array(
    z.object({
      ...cell,
      name: z.string(),
      passed: z.number(),
      n: z.number(),
      rate: share,
      interval: bounds,
      rollouts: z.number(),
    }),
  ),
  comparisons: z.array(z.object({ ...cell, ...paired, of: z.string(), against: z.string() })),
  gains: z
    .array(
      z.object({
        ...cell,
        ...paired,
        capability: z.string().nullable(),
        needed: z.number().nullable(),
        n: z.number(),
        base: z.number(),
        mixture: z.number(),
      }),
    )
    .default([]),
  errors: z
    .array(
      z.object({
        ...cell,
        name: z.string(),
        failed: z.number(),
        kinds: z.array(z.object({ kind: z.string(), attempts: z.number() })),
      }),
    )
    .default([]),
  baselines: z.record(z.string(), z.unknown()).default({}),
});
export type EvaluationFile = z.output<typeof evaluationSchema>;

const trainingLine = z.object({
  iteration: z.number(),
  rollouts: z.number(),
  reward: z.number(),
  success: z.number(),
  heldOut: z.object({ success: z.number() }).optional(),
});

/** One training: its curve and what its summary says. */
export interface TrainingFile {
  readonly name: string;
  readonly lines: readonly z.output<typeof trainingLine>[];
  readonly summary: z.output<typeof summarySchema> | null;
}
const summarySchema = z.object({
  rollouts: z.number(),
  stoppedEarly: z.boolean().optional(),
  best: z.object({ iteration: z.number(), success: z.number() }).nullable().optional(),
  warnings: z.array(z.string()).default([]),
  settings: z.record(z.string(), z.unknown()).default({}),
});

const compositionSchema = z.object({
  slots: z.array(z.string()),
  gateParameters: z.number(),
  rollouts: z.number(),
  sources: z.array(
    z.object({ environment: z.string(), player: z.string(), attempts: z.number(), passed: z.number() }),
  ),
  fits: z.array(z.object({ examples: z.number(), steps: z.number(), epochLoss: z.array(z.number()) })),
});
export type CompositionFile = z.output<typeof compositionSchema>;

const routingSchema = z.object({
  task: z.string(),
  passed: z.boolean(),
  baseFails: z.boolean(),
  slots: z.array(z.string()),
  tokens: z.array(z.object({ text: z.string(), role: z.string(), slots: z.array(z.number()).optional() })),
  usage: z.object({ tasks: z.number(), share: z.array(z.array(z.number())) }),
});
export type RoutingFile = z.output<typeof routingSchema>;

const calibrationSchema = z.object({
  accepted: z.boolean(),
  verdict: z.string().nullable().optional(),
  reason: z.string().optional(),
  rollouts: z.number(),
  rounds: z.array(z.unknown()).default([]),
  figures: z.record(z.string(), z.unknown()).nullable().optional(),
});

const checksSchema = z.object({
  passed: z.boolean(),
  checks: z.array(z.object({ name: z.string(), passed: z.boolean(), detail: z.string() })),
});

/** An environment's folder: its card, calibration on the base model, and checks. */
export interface EnvironmentFile {
  readonly name: string;
  readonly card: string | null;
  readonly calibration: z.output<typeof calibrationSchema> | null;
  readonly checks: z.output<typeof checksSchema> | null;
}

const snapshotSchema = z.object({
  run: z.string(),
  version: z.string(),
  seed: z.number(),
  config: z.unknown(),
});

/** All that a run's folder holds for the report; what a run has not reached is null or empty. */
export interface RunFiles {
  readonly snapshot: z.output<typeof snapshotSchema> | null;
  readonly environments: readonly EnvironmentFile[];
  readonly adapters: readonly TrainingFile[];
  readonly baselines: readonly TrainingFile[];
  readonly composition: CompositionFile | null;
  readonly routing: RoutingFile | null;
  readonly evaluation: EvaluationFile | null;
}

/** Reads a run's folder. @throws InputError naming the file and field that cannot be read. */
export function readRunFiles(folder: string): RunFiles {
  return {
    snapshot: readJson(runPaths.run(folder), snapshotSchema),
    environments: folders(join(folder, 'environments'))
      .filter((name) => name !== 'pairs')
      .map((name) => readEnvironment(runPaths.environment(folder, name), name)),
    adapters: folders(join(folder, 'adapters')).map((name) =>
      readTraining(runPaths.adapter(folder, name), name),
    ),
    baselines: folders(join(folder, 'baselines')).map((name) =>
      readTraining(runPaths.baseline(folder, name), name),
    ),
    composition: readJson(join(runPaths.composed(folder), 'composition.json'), compositionSchema),
    routing: readJson(join(folder, 'evaluation', 'routing-example.json'), routingSchema),
    evaluation: readJson(runPaths.evaluation(folder), evaluationSchema),
  };
}

/** A JSON file by its schema; null when there is none. @throws InputError naming file and field. */
export function readJson<T extends z.ZodType>(path: string, schema: T): z.output<T> | null {
  if (!existsSync(path)) return null;
  return check(path, '', readFileSync(path, 'utf8'), schema);
}

function readEnvironment(folder: string, name: string): EnvironmentFile {
  const card = join(folder, 'CARD.md');
  return {
    name,
    card: existsSync(card) ? readFileSync(card, 'utf8') : null,
    calibration: readJson(join(folder, 'calibration.json'), calibrationSchema),
    checks: readJson(join(folder, 'checks.json'), checksSchema),
  };
}

function readTraining(folder: string, name: string): TrainingFile {
  const path = join(folder, 'training.jsonl');
  const texts = existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter((text) => text !== '')
    : [];
  return {
    name,
    lines: texts.map((text, i) => check(path, ` line ${i + 1}`, text, trainingLine)),
    summary: readJson(join(folder, 'summary.json'), summarySchema),
  };
}

function check<T extends z.ZodType>(path: string, place: string, text: string, schema: T): z.output<T> {
  const mend = 'Do the step again that writes this file, or mend it.';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InputError(`${path}${place}: not JSON (${(error as Error).message})`, mend);
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  throw new InputError(`${path}${place}: ${issue.path.join('.')}: ${issue.message}`, mend);
}

function folders(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}
