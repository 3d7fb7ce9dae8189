import type { Check } from '../trajectory.js';
import { FULL_MARKS, type ScoreVerdict, scoreVerdict, withoutVerdict } from './rewards.js';
import type { Evaluation } from './spans.js';
import { verdictValue } from './verdict-values.js';

/** Names that say of a whole attempt whether it did what was asked, the plainest first. */
const OUTCOME_NAMES = [
  'reward',
  'success',
  'task_success',
  'is_success',
  'succeeded',
  'resolved',
  'is_resolved',
  'passed',
  'pass',
  'pass_fail',
  'outcome',
  'verdict',
  'result',
  'task_completion',
  'task_completed',
  'goal_completion',
  'goal_achieved',
  'goal_accuracy',
  'correct',
  'correctness',
  'is_correct',
  'answer_correctness',
  'accuracy',
  'exact_match',
  'score',
  'overall',
  'user_score',
  'user_feedback',
  'thumbs_up',
] as const;

/** Words of judges beyond those that stand beside conversations too. */
const MORE_PASSED = new Set(['complete', 'completed', 'achieved', 'thumbs up', '👍']);
const MORE_FAILED = new Set(['incomplete', 'not achieved', 'not_achieved', 'thumbs down', '👎']);

const plain = (name: string) =>
  name
    .trim()
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_');

/** What a label says of passing; null where it says nothing. */
export function labelPasses(label: string | null): boolean | null {
  const word = label?.trim().toLowerCase() ?? '';
  if (MORE_PASSED.has(word)) return true;
  if (MORE_FAILED.has(word)) return false;
  const value = verdictValue(word);
  if (typeof value === 'boolean') return value;
  return value === 1 ? true : value === 0 ? false : null;
}

const tells = ({ score, label }: Evaluation) => score !== null || labelPasses(label) !== null;

export interface TraceVerdict extends ScoreVerdict {
  readonly checks: readonly Check[];
}

/** One evaluation as a number: its score, else 1 or 0 for its label. */
const markOf = ({ score, label }: Evaluation) => score ?? (labelPasses(label) ? 1 : 0);

/**
 * The verdict among a trace's evaluations. Those of the whole trace go before those of its steps; one whose name says
 * that it is the outcome goes before others; where there is none and several criteria were judged, there is no verdict:
 * which of them counts is not for an importer to guess. Judges of one criterion are averaged, people before programs.
 * A label that says passed or failed decides, unless `passAt` is given and there is a score.
 */
export function verdictOf(evaluations: readonly Evaluation[], passAt: number | undefined): TraceVerdict {
  const telling = evaluations.filter(tells);
  const without = (reason: string): TraceVerdict => ({ ...withoutVerdict(reason), checks: [] });
  if (telling.length === 0) return without('no verdict');
  const whole = telling.filter((evaluation) => evaluation.whole);
  const near = whole.length > 0 ? whole : telling;
  const names = new Set(near.map(({ name }) => plain(name)));
  const chosen =
    OUTCOME_NAMES.find((name) => names.has(name)) ?? (names.size === 1 ? [...names][0] : undefined);
  if (chosen === undefined) {
    const listed = [...names].sort().slice(0, 10).join(', ');
    return without(
      `no verdict: none of the scores ${listed} is named as the outcome; join one with --verdicts`,
    );
  }
  const named = near.filter(({ name }) => plain(name) === chosen);
  const people = named.filter(({ by }) => by !== undefined && /^(human|annotation)$/i.test(by));
  const judged = people.length > 0 ? people : named;
  const score = judged.reduce((sum, evaluation) => sum + markOf(evaluation), 0) / judged.length;
  const labels = judged.map(({ label }) => labelPasses(label));
  const agreed = labels.every((label) => label !== null && label === labels[0]) ? labels[0]! : null;
  const byLabel =
    agreed !== null && (passAt === undefined || judged.every((evaluation) => evaluation.score === null));
  const verdict = byLabel ? labelVerdict(agreed, score) : scoreVerdict(score, passAt);
  return {
    ...verdict,
    checks: verdict.outcome === 'excluded' ? [] : judged.map((evaluation) => checkOf(evaluation, passAt)),
  };
}

/** The label decides; the score is the reward where it is one and does not say the opposite. */
function labelVerdict(passed: boolean, score: number): ScoreVerdict {
  const fits = passed ? score > 0 && score <= 1 : score >= 0 && score < FULL_MARKS;
  return { reward: fits ? score : passed ? 1 : 0, outcome: passed ? 'passed' : 'failed' };
}

function checkOf(evaluation: Evaluation, passAt: number | undefined): Check {
  const label = labelPasses(evaluation.label);
  const byScore = evaluation.score !== null && (label === null || passAt !== undefined);
  return {
    name: evaluation.name,
    passed: byScore ? evaluation.score! >= (passAt ?? FULL_MARKS) : label === true,
    ...(evaluation.explanation ? { detail: evaluation.explanation } : {}),
  };
}
