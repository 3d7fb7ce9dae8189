import type { Analyst, Capability, LabelledPair } from '../analyst/contract.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import type { CapabilitiesFile, DiagnosedCapability, UnexplainedFailure } from './capabilities-file.js';
import { type Consensus, consensusOf, evidenceFor } from './consensus.js';
import { selectCapabilities } from './contrast.js';
import { type RaterFile, raterFile } from './rater-file.js';
import { type DiagnosisSettings, diagnosisSettings } from './settings.js';

/** What of an analyst the diagnosis needs. */
export type Rating = Pick<Analyst, 'name' | 'discover' | 'label' | 'sees'>;

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

const MOST_EXAMPLES = 8;
/** Below this many attempts of a kind, the figures say little; the reader is told. */
const FEW = 10;

/** A label per candidate, whatever the analyst hands back: a missing one is a bug worth a clear word. */
function completed(
  pairs: readonly LabelledPair[],
  candidates: readonly Capability[],
  id: string,
): LabelledPair[] {
  return candidates.map(({ name }) => {
    const pair = pairs.find((candidate) => candidate.capability === name);
    if (!pair) throw new Error(`trajectory ${id} got no label for ${name}`);
    if (pair.label === 'LACKING' && !pair.evidence)
      throw new Error(`trajectory ${id} is called LACKING in ${name} without evidence`);
    return pair;
  });
}

function warningsOf(
  passed: number,
  failed: number,
  labelled: readonly Trajectory[],
  seeing: number,
): string[] {
  const warnings: string[] = [];
  if (failed === 0) warnings.push('No attempt failed: there is nothing to explain.');
  else if (failed < FEW)
    warnings.push(`Only ${failed} attempts failed: coverage is uncertain (see the intervals).`);
  if (passed === 0)
    warnings.push(
      'No attempt passed: without a contrast the gap is the error rate of the failed attempts alone.',
    );
  else if (passed < FEW)
    warnings.push(`Only ${passed} attempts passed: the gap is uncertain (see the intervals).`);
  const without = labelled.filter((trajectory) => !trajectory.reference).length;
  if (without > 0)
    warnings.push(
      `${without} of ${labelled.length} attempts come without a reference solution: there, only broken turns, loops and errors can be told.`,
    );
  if (labelled.length > 0 && new Set(labelled.map((trajectory) => trajectory.taskId)).size === 1)
    warnings.push('All attempts are at one task: nothing can be said about others.');
  if (seeing < 2 && labelled.length > 0) warnings.push('Only one rater: no agreement can be told.');
  return warnings;
}

/**
 * Step 1 of the method on trajectories in memory: discovery, N raters, contrast of failed with passed, K of N.
 * Deterministic for a deterministic analyst. Excluded trajectories are counted and left out.
 * @throws RangeError for contradictory settings or an id that occurs twice; Error when a label or the evidence of
 *   a LACKING label is missing; `signal.reason` when aborted.
 */
export async function diagnose(
  all: readonly Trajectory[],
  analyst: Rating,
  options: DiagnoseOptions,
): Promise<Diagnosis> {
  const settings = diagnosisSettings(options);
  const trajectories = all.filter((trajectory) => trajectory.outcome !== 'excluded');
  const byId = new Map(trajectories.map((trajectory) => [trajectory.id, trajectory]));
  if (byId.size !== trajectories.length) {
    const ids = trajectories.map((trajectory) => trajectory.id);
    throw new RangeError(`two trajectories have the id ${ids.find((id, i) => ids.indexOf(id) !== i)}`);
  }
  const candidates = await analyst.discover(trajectories);
  const names = candidates.map((candidate) => candidate.name);
  const raters: RaterFile[] = [];
  for (let rater = 0; rater < settings.raters; rater++) {
    const seen = analyst.sees ? analyst.sees(trajectories, rater) : trajectories;
    const labels: LabelledPair[][] = [];
    for (const trajectory of seen) {
      options.signal?.throwIfAborted();
      labels.push(completed(await analyst.label(trajectory, candidates, rater), candidates, trajectory.id));
    }
    raters.push(raterFile(rater, seen, labels, names));
    options.onRater?.(rater + 1, settings.raters);
  }

  const consensus = new Map(consensusOf(names, raters).map((row) => [row.name, row]));
  const definitions = new Map(candidates.map((candidate) => [candidate.name, candidate.definition]));
  const capabilities = selectCapabilities(names, raters, settings).map((score): DiagnosedCapability => {
    const row = consensus.get(score.name)!;
    const definition = definitions.get(score.name)!;
    const lacking = trajectories.filter((t) => t.outcome === 'failed' && row.labels.get(t.id) === 'LACKING');
    const evidence = lacking.slice(0, MOST_EXAMPLES).flatMap((trajectory) => {
      const found = evidenceFor(score.name, trajectory.id, raters);
      return found ? [{ trajectory: trajectory.id, task: trajectory.taskId, ...found }] : [];
    });
    return {
      name: score.name,
      definition,
      retained: score.retained,
      coverage: score.coverageMean,
      coverageInterval: row.coverageInterval,
      gap: score.gapMean,
      gapInterval: row.gapInterval,
      ratersPassed: score.ratersPassed,
      raters: settings.raters,
      lackingFailed: row.lackingFailed,
      presentFailed: row.presentFailed,
      lackingPassed: row.lackingPassed,
      presentPassed: row.presentPassed,
      p: row.p,
      q: row.q,
      kappa: row.kappa,
      evidence,
      skill: score.name,
      description: definition,
      mean_cov: score.coverageMean,
      std_cov: score.coverageStd,
      mean_delta: score.gapMean,
      std_delta: score.gapStd,
      n_runs_passed: score.ratersPassed,
      n_runs_total: settings.raters,
      passes_consistency: score.retained,
      example_failed_cases: lacking.slice(0, MOST_EXAMPLES).map((trajectory) => trajectory.id),
      status: 'PENDING',
    };
  });
  const passed = trajectories.filter((trajectory) => trajectory.outcome === 'passed').length;
  const failed = trajectories.length - passed;
  return {
    candidates,
    raters,
    result: {
      trajectories: { passed, failed, excluded: all.length - trajectories.length },
      capabilities,
      unexplained: unexplainedFailures(trajectories, capabilities, consensus),
      settings: { analyst: analyst.name, seed: options.seed, ...settings },
      warnings: warningsOf(passed, failed, trajectories, settings.raters),
    },
  };
}

function unexplainedFailures(
  trajectories: readonly Trajectory[],
  capabilities: readonly DiagnosedCapability[],
  consensus: ReadonlyMap<string, Consensus>,
): UnexplainedFailure[] {
  return trajectories.flatMap((trajectory) => {
    if (trajectory.outcome !== 'failed') return [];
    const lacking = capabilities.filter(
      ({ name }) => consensus.get(name)!.labels.get(trajectory.id) === 'LACKING',
    );
    if (lacking.some((capability) => capability.retained)) return [];
    return [
      {
        id: trajectory.id,
        task: trajectory.taskId,
        termination: trajectory.termination,
        lacking: lacking.map((capability) => capability.name),
      },
    ];
  });
}
