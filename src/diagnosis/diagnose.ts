import type { CapabilitiesFile } from '../analyst/capabilities-file.js';
import type { Analyst, Capability } from '../analyst/contract.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { labelAll } from './labelling.js';
import type { RaterFile } from './rater-file.js';
import { resultOf } from './result.js';
import { type DiagnosisSettings, diagnosisSettings } from './settings.js';

/** What of an analyst the diagnosis needs. */
export type Rating = Pick<
  Analyst,
  | 'name'
  | 'comparesWithReference'
  | 'concurrency'
  | 'discover'
  | 'label'
  | 'sees'
  | 'finish'
  | 'remarks'
  | 'preview'
  | 'standing'
>;

/** Whether an attempt takes part: it passed or failed. */
export const isJudged = ({ outcome }: Pick<Trajectory, 'outcome'>): boolean => outcome !== 'excluded';

/** Everything that a diagnosis finds. */
export interface Diagnosis {
  readonly candidates: readonly Capability[];
  readonly raters: readonly RaterFile[];
  readonly result: CapabilitiesFile;
}

export interface DiagnoseOptions extends Partial<DiagnosisSettings> {
  readonly seed: number;
  /** Called after each attempt that a rater labelled. */
  readonly onLabelled?: (done: number, total: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Step 1 of the method on trajectories in memory: discovery, N raters, contrast of failed with passed, K of N.
 * Deterministic for a deterministic analyst. Excluded trajectories are counted and left out; labels that the
 * analyst does not give are counted as missing.
 * @throws RangeError for contradictory settings or an id that occurs twice; Error when the evidence of a LACKING
 *   label is missing; `signal.reason` when aborted; what the analyst throws.
 */
export async function diagnose(
  all: readonly Trajectory[],
  analyst: Rating,
  options: DiagnoseOptions,
): Promise<Diagnosis> {
  const settings = diagnosisSettings(options);
  const trajectories = all.filter(isJudged);
  const ids = new Set<string>();
  for (const { id } of trajectories) {
    if (ids.has(id)) throw new RangeError(`two trajectories have the id ${id}`);
    ids.add(id);
  }
  const candidates = await analyst.discover(trajectories);
  const raters = await labelAll(trajectories, candidates, analyst, {
    raters: settings.raters,
    ...(options.signal ? { signal: options.signal } : {}),
    ...(options.onLabelled ? { onLabelled: options.onLabelled } : {}),
  });
  const result = resultOf(
    {
      attempts: trajectories.map(({ id, taskId, trial, outcome, termination }) => ({
        id,
        task: taskId,
        trial,
        outcome: outcome === 'passed' ? 'passed' : 'failed',
        termination,
      })),
      candidates,
      raters,
      excluded: all.length - trajectories.length,
      withoutReference: analyst.comparesWithReference
        ? trajectories.filter((trajectory) => !trajectory.reference).length
        : null,
      analyst: analyst.name,
      seed: options.seed,
    },
    settings,
  );
  const remarks = analyst.remarks?.() ?? [];
  return { candidates, raters, result: { ...result, warnings: [...result.warnings, ...remarks] } };
}
