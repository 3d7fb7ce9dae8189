import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isObject, type JsonObject, RecordError } from '../parse.js';
import type { Check } from '../trajectory.js';
import { readWhole } from './record-files.js';
import { FULL_MARKS, type ScoreVerdict, scoreVerdict, withoutVerdict } from './rewards.js';

/** What a trial folder of Harbor tells beside the trajectory. */
export interface TrialFacts {
  readonly taskId: string | null;
  readonly trialName: string | null;
  readonly verdict: ScoreVerdict;
  readonly checks: readonly Check[];
  /** Class of the exception that ended the attempt. */
  readonly exception: string | null;
}

function jsonAt(path: string): unknown {
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readWhole(path));
  } catch (error) {
    if (error instanceof SyntaxError) throw new RecordError(`${path} is not JSON: ${error.message}`);
    throw error;
  }
}

/** Rewards by name. `reward` decides; a single one decides whatever its name. */
function fromRewards(
  rewards: JsonObject,
  passAt: number | undefined,
): { verdict: ScoreVerdict; checks: Check[] } {
  const numbers = Object.entries(rewards).flatMap(([name, value]) =>
    typeof value === 'number' && Number.isFinite(value) ? [[name, value] as const] : [],
  );
  const main = numbers.find(([name]) => name === 'reward') ?? (numbers.length === 1 ? numbers[0] : undefined);
  const checks = numbers.map(([name, value]) => ({
    name,
    passed: value >= (passAt ?? FULL_MARKS),
    detail: String(value),
  }));
  const verdict = main
    ? scoreVerdict(main[1], passAt)
    : withoutVerdict(
        numbers.length === 0
          ? 'the verifier gave no reward'
          : 'the verifier gave several rewards, none of them named reward',
      );
  return { verdict, checks };
}

/** Test results in the common test report format (CTRF), which Harbor's verifiers write. */
function testChecks(report: unknown): Check[] {
  const results = isObject(report) && isObject(report.results) ? report.results.tests : undefined;
  if (!Array.isArray(results)) return [];
  return results.flatMap((test): Check[] =>
    isObject(test) && typeof test.name === 'string' && (test.status === 'passed' || test.status === 'failed')
      ? [
          {
            name: test.name,
            passed: test.status === 'passed',
            ...(typeof test.message === 'string' && test.message !== ''
              ? { detail: test.message.slice(0, 2000) }
              : {}),
          },
        ]
      : [],
  );
}

/** The trial's folder: where result.json or verifier/ lie, beside the trajectory or one folder up. */
export function trialFolder(trajectory: string): string | null {
  const folder = dirname(trajectory);
  const candidates = basename(folder) === 'agent' ? [dirname(folder), folder] : [folder];
  return (
    candidates.find((at) => ['result.json', 'verifier'].some((name) => existsSync(join(at, name)))) ?? null
  );
}

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);

/**
 * The verdict on a trial: `verifier_result` of `result.json`, else `verifier/reward.json`, else `verifier/reward.txt`.
 * A trial that ended with an exception before it was verified is excluded.
 * @throws RecordError for damaged files.
 */
export function readTrial(folder: string, passAt: number | undefined): TrialFacts {
  const parsed = jsonAt(join(folder, 'result.json'));
  const result = isObject(parsed) ? parsed : {};
  const info = isObject(result.exception_info) ? result.exception_info : null;
  const exception = info ? (text(info.exception_type) ?? 'exception') : null;
  const taskId =
    text(result.task_name) ??
    (isObject(result.task_id) ? text(result.task_id.name ?? result.task_id.path) : text(result.task_id));
  const facts = { taskId, trialName: text(result.trial_name), exception };
  const tests = testChecks(jsonAt(join(folder, 'verifier', 'ctrf.json')));

  const verified = isObject(result.verifier_result) ? result.verifier_result : null;
  const rewards = verified ? (isObject(verified.rewards) ? verified.rewards : verified) : null;
  const file = rewards ? undefined : jsonAt(join(folder, 'verifier', 'reward.json'));
  const number = join(folder, 'verifier', 'reward.txt');
  const given: JsonObject | null =
    rewards ?? (isObject(file) ? file : typeof file === 'number' ? { reward: file } : null);
  if (given) {
    const { verdict, checks } = fromRewards(given, passAt);
    return {
      ...facts,
      verdict,
      checks: checks.length > 1 || tests.length === 0 ? [...checks, ...tests] : tests,
    };
  }
  if (existsSync(number)) {
    const written = readWhole(number).trim();
    const reward = written === '' ? Number.NaN : Number(written);
    if (!Number.isFinite(reward))
      throw new RecordError(`${number} holds no number: ${JSON.stringify(written.slice(0, 40))}`);
    return { ...facts, verdict: scoreVerdict(reward, passAt), checks: tests };
  }
  const why =
    exception === null
      ? 'the trial has no verifier’s reward'
      : `infrastructure: ${exception} before it was verified`;
  return { ...facts, verdict: withoutVerdict(why), checks: tests };
}
