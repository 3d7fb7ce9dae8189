import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '../engine/contract.js';
import { loadEnvironment } from '../environment/sandbox/load.js';
import { digestJson, digestTree } from '../run/digest.js';
import { TraceError } from '../run/errors.js';
import { runPaths } from '../run/paths.js';
import { deriveSeed } from '../run/random.js';
import type { StepContext } from '../run/step.js';
import { type TrainingSummary, trainIntoFolder } from './adapter-folder.js';
import { GRPO_DEFAULTS, type GrpoSettings } from './settings.js';
import { proceduralTasks } from './tasks.js';
import type { TrainingLine } from './training-log.js';

export interface TrainingOptions extends GrpoSettings {
  /** Capabilities to train; absent: all with an accepted environment, in alphabetical order. */
  readonly capabilities?: readonly string[];
}

/**
 * The step `train`: one LoRA adapter for each capability with an accepted environment, by GRPO, into
 * `adapters/<capability>/`. Finished adapters are not trained again; a killed training goes on from its last
 * iteration.
 * @param options what is absent is taken from `GRPO_DEFAULTS`.
 * @throws TraceError when there is no environment to train on; what engine and environments throw.
 */
export async function runTraining(
  context: StepContext,
  options: Partial<TrainingOptions>,
  deps: { readonly engine: Engine },
): Promise<TrainingSummary[]> {
  const { folder, emit, seed, signal } = context;
  const { capabilities = acceptedCapabilities(folder), ...given } = options;
  const settings: GrpoSettings = { ...GRPO_DEFAULTS, ...given };
  if (capabilities.length === 0) {
    throw new TraceError(
      `there is no accepted environment in ${join(folder, 'environments')}`,
      'Write and check them first: `trace synthesize`; its checks say why one was not accepted.',
    );
  }
  const base = await deps.engine.hash({ kind: 'base' });
  const summaries: TrainingSummary[] = [];
  for (const name of capabilities) {
    signal.throwIfAborted();
    const source = runPaths.environment(folder, name);
    const environment = await loadEnvironment(source);
    const environmentDigest = digestTree(source);
    const { summary, resumed } = await trainIntoFolder(deps.engine, [proceduralTasks(environment)], {
      settings,
      name,
      seed: deriveSeed(seed, 'train', name),
      folder: runPaths.adapter(folder, name),
      key: digestJson({ base, environment: environmentDigest, settings, seed }),
      signal,
      ...trainingEvents(context, name, settings),
    });
    await environment.close?.();
    summaries.push(summary);
    if (resumed) {
      emit({ type: 'message', step: 'train', level: 'info', text: `${name} was trained before and stands` });
    }
  }
  return summaries;
}

/** Progress bars, curves and warnings of one training. */
export function trainingEvents(
  { emit }: Pick<StepContext, 'emit'>,
  task: string,
  settings: Pick<GrpoSettings, 'iterations'>,
) {
  return {
    onIteration(line: TrainingLine): void {
      const { iteration, reward, success, heldOut } = line;
      const note = `success ${success.toFixed(2)}${heldOut ? `, held out ${heldOut.success.toFixed(2)}` : ''}`;
      emit({
        type: 'progress',
        step: 'train',
        task,
        done: iteration,
        total: settings.iterations,
        unit: 'iterations',
        note,
      });
      const curve = (name: string, y: number) =>
        emit({ type: 'curve', step: 'train', task, name, x: line.rollouts, y });
      curve('reward', reward);
      curve('success', success);
      if (heldOut) curve('held-out success', heldOut.success);
    },
    onWarning(text: string): void {
      emit({ type: 'message', step: 'train', level: 'warning', text: `${task}: ${text}` });
    },
  };
}

/**
 * Capabilities with an environment that may be trained on: a module, and no `calibration.json` beside it that
 * says `"accepted": false`. Sorted.
 */
export function acceptedCapabilities(folder: string): string[] {
  const root = join(folder, 'environments');
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter((name) => existsSync(join(root, name, 'environment.ts')))
    .filter((name) => {
      const path = join(root, name, 'calibration.json');
      if (!existsSync(path)) return true;
      return (JSON.parse(readFileSync(path, 'utf8')) as { accepted?: boolean }).accepted !== false;
    })
    .sort();
}
