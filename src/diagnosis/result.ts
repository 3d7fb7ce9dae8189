import {
  type CapabilitiesFile,
  type CapabilityOverlap,
  type DiagnosedCapability,
  type LabelledAttempt,
  type LackingEvidence,
  LOW_KAPPA,
  type PassRate,
  type UnexplainedFailure,
} from '../analyst/capabilities-file.js';
import type { Capability } from '../analyst/contract.js';
import { contributionOf, overlapOf, unionOf } from '../statistics/cover.js';
import { overTasks, passAtK, passHatK, type Trials } from '../statistics/pass-rates.js';
import { type Consensus, consensusOf, evidenceFor } from './consensus.js';
import { selectCapabilities } from './contrast.js';
import { cautionsOf, warningsOf } from './limits.js';
import type { RaterFile } from './rater-file.js';
import { type Attempt, resampleTasks } from './resampling.js';
import type { DiagnosisSettings } from './settings.js';

const MOST_EXAMPLES = 8;
/** pass^k and pass@k are listed up to this k. */
const MOST_TRIALS = 16;
const RATE_RESAMPLES = 2000;

/** What a result is made of, wherever the labels come from. */
export interface Labelled {
  /** Passed and failed attempts, in the order of the input. */
  readonly attempts: readonly Attempt[];
  readonly candidates: readonly Capability[];
  readonly raters: readonly RaterFile[];
  readonly excluded: number;
  /** Attempts without a reference solution, where the analyst compares with one; else null. */
  readonly withoutReference: number | null;
  readonly analyst: string;
  readonly seed: number;
}

/** Numbers, selection and limits from labels: a pure function of them, the settings and the seed. */
export function resultOf(labelled: Labelled, settings: DiagnosisSettings): CapabilitiesFile {
  const { attempts, candidates, raters } = labelled;
  const names = candidates.map((candidate) => candidate.name);
  const scores = selectCapabilities(names, raters, settings);
  // From here on in the order of the result.
  const ordered = scores.map((score) => score.name);
  const consensus = consensusOf(ordered, raters);
  const failures = attempts.filter((attempt) => attempt.outcome === 'failed');
  const lacking = consensus.map(
    ({ labels }) => new Set(failures.filter(({ id }) => labels.get(id) === 'LACKING').map(({ id }) => id)),
  );
  const retainedSets = lacking.filter((_, i) => scores[i]!.retained);
  const explained = unionOf(retainedSets);
  const resampling = resampleTasks(attempts, consensus, raters, explained, settings, labelled.seed);

  const byId = new Map(attempts.map((attempt) => [attempt.id, attempt]));
  const definitions = new Map(candidates.map((candidate) => [candidate.name, candidate.definition]));
  const capabilities = scores.map((score, i): DiagnosedCapability => {
    const row = consensus[i]!;
    const definition = definitions.get(score.name)!;
    const examples = [...lacking[i]!].slice(0, MOST_EXAMPLES);
    const others = lacking.filter((_, j) => j !== i && scores[j]!.retained);
    const numbers: Omit<DiagnosedCapability, 'cautions'> = {
      name: score.name,
      definition,
      retained: score.retained,
      coverage: resampling.coverage[i]!.estimate,
      coverageInterval: resampling.coverage[i]!.interval,
      coverageMethod: resampling.coverage[i]!.method,
      gap: resampling.gap[i]!.estimate,
      gapInterval: resampling.gap[i]!.interval,
      gapMethod: resampling.gap[i]!.method,
      ratersPassed: score.ratersPassed,
      raters: settings.raters,
      lackingFailed: row.lackingFailed,
      presentFailed: row.presentFailed,
      lackingPassed: row.lackingPassed,
      presentPassed: row.presentPassed,
      lackingTasks: new Set([...lacking[i]!].map((id) => byId.get(id)!.task)).size,
      p: row.p,
      q: row.q,
      kappa: row.kappa,
      kappaLow: row.kappa !== null && row.kappa < LOW_KAPPA,
      agreement: row.agreement,
      contribution: contributionOf(lacking[i]!, others),
      stability: resampling.stability[i]!,
      missingLabels: row.missing,
      evidence: examples.flatMap((id): LackingEvidence[] => {
        const found = evidenceFor(score.name, id, raters);
        return found ? [{ trajectory: id, task: byId.get(id)!.task, ...found }] : [];
      }),
      skill: score.name,
      description: definition,
      mean_cov: score.coverageMean,
      std_cov: score.coverageStd,
      mean_delta: score.gapMean,
      std_delta: score.gapStd,
      n_runs_passed: score.ratersPassed,
      n_runs_total: settings.raters,
      passes_consistency: score.retained,
      example_failed_cases: examples,
      status: 'PENDING',
    };
    return { ...numbers, cautions: cautionsOf(numbers) };
  });

  const passed = attempts.length - failures.length;
  const byTask = trialsByTask(attempts);
  return {
    trajectories: { passed, failed: failures.length, excluded: labelled.excluded },
    tasks: {
      total: byTask.length,
      repeated: byTask.filter((trials) => trials.length > 1).length,
      mixed: byTask.filter((trials) => new Set(trials.map((t) => t.outcome)).size > 1).length,
    },
    capabilities,
    explained: {
      failures: explained.size,
      of: failures.length,
      share: resampling.explained.estimate,
      interval: resampling.explained.interval,
      method: resampling.explained.method,
    },
    unexplained: failures
      .filter(({ id }) => !explained.has(id))
      .map(
        ({ id, task, termination }): UnexplainedFailure => ({
          id,
          task,
          termination,
          lacking: ordered.filter((_, i) => lacking[i]!.has(id)),
        }),
      ),
    overlaps: overlapsOf(ordered, lacking),
    attempts: attempts.map((attempt) => labelledAttempt(attempt, consensus)),
    passRates: passRatesOf(byTask, labelled.seed),
    resamples: resampling.resamples,
    settings: { analyst: labelled.analyst, seed: labelled.seed, ...settings },
    warnings: warningsOf(attempts, {
      excluded: labelled.excluded,
      raters: settings.raters,
      withoutReference: labelled.withoutReference,
      missingLabels: consensus.reduce((sum, row) => sum + row.missing, 0),
    }),
  };
}

function trialsByTask(attempts: readonly Attempt[]): Attempt[][] {
  const byTask = new Map<string, Attempt[]>();
  for (const attempt of attempts) {
    const trials = byTask.get(attempt.task);
    if (trials) trials.push(attempt);
    else byTask.set(attempt.task, [attempt]);
  }
  return [...byTask.values()];
}

function overlapsOf(names: readonly string[], lacking: readonly ReadonlySet<string>[]): CapabilityOverlap[] {
  return names.flatMap((first, i) =>
    names.slice(i + 1).map((second, j) => ({
      first,
      second,
      ...overlapOf(lacking[i]!, lacking[i + 1 + j]!),
    })),
  );
}

function labelledAttempt(
  { id, task, trial, outcome }: Attempt,
  consensus: readonly Consensus[],
): LabelledAttempt {
  const letters = { LACKING: 'L', PRESENT: 'P', NA: 'N' } as const;
  const labels = consensus.map((row) => {
    const label = row.labels.get(id);
    return label === undefined ? '-' : letters[label];
  });
  return { id, task, trial, outcome, labels: labels.join('') };
}

function passRatesOf(tasks: readonly (readonly Attempt[])[], seed: number): CapabilitiesFile['passRates'] {
  const trials = tasks.map(
    (attempts): Trials => ({
      passed: attempts.filter(({ outcome }) => outcome === 'passed').length,
      n: attempts.length,
    }),
  );
  const most = Math.min(MOST_TRIALS, Math.max(0, ...trials.map(({ n }) => n)));
  if (most < 2) return null;
  const rates = (estimate: typeof passHatK) =>
    Array.from({ length: most }, (_, i) =>
      overTasks(trials, i + 1, estimate, { seed, resamples: RATE_RESAMPLES }),
    ).flatMap((rate): PassRate[] => (rate === null ? [] : [rate]));
  return { passHat: rates(passHatK), passAt: rates(passAtK) };
}
