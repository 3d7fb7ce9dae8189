import { isObject, type JsonObject } from '../parse.js';
import { PreparedTrajectory } from '../prepared.js';
import type { Trajectory } from '../trajectory.js';
import { type ScoreVerdict, scoreVerdict } from './rewards.js';

const PASSED = new Set([
  ...[
    'true',
    'yes',
    'y',
    'pass',
    'passed',
    'success',
    'successful',
    'succeeded',
    'solved',
    'resolved',
    'correct',
  ],
  ...['c', 'ok', 'good', 'positive', 'accept', 'accepted', 'win', 'thumbs_up'],
]);
const FAILED = new Set([
  ...['false', 'no', 'n', 'fail', 'failed', 'failure', 'unsuccessful', 'unsolved', 'unresolved', 'incorrect'],
  ...['i', 'wrong', 'bad', 'negative', 'reject', 'rejected', 'loss', 'thumbs_down'],
]);

/**
 * One value of a verdict: true and false in many spellings, or a number (also written as text, also as a bigint);
 * null for what is none.
 */
export function verdictValue(value: unknown): boolean | number | null {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'string' || value.length > 40) return null;
  const text = value.trim().toLowerCase();
  if (PASSED.has(text)) return true;
  if (FAILED.has(text)) return false;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/.test(text)) return null;
  const number = Number(text);
  return Number.isFinite(number) ? number : null;
}

/** Fields that say passed or failed, in the order in which they are believed. */
const DECISIONS = [
  ...['success', 'passed', 'pass', 'resolved', 'solved', 'correct', 'is_success', 'is_resolved', 'is_solved'],
  ...[
    'is_correct',
    'is_passed',
    'task_success',
    'successful',
    'succeeded',
    'verdict',
    'outcome',
    'label',
    'result',
  ],
];
/** Fields that hold a score. */
const SCORES = ['reward', 'score', 'final_reward', 'total_reward', 'episode_reward', 'final_score', 'rating'];

/** Fields of a record that `readVerdict` looks at. */
export const VERDICT_FIELDS: ReadonlySet<string> = new Set([...DECISIONS, ...SCORES, 'target']);

/**
 * The verdict that stands beside a conversation: a decision (`success`, `resolved`, `label` …) before a score
 * (`reward`, `score` …); null when there is none. A score of at least `passAt` passes; without a threshold only 1.
 */
export function readVerdict(record: JsonObject, passAt?: number): ScoreVerdict | null {
  let score: number | null = null;
  for (const field of SCORES) {
    const value = record[field] === undefined ? null : verdictValue(record[field]);
    if (value === null) continue;
    score = Number(value);
    break;
  }
  for (const field of DECISIONS) {
    const value = record[field] === undefined ? null : verdictValue(record[field]);
    if (typeof value === 'boolean' || ((value === 0 || value === 1) && score === null))
      return decided(Boolean(value), score);
    if (typeof value === 'number' && score === null) score = value;
  }
  if (typeof record.target === 'boolean' && score === null) return decided(record.target, null);
  return score === null ? null : scoreVerdict(score, passAt);
}

/** A decision; the score stays the reward where it can be one. */
function decided(passed: boolean, score: number | null): ScoreVerdict {
  const reward = score !== null && score >= 0 && score <= 1 ? score : passed ? 1 : 0;
  return { reward, outcome: passed ? 'passed' : 'failed' };
}

/** The verdict of a record or, failing that, of the objects beside it that usually hold one. */
export function verdictOf(record: JsonObject, passAt?: number): ScoreVerdict | null {
  const own = readVerdict(record, passAt);
  if (own) return own;
  for (const key of ['verdict', 'evaluation', 'eval', 'metadata', 'info', 'extra'] as const) {
    const inner = record[key];
    const verdict = isObject(inner) ? readVerdict(inner, passAt) : null;
    if (verdict) return verdict;
  }
  return null;
}

/** Why an attempt counts neither as passed nor as failed, in few words; null when it counts. */
export function exclusionReason(trajectory: Trajectory): string | null {
  if (trajectory.outcome !== 'excluded') return null;
  if (trajectory instanceof PreparedTrajectory) return trajectory.reason;
  const { metadata, termination, reward } = trajectory;
  if (typeof metadata.excluded === 'string') return metadata.excluded;
  return termination ?? (reward === null ? 'no verdict' : 'excluded by the source');
}
