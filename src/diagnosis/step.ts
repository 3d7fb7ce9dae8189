import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CapabilitiesFile } from '../analyst/capabilities-file.js';
import { OfflineRaters } from '../analyst/offline/offline.js';
import { InputError } from '../run/errors.js';
import { runPaths } from '../run/paths.js';
import type { StepContext } from '../run/step.js';
import { readTrajectories } from '../trajectory/store.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { diagnose, isJudged, type Rating } from './diagnose.js';
import { writeDiagnosis } from './files.js';
import { type DiagnosisSettings, diagnosisSettings } from './settings.js';

export interface DiagnosisParts {
  /** Who discovers and labels; absent: the offline analyst with the run's seed. */
  readonly analyst?: Rating;
}

/**
 * The step `diagnose` of a run: reads the base model's rollouts, writes `diagnosis/`. A killed step is simply done
 * again: offline it is quick, and what a language model answered is in the journal.
 * @returns what was found, as in `capabilities.json`.
 * @throws InputError when there are no rollouts; InvalidRecordError for a damaged file; RangeError for settings
 *   that contradict each other; `context.signal.reason` when aborted; what the analyst throws.
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
  const say = (text: string) => context.emit({ type: 'message', step: 'diagnose', level: 'info', text });
  const { raters } = diagnosisSettings(settings);
  for (const line of analyst.preview?.(trajectories.filter(isJudged), raters) ?? []) say(line);
  const diagnosis = await diagnose(trajectories, analyst, {
    ...settings,
    seed: context.seed,
    signal: context.signal,
    onLabelled: (done, total) => {
      const note = analyst.standing?.();
      context.emit({
        type: 'progress',
        step: 'diagnose',
        task: 'raters',
        done,
        total,
        unit: 'attempts',
        ...(note ? { note } : {}),
      });
    },
  });
  for (const text of diagnosis.result.warnings)
    context.emit({ type: 'message', step: 'diagnose', level: 'warning', text });
  const folder = dirname(runPaths.capabilities(context.folder));
  // Rater files of an earlier try with more raters would be taken for this one's.
  rmSync(join(folder, 'raters'), { recursive: true, force: true });
  writeDiagnosis(folder, diagnosis);
  const standing = analyst.standing?.();
  if (standing) say(standing);
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
