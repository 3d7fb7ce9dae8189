import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '../engine/contract.js';
import type { Target } from '../environment/contract.js';
import { type LoadedEnvironment, loadEnvironment } from '../environment/sandbox/load.js';
import { digestJson, digestTree } from '../run/digest.js';
import { runPaths } from '../run/paths.js';
import { deriveSeed } from '../run/random.js';
import type { StepContext } from '../run/step.js';
import { type TrainingSummary, trainIntoFolder } from './adapter-folder.js';
import { GRPO_DEFAULTS, type GrpoSettings, withBudget } from './settings.js';
import { fixedTasks, proceduralTasks, type TaskSource } from './tasks.js';
import { acceptedCapabilities, trainingEvents } from './train-step.js';

export interface BaselineOptions extends GrpoSettings {
  /** Rollouts that each baseline may spend, evaluations counted: as many as the mixture it is compared with. */
  readonly rollouts: number;
  /** One LoRA on all capability environments and their pairs at once. */
  readonly mixedLora: boolean;
  /** One LoRA by GRPO on the target's own compound training tasks. */
  readonly directGrpo: boolean;
  /** Training tasks of direct GRPO; absent: the whole split. */
  readonly targetTasks?: number;
}

/**
 * What the mixture is compared with: LoRA adapters of the same optimizer, schedule and budget, into
 * `baselines/mixed-lora/` and `baselines/direct-grpo/`. Their checkpoints are chosen on held-out tasks of the
 * environments, and of the target's validation split; the test splits are never looked at.
 * @throws RangeError when the budget does not pay for an iteration; what `trainGrpo` throws.
 */
export async function runBaselines(
  context: StepContext,
  options: Partial<BaselineOptions> & Pick<BaselineOptions, 'rollouts'>,
  deps: { readonly engine: Engine; readonly target: Target },
): Promise<TrainingSummary[]> {
  const { rollouts, mixedLora = true, directGrpo = true, targetTasks, ...given } = options;
  const { folder, seed } = context;
  // As many looks at held-out tasks as all adapters had together.
  const adapters = Math.max(1, acceptedCapabilities(folder).length);
  // They spend what they may: stopping early would make the comparison unequal.
  const settings = withBudget({ ...GRPO_DEFAULTS, ...given, stopAt: 2 }, rollouts, adapters);
  const base = await deps.engine.hash({ kind: 'base' });
  const train = async (name: string, sources: readonly TaskSource[], material: unknown) => {
    context.signal.throwIfAborted();
    const { summary } = await trainIntoFolder(deps.engine, sources, {
      settings,
      name,
      seed: deriveSeed(seed, 'baseline', name),
      folder: runPaths.baseline(folder, name),
      key: digestJson({ base, material, settings, seed }),
      signal: context.signal,
      ...trainingEvents(context, name, settings),
    });
    return summary;
  };
  const summaries: TrainingSummary[] = [];
  if (mixedLora) {
    const folders = mixedEnvironments(folder);
    const environments: LoadedEnvironment[] = [];
    for (const path of folders) environments.push(await loadEnvironment(path));
    const sources = environments.map((environment) => proceduralTasks(environment));
    summaries.push(await train('mixed-lora', sources, folders.map(digestTree)));
    for (const environment of environments) await environment.close?.();
  }
  if (directGrpo) {
    const { target } = deps;
    const source = fixedTasks(
      target,
      'train-compound',
      deriveSeed(seed, 'direct-grpo', 'order'),
      targetTasks,
    );
    const material = { target: target.name, tasks: target.split('train-compound', targetTasks) };
    summaries.push(await train('direct-grpo', [source], material));
  }
  return summaries;
}

/** Folders of all accepted capability environments and of the pairs, sorted. */
function mixedEnvironments(folder: string): string[] {
  const singles = acceptedCapabilities(folder).map((name) => runPaths.environment(folder, name));
  const pairs = runPaths.environment(folder, 'pairs');
  if (!existsSync(pairs)) return singles;
  const names = readdirSync(pairs).filter((name) => existsSync(join(pairs, name, 'environment.ts')));
  return [...singles, ...names.sort().map((name) => join(pairs, name))];
}
