import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '../engine/contract.js';
import { writeJsonWhole } from '../run/files.js';
import { deriveSeed } from '../run/random.js';
import { CheckpointFolder } from './checkpoint.js';
import { type GrpoOptions, type GrpoResult, trainGrpo } from './grpo.js';
import type { GrpoSettings } from './settings.js';
import type { TaskSource } from './tasks.js';

/** `summary.json` beside a trained adapter; written last, it says that the training is finished. */
export interface TrainingSummary {
  /** Digest of all that the training depended on. */
  readonly key: string;
  readonly name: string;
  /** Environments whose tasks were trained on. */
  readonly environments: readonly string[];
  readonly iterations: number;
  readonly stoppedEarly: boolean;
  /** Attempts sampled in all; those on held-out tasks are among them and named apart. */
  readonly rollouts: number;
  readonly heldOutRollouts: number;
  /** Success rate of the first and the last iteration's attempts. */
  readonly firstSuccess: number;
  readonly lastSuccess: number;
  /** The checkpoint that was kept, by its success on held-out tasks; null without evaluations. */
  readonly best: { readonly iteration: number; readonly success: number; readonly reward: number } | null;
  /** Share of all groups whose rewards were equal. */
  readonly constantGroups: number;
  readonly warnings: readonly string[];
  readonly settings: GrpoSettings;
}

/**
 * Trains an adapter into a PEFT folder: `adapter_config.json`, `adapter_model.safetensors`, `training.jsonl`,
 * `summary.json`; `checkpoints/` stands there while it runs. A finished folder of the same key is left alone, an
 * unfinished one is gone on with.
 * @throws what `trainGrpo` throws.
 */
export async function trainIntoFolder(
  engine: Engine,
  sources: readonly TaskSource[],
  options: GrpoOptions,
): Promise<{ readonly summary: TrainingSummary; readonly resumed: boolean }> {
  const { folder, key, name, settings } = options;
  const checkpoints = new CheckpointFolder(folder, key);
  const finished = readTrainingSummary(folder);
  if (finished?.key === key && existsSync(join(folder, 'adapter_model.safetensors'))) {
    checkpoints.clear();
    return { summary: finished, resumed: true };
  }
  const adapter = await engine.createAdapter({
    name,
    rank: settings.rank,
    alpha: settings.alpha,
    seed: deriveSeed(options.seed, 'adapter'),
  });
  let result: GrpoResult;
  try {
    result = await trainGrpo(engine, adapter, sources, options);
    await engine.saveAdapter(adapter, folder);
  } finally {
    await engine.release(adapter);
  }
  const summary = trainingSummary(result, sources, options);
  writeJsonWhole(join(folder, 'summary.json'), summary);
  checkpoints.clear();
  return { summary, resumed: false };
}

/** What `summary.json` says of a training. */
export function trainingSummary(
  result: GrpoResult,
  sources: readonly TaskSource[],
  { key, name, settings }: GrpoOptions,
): TrainingSummary {
  const { lines } = result;
  return {
    key,
    name,
    environments: sources.map(({ environment }) => environment.name),
    iterations: lines.length,
    stoppedEarly: result.stoppedEarly,
    rollouts: result.rollouts,
    heldOutRollouts: result.heldOutRollouts,
    firstSuccess: lines[0]?.success ?? 0,
    lastSuccess: lines.at(-1)?.success ?? 0,
    best: result.best,
    constantGroups:
      lines.reduce((sum, line) => sum + line.constantGroups, 0) /
      Math.max(
        1,
        lines.reduce((sum, line) => sum + line.groups, 0),
      ),
    warnings: result.warnings,
    settings,
  };
}

/** The summary of a finished training, or null. */
export function readTrainingSummary(folder: string): TrainingSummary | null {
  const path = join(folder, 'summary.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as TrainingSummary) : null;
}
