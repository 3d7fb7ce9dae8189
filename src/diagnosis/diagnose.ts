import type { CapabilitiesFile } from '../analyst/capabilities-file.js';
import type { Analyst, Capability, LabelledPair } from '../analyst/contract.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { type RaterFile, raterFile } from './rater-file.js';
import { resultOf } from './result.js';
import { type DiagnosisSettings, diagnosisSettings } from './settings.js';

/** What of an analyst the diagnosis needs. */
export type Rating = Pick<Analyst, 'name' | 'comparesWithReference' | 'discover' | 'label' | 'sees'>;

/** Everything that a diagnosis finds. */
export interface Diagnosis {
  readonly candidates: readonly Capability[];
  readonly raters: readonly RaterFile[];
  readonly result: CapabilitiesFile;
}

export interface DiagnoseOptions extends Partial<DiagnosisSettings> {
  readonly seed: number;
  /** Called after each rater. */
  readonly onRater?: (done: number, total: number) => void;
  readonly signal?: AbortSignal;
}

/** The labels of the candidates; one that the analyst could not give is left out, never guessed. */
function checkedPairs(
  pairs: readonly LabelledPair[],
  candidates: readonly Capability[],
  id: string,
): LabelledPair[] {
  return candidates.flatMap(({ name }) => {
    const pair = pairs.find((candidate) => candidate.capability === name);
    if (pair?.label === 'LACKING' && !pair.evidence)
      throw new Error(`trajectory ${id} is called LACKING in ${name} without evidence`);
    return pair ? [pair] : [];
  });
}

/**
 * Step 1 of the method on trajectories in memory: discovery, N raters, contrast of failed with passed, K of N.
 * Deterministic for a deterministic analyst. Excluded trajectories are counted and left out; labels that the
 * analyst does not give are counted as missing.
 * @throws RangeError for contradictory settings or an id that occurs twice; Error when the evidence of a LACKING
 *   label is missing; `signal.reason` when aborted.
 */
export async function diagnose(
  all: readonly Trajectory[],
  analyst: Rating,
  options: DiagnoseOptions,
): Promise<Diagnosis> {
  const settings = diagnosisSettings(options);
  const trajectories = all.filter((trajectory) => trajectory.outcome !== 'excluded');
  const ids = new Set<string>();
  for (const { id } of trajectories) {
    if (ids.has(id)) throw new RangeError(`two trajectories have the id ${id}`);
    ids.add(id);
  }
  const candidates = await analyst.discover(trajectories);
  const names = candidates.map((candidate) => candidate.name);
  const raters: RaterFile[] = [];
  for (let rater = 0; rater < settings.raters; rater++) {
    const seen = analyst.sees ? analyst.sees(trajectories, rater) : trajectories;
    const labels: LabelledPair[][] = [];
    for (const trajectory of seen) {
      options.signal?.throwIfAborted();
      labels.push(
        checkedPairs(await analyst.label(trajectory, candidates, rater), candidates, trajectory.id),
      );
    }
    raters.push(raterFile(rater, seen, labels, names));
    options.onRater?.(rater + 1, settings.raters);
  }
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
  return { candidates, raters, result };
}
