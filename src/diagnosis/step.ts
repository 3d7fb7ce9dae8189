import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CapabilitiesFile } from '../analyst/capabilities-file.js';
import { OfflineRaters } from '../analyst/offline/offline.js';
import { InputError } from '../run/errors.js';
import { runPaths } from '../run/paths.js';
import type { StepContext } from '../run/step.js';
import { readTrajectories } from '../trajectory/store.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { diagnose, type Rating } from './diagnose.js';
import { writeDiagnosis } from './files.js';
import type { DiagnosisSettings } from './settings.js';

export interface DiagnosisParts {
  /** Who discovers and labels; absent: the offline analyst with the run's seed. */
  readonly analyst?: Rating;
}

/**
 * The step `diagnose` of a run: reads the base model's rollouts, writes `diagnosis/`. Quick and deterministic, so
 * a killed step is simply done again.
 * @returns what was found, as in `capabilities.json`.
 * @throws InputError when there are no rollouts; InvalidRecordError for a damaged file; RangeError for settings
 *   that contradict each other; `context.signal.reason` when aborted.
 */
export async function runDiagnosis(
  context: StepContext,
  settings: Partial<DiagnosisSettings> = {},
  { analyst = new OfflineRaters({ seed: context.seed }) }: DiagnosisParts = {},
): Promise<CapabilitiesFile> {
  const path = runPaths.baseTrajectories(context.folder);
  if (!existsSync(path))
    throw new InputError(`${path}: there are no rollouts to diagnose`, 'Run the step `rollout` first.');
  const trajectories: Trajectory[] = [];
  for await (const trajectory of readTrajectories(path)) trajectories.push(trajectory);
  const diagnosis = await diagnose(trajectories, analyst, {
    ...settings,
    seed: context.seed,
    signal: context.signal,
    onRater: (done, total) =>
      context.emit({ type: 'progress', step: 'diagnose', task: 'raters', done, total, unit: 'raters' }),
  });
  for (const text of diagnosis.result.warnings)
    context.emit({ type: 'message', step: 'diagnose', level: 'warning', text });
  const folder = dirname(runPaths.capabilities(context.folder));
  // Rater files of an earlier try with more raters would be taken for this one's.
  rmSync(join(folder, 'raters'), { recursive: true, force: true });
  writeDiagnosis(folder, diagnosis);
  return diagnosis.result;
}

/** One line for people: what is missing. */
export function diagnosisSummary({ capabilities, trajectories }: CapabilitiesFile): string {
  const missing = capabilities
    .filter((capability) => capability.retained)
    .map((capability) => capability.name);
  const counted = `${trajectories.failed} failed against ${trajectories.passed} passed`;
  return missing.length === 0
    ? `${counted}: nothing found that is missing`
    : `${counted}: missing ${missing.join(', ')}`;
}
