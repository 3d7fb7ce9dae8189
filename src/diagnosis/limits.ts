import type { DiagnosedCapability } from '../analyst/capabilities-file.js';
import { wilson } from '../statistics/proportion.js';
import type { Attempt } from './resampling.js';

/** Below this many attempts or tasks of a kind the figures say little; the reader is told. */
const FEW = 10;
/** A selection that fewer resamples repeat is called unstable. */
const STABLE = 0.8;
/** A share of attempts without a verdict from which on what is left may not be like the whole. */
const MANY_EXCLUDED = 0.2;

const points = (share: number) => Math.round(100 * share);
const count = (n: number, one: string, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

/** What is known of the data beside the attempts that are contrasted. */
export interface DataFacts {
  readonly excluded: number;
  readonly raters: number;
  /** Attempts without a reference solution, where the analyst compares with one; else null. */
  readonly withoutReference: number | null;
  readonly missingLabels: number;
}

/** What the data as a whole cannot tell. */
export function warningsOf(attempts: readonly Attempt[], facts: DataFacts): string[] {
  const warnings: string[] = [];
  const failed = attempts.filter(({ outcome }) => outcome === 'failed');
  const passed = attempts.filter(({ outcome }) => outcome === 'passed');
  const tasksOf = (some: readonly Attempt[]) => new Set(some.map(({ task }) => task));
  const [tasks, failedTasks, passedTasks] = [tasksOf(attempts), tasksOf(failed), tasksOf(passed)];
  if (failed.length === 0) warnings.push('No attempt failed: there is nothing to explain.');
  else if (failed.length < FEW) {
    const [low, high] = wilson(failed.length / 2, failed.length);
    warnings.push(
      `Only ${count(failed.length, 'attempt')} failed: a coverage of 50 % could as well be ${points(low)} or ${points(high)} %.`,
    );
  }
  if (passed.length === 0)
    warnings.push(
      'No attempt passed: without a contrast the gap is the error rate of the failed attempts alone.',
    );
  else if (passed.length < FEW) {
    const [, high] = wilson(0, passed.length);
    warnings.push(
      `Only ${count(passed.length, 'attempt')} passed: what none of them lacks, up to ${points(high)} % of such attempts may lack all the same.`,
    );
  }
  if (tasks.size === 1) warnings.push('All attempts are at one task: nothing can be said about others.');
  else if (failedTasks.size === 1 && failed.length > 1)
    warnings.push('All failures are at one task: nothing can be said about others.');
  else if (tasks.size < attempts.length && failedTasks.size > 0 && failedTasks.size < FEW)
    warnings.push(
      `The failures are at only ${failedTasks.size} tasks: repeated trials do not replace other tasks.`,
    );
  if (failed.length > 0 && passed.length > 0 && tasks.size > 1 && tasks.size < attempts.length) {
    if (![...failedTasks].some((task) => passedTasks.has(task)))
      warnings.push(
        'No task was both passed and failed: what differs may be the tasks rather than what the agent did.',
      );
    warnings.push(
      'Trials repeat: intervals are drawn by task, but p and q take each attempt for itself and are too small.',
    );
  }
  const all = attempts.length + facts.excluded;
  if (facts.excluded > MANY_EXCLUDED * all)
    warnings.push(
      `${facts.excluded} of ${all} attempts are left out (broken or without a verdict): the rest may not be like them.`,
    );
  if (facts.withoutReference !== null && facts.withoutReference > 0)
    warnings.push(
      `${facts.withoutReference} of ${attempts.length} attempts come without a reference solution: there, only broken turns, loops, errors, dropped requests and hand-overs can be told.`,
    );
  if (facts.raters < 2 && attempts.length > 0) warnings.push('Only one rater: no agreement can be told.');
  if (facts.missingLabels > 0)
    warnings.push(
      `${count(facts.missingLabels, 'label')} could not be had and ${facts.missingLabels === 1 ? 'counts' : 'count'} for nothing.`,
    );
  return warnings;
}

/** What the numbers of one capability cannot tell. */
export function cautionsOf(capability: Omit<DiagnosedCapability, 'cautions'>): string[] {
  const c = capability;
  const cautions: string[] = [];
  const passedNeeding = c.lackingPassed + c.presentPassed;
  if (c.lackingFailed > 0 && passedNeeding === 0)
    cautions.push('No passed attempt needs it: the gap is the error rate of the failed ones alone.');
  else if (c.retained && c.gapInterval[0] <= 0)
    cautions.push(
      `The gap may be none: its interval begins at ${points(c.gapInterval[0])} points (${count(passedNeeding, 'passed attempt needs', 'passed attempts need')} it).`,
    );
  if (c.lackingFailed > 1 && c.lackingTasks === 1)
    cautions.push('Every failure that lacks it is at the same task.');
  if (c.kappaLow)
    cautions.push(
      `Raters agree little (κ ${c.kappa?.toFixed(2)}): the definition leaves too much open${
        c.agreement !== null && c.agreement >= STABLE
          ? `, or nearly all labels are the same (${points(c.agreement)} % of the pairs agree)`
          : ''
      }.`,
    );
  if (c.retained && c.stability < STABLE)
    cautions.push(`With other tasks it may not be retained: ${points(c.stability)} % of resamples do.`);
  if (c.missingLabels > 0) cautions.push(`${count(c.missingLabels, 'label is', 'labels are')} missing.`);
  return cautions;
}
