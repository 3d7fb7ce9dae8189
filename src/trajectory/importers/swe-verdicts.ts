import { isObject, type JsonObject, RecordError } from '../parse.js';
import type { Check, Trajectory } from '../trajectory.js';

/**
 * What the evaluation of a patch says of an attempt at a SWE-bench instance. The causes of a failure come with it,
 * as checks: `patch_exists`, `patch_applied`, `fail_to_pass`, `pass_to_pass`.
 */
export interface SweVerdict extends Pick<Trajectory, 'reward' | 'outcome'> {
  readonly checks: readonly Check[];
  /** Why there is no verdict, or what went wrong beside the checks. */
  readonly note?: string;
}

/** The cause that the patch itself tells. */
export const EMPTY_PATCH: Check = { name: 'patch_exists', passed: false, detail: 'the patch is empty' };

const NAMES_SHOWN = 20;

export function sweVerdict(
  outcome: SweVerdict['outcome'],
  checks: readonly Check[] = [],
  note?: string,
): SweVerdict {
  const reward = outcome === 'excluded' ? null : outcome === 'passed' ? 1 : 0;
  return { reward, outcome, checks, ...(note ? { note } : {}) };
}

export const namesIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];

function testCheck(name: string, status: unknown, what: string): Check | null {
  if (!isObject(status)) return null;
  const failed = namesIn(status.failure);
  const total = failed.length + namesIn(status.success).length;
  if (total === 0) return null;
  const shown = failed.slice(0, NAMES_SHOWN).join(', ');
  const more = failed.length > NAMES_SHOWN ? `, and ${failed.length - NAMES_SHOWN} more` : '';
  const detail = failed.length === 0 ? '' : `${failed.length} of ${total} tests ${what}: ${shown}${more}`;
  return { name, passed: failed.length === 0, ...(detail ? { detail } : {}) };
}

/**
 * One instance's entry of `report.json`.
 * @throws RecordError when it says neither whether the instance is resolved nor how its tests went.
 */
export function readInstanceReport(id: string, report: JsonObject): SweVerdict {
  if (report.infra_failure === true) {
    const reason = report.infra_failure_reason;
    return sweVerdict(
      'excluded',
      [],
      `infrastructure: ${typeof reason === 'string' ? reason : 'no reason given'}`,
    );
  }
  const checks: Check[] = [];
  const exists = report.patch_is_None === true ? false : report.patch_exists;
  if (typeof exists === 'boolean') checks.push(exists ? { name: 'patch_exists', passed: true } : EMPTY_PATCH);
  if (exists !== false && typeof report.patch_successfully_applied === 'boolean')
    checks.push({
      name: 'patch_applied',
      passed: report.patch_successfully_applied,
      ...(report.patch_successfully_applied ? {} : { detail: 'the patch does not apply' }),
    });
  const status = isObject(report.tests_status) ? report.tests_status : {};
  for (const check of [
    testCheck('fail_to_pass', status.FAIL_TO_PASS, 'still fail'),
    testCheck('pass_to_pass', status.PASS_TO_PASS, 'are broken'),
  ])
    if (check) checks.push(check);
  const tested = checks.some((check) => check.name === 'fail_to_pass');
  const resolved =
    typeof report.resolved === 'boolean'
      ? report.resolved
      : checks.some((check) => !check.passed)
        ? false
        : tested
          ? true
          : null;
  if (resolved === null)
    throw new RecordError(`the report of ${id} says neither resolved nor tests_status.FAIL_TO_PASS`);
  return sweVerdict(resolved ? 'passed' : 'failed', checks);
}

/** `test_result.report` of OpenHands' evaluation. Null where it says nothing. */
export function readTestResult(result: unknown): SweVerdict | null {
  const report = isObject(result) ? result.report : undefined;
  if (!isObject(report) || typeof report.resolved !== 'boolean') return null;
  if (report.resolved) return sweVerdict('passed');
  const checks: Check[] = [];
  if (report.empty_generation === true) checks.push(EMPTY_PATCH);
  if (report.failed_apply_patch === true)
    checks.push({ name: 'patch_applied', passed: false, detail: 'the patch does not apply' });
  if (checks.length > 0) return sweVerdict('failed', checks);
  if (report.error_eval === true)
    return sweVerdict('excluded', [], 'infrastructure: the evaluation broke off');
  if (report.test_timeout === true)
    return sweVerdict('failed', [
      { name: 'tests_finish', passed: false, detail: 'the tests ran out of time' },
    ]);
  return sweVerdict('failed');
}

/**
 * Fields of a trajectory that its verdict gives.
 * @param submission the patch as the agent handed it in; null where the format does not tell.
 * @param broken why the attempt itself broke for reasons that are not the agent's; it then counts only if it passed.
 */
export function sweOutcome(
  found: SweVerdict | null,
  submission: string | null,
  broken: string | null,
): Pick<Trajectory, 'reward' | 'outcome' | 'checks' | 'metadata'> {
  const note = found ? found.note : 'no verdict: give the evaluation’s report with --verdicts';
  const checks = [...(found?.checks ?? [])];
  if (found?.outcome !== 'passed' && submission !== null && submission.trim() === '')
    if (!checks.some((check) => check.name === EMPTY_PATCH.name)) checks.unshift(EMPTY_PATCH);
  const excluded = broken !== null && found?.outcome !== 'passed';
  const outcome = excluded ? 'excluded' : (found?.outcome ?? 'excluded');
  const why = excluded ? `infrastructure: ${broken}` : note;
  return {
    reward: outcome === 'excluded' ? null : (found?.reward ?? null),
    outcome,
    ...(checks.length > 0 ? { checks } : {}),
    metadata: why === undefined ? {} : outcome === 'excluded' ? { excluded: why } : { evaluation: why },
  };
}
