import type { Interval, IntervalMethod } from '../analyst/capabilities-file.js';
import { clusterBootstrap, percentileInterval } from '../statistics/bootstrap.js';
import { newcombeDifference } from '../statistics/difference.js';
import { wilson } from '../statistics/proportion.js';
import type { Consensus } from './consensus.js';
import { type LabelCounts, scoreOf } from './contrast.js';
import type { LabelLists, RaterFile } from './rater-file.js';
import type { DiagnosisSettings } from './settings.js';

/** What of an attempt the statistics need. */
export interface Attempt {
  readonly id: string;
  readonly task: string;
  readonly trial: number;
  readonly outcome: 'passed' | 'failed';
  readonly termination: string | null;
}

/** An estimate of the majority labels with its interval. */
export interface WithInterval {
  readonly estimate: number;
  readonly interval: Interval;
  readonly method: IntervalMethod;
}

/** What resampling the tasks tells. */
export interface Resampling {
  readonly resamples: number;
  /** By candidate: share of resamples in which it is retained. */
  readonly stability: readonly number[];
  readonly coverage: readonly WithInterval[];
  readonly gap: readonly WithInterval[];
  /** Share of failures with a label in `explained`. */
  readonly explained: WithInterval;
}

const MOST_RESAMPLES = 1000;
const LEAST_RESAMPLES = 200;
/** Labels counted over all resamples: more are not worth the seconds. */
const MOST_COUNTED = 5e8;

/** The lists in the order of their codes, from 1; 0 is an attempt that the rater did not see or did not label. */
const LISTS: readonly (keyof LabelLists)[] = [
  'lacking_failed',
  'present_failed',
  'na_failed',
  'lacking_passed',
  'present_passed',
  'na_passed',
];
const WIDTH = LISTS.length + 1;

/** Interval by task, at no end narrower than the one that takes every attempt for itself. */
function byTask(
  estimates: readonly number[],
  byAttempts: Interval,
  tasksAsAttempts: () => Interval,
): Interval {
  const [low, high] = percentileInterval(estimates);
  const [from, to] = low === high ? tasksAsAttempts() : [low, high];
  return [Math.min(from, byAttempts[0]), Math.max(to, byAttempts[1])];
}

const wilsonOf = (part: number, whole: number): Interval => (whole === 0 ? [0, 1] : wilson(part, whole));

/**
 * Intervals of the majority labels and the stability of the selection. Where no task has two attempts the intervals
 * are Wilson's and Newcombe's; where trials repeat, attempts at a task hang together, and whole tasks are drawn. A
 * bootstrap knows nothing of what did not occur (none of three passed attempts lacks it: no width at all), so an end
 * that lies inside the interval over attempts is moved out to it; where the resamples do not differ, Wilson and
 * Newcombe with each task counted once take its place. Stability selects anew in every resample, with all raters.
 * @param explained ids of the failures that the retained capabilities explain.
 */
export function resampleTasks(
  attempts: readonly Attempt[],
  consensus: readonly Consensus[],
  raters: readonly RaterFile[],
  explained: ReadonlySet<string>,
  settings: DiagnosisSettings,
  seed: number,
): Resampling {
  const taskIndex = new Map<string, number>();
  for (const { task } of attempts) if (!taskIndex.has(task)) taskIndex.set(task, taskIndex.size);
  const tasks = attempts.map(({ task }) => taskIndex.get(task)!);
  const repeated = taskIndex.size < attempts.length;
  const labels = labelCodes(attempts, consensus, raters);
  const columns = (raters.length + 1) * consensus.length;
  const resamples = Math.round(
    Math.min(
      MOST_RESAMPLES,
      Math.max(LEAST_RESAMPLES, MOST_COUNTED / Math.max(1, attempts.length * columns)),
    ),
  );
  const failures = attempts.map(({ outcome }) => outcome === 'failed');
  const covered = attempts.map(({ id }) => explained.has(id));

  const sums = new Uint32Array(columns * WIDTH);
  const countsAt = (rater: number, capability: number): LabelCounts => {
    const base = (rater * consensus.length + capability) * WIDTH;
    return {
      lackingFailed: sums[base + 1]!,
      presentFailed: sums[base + 2]!,
      naFailed: sums[base + 3]!,
      lackingPassed: sums[base + 4]!,
      presentPassed: sums[base + 5]!,
    };
  };
  const draws =
    attempts.length === 0
      ? []
      : clusterBootstrap(
          taskIndex.size,
          (times) => {
            sums.fill(0);
            let [failed, hit] = [0, 0];
            for (let i = 0; i < attempts.length; i++) {
              const weight = times[tasks[i]!]!;
              if (weight === 0) continue;
              if (failures[i]) failed += weight;
              if (covered[i]) hit += weight;
              const row = i * columns;
              for (let c = 0; c < columns; c++) sums[c * WIDTH + labels[row + c]!]! += weight;
            }
            const passing = consensus.map((_, capability) => {
              let count = 0;
              for (let r = 1; r <= raters.length; r++)
                if (scoreOf(countsAt(r, capability), settings).passes) count++;
              return count;
            });
            return {
              retained: passing.map((count) => count >= settings.ratersNeeded),
              scores: consensus.map((_, capability) => scoreOf(countsAt(0, capability), settings)),
              share: failed === 0 ? null : hit / failed,
            };
          },
          { seed, resamples },
        );

  const tasksWith = (fits: (attempt: Attempt) => boolean) =>
    new Set(attempts.filter(fits).map((attempt) => attempt.task)).size;
  const failedTasks = tasksWith(({ outcome }) => outcome === 'failed');
  const coverage = consensus.map((row, i): WithInterval => {
    const { coverage: estimate } = scoreOf(row, settings);
    const failed = row.lackingFailed + row.presentFailed + row.naFailed;
    const byAttempts = wilsonOf(row.lackingFailed, failed);
    if (!repeated || failed === 0) return { estimate, interval: byAttempts, method: 'wilson' };
    const estimates = draws.map(({ scores }) => scores[i]!.coverage);
    return {
      estimate,
      interval: byTask(estimates, byAttempts, () => wilsonOf(estimate * failedTasks, failedTasks)),
      method: 'by-task',
    };
  });
  const gap = consensus.map((row, i): WithInterval => {
    const { gap: estimate, failedErrorRate, passedErrorRate } = scoreOf(row, settings);
    const failed = row.lackingFailed + row.presentFailed;
    const passed = row.lackingPassed + row.presentPassed;
    const byAttempts = newcombeDifference(row.lackingFailed, failed, row.lackingPassed, passed).interval;
    if (!repeated || failed + passed === 0) return { estimate, interval: byAttempts, method: 'newcombe' };
    const needing = (outcome: Attempt['outcome']) =>
      tasksWith((attempt) => {
        const label = row.labels.get(attempt.id);
        return attempt.outcome === outcome && (label === 'LACKING' || label === 'PRESENT');
      });
    const tasksAsAttempts = () => {
      const [first, second] = [needing('failed'), needing('passed')];
      return newcombeDifference(failedErrorRate * first, first, passedErrorRate * second, second).interval;
    };
    const estimates = draws.map(({ scores }) => scores[i]!.gap);
    return { estimate, interval: byTask(estimates, byAttempts, tasksAsAttempts), method: 'by-task' };
  });
  const failed = failures.filter(Boolean).length;
  const estimate = failed === 0 ? 0 : explained.size / failed;
  const byAttempts = wilsonOf(explained.size, failed);
  const shares = draws.flatMap(({ share }) => (share === null ? [] : [share]));
  return {
    resamples: draws.length,
    stability: consensus.map((_, i) =>
      draws.length === 0 ? 0 : draws.filter(({ retained }) => retained[i]).length / draws.length,
    ),
    coverage,
    gap,
    explained:
      repeated && failed > 0
        ? {
            estimate,
            interval: byTask(shares, byAttempts, () => wilsonOf(estimate * failedTasks, failedTasks)),
            method: 'by-task',
          }
        : { estimate, interval: byAttempts, method: 'wilson' },
  };
}

/** Codes of all labels, attempt by attempt: first the majority's columns, then each rater's. */
function labelCodes(
  attempts: readonly Attempt[],
  consensus: readonly Consensus[],
  raters: readonly RaterFile[],
): Uint8Array {
  const width = consensus.length;
  const columns = (raters.length + 1) * width;
  const codes = new Uint8Array(attempts.length * columns);
  const rows = new Map(attempts.map(({ id }, i) => [id, i]));
  consensus.forEach(({ name, labels }, capability) => {
    attempts.forEach(({ id, outcome }, i) => {
      const label = labels.get(id);
      if (label === undefined) return;
      const kind = label === 'LACKING' ? 1 : label === 'PRESENT' ? 2 : 3;
      codes[i * columns + capability] = outcome === 'failed' ? kind : kind + 3;
    });
    raters.forEach((rater, r) => {
      const lists = rater.labels[name];
      if (!lists) return;
      LISTS.forEach((list, code) => {
        for (const id of lists[list]) {
          const i = rows.get(id);
          if (i !== undefined) codes[i * columns + (r + 1) * width + capability] = code + 1;
        }
      });
    });
  });
  return codes;
}
