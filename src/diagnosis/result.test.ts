import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseCapabilitiesFile } from '../analyst/capabilities-file.js';
import { newcombeDifference } from '../statistics/difference.js';
import { wilson } from '../statistics/proportion.js';
import { type LabelLists, parseRaterFile, type RaterFile } from './rater-file.js';
import type { Attempt } from './resampling.js';
import { resultOf } from './result.js';
import { diagnosisSettings } from './settings.js';

const LETTERS = { L: 'lacking', P: 'present', N: 'na' } as const;

/** Attempts from their outcomes: `tasks[i]` holds one letter a trial, `f` failed and `p` passed. */
const attemptsOf = (tasks: readonly string[]): Attempt[] =>
  tasks.flatMap((trials, task) =>
    [...trials].map((letter, trial) => ({
      id: `${task}-${trial}`,
      task: String(task),
      trial,
      outcome: letter === 'f' ? ('failed' as const) : ('passed' as const),
      termination: 'done',
    })),
  );

/** A rater's file from one letter an attempt and capability: L, P, N, or `-` for one he did not see. */
function raterOf(
  attempt: number,
  attempts: readonly Attempt[],
  labels: { [capability: string]: string },
): RaterFile {
  const seen = attempts.filter((_, i) => Object.values(labels)[0]![i] !== '-');
  const lists = Object.entries(labels).map(([name, letters]) => {
    const ids = (kind: keyof typeof LETTERS, outcome: Attempt['outcome']) =>
      attempts.filter((a, i) => letters[i] === kind && a.outcome === outcome).map(({ id }) => id);
    const all = Object.entries(LETTERS).flatMap(([letter, kind]) =>
      (['failed', 'passed'] as const).map(
        (outcome) => [`${kind}_${outcome}`, ids(letter as keyof typeof LETTERS, outcome)] as const,
      ),
    );
    return [name, Object.fromEntries(all) as unknown as LabelLists] as const;
  });
  const failed = seen.filter(({ outcome }) => outcome === 'failed').length;
  return parseRaterFile({
    attempt,
    totals: { total_failed: failed, total_passed: seen.length - failed },
    labels: Object.fromEntries(lists),
  });
}

/** The result of raters who all give the same labels, or of one each where lists are given. */
function resultFor(
  tasks: readonly string[],
  labels: { [capability: string]: string } | readonly { [capability: string]: string }[],
  given: { raters?: number; coverage?: number; gap?: number } = {},
) {
  const attempts = attemptsOf(tasks);
  const each = Array.isArray(labels) ? labels : Array.from({ length: given.raters ?? 1 }, () => labels);
  const raters = each.map((one, i) => raterOf(i + 1, attempts, one as { [capability: string]: string }));
  const names = Object.keys(each[0] as object);
  const result = resultOf(
    {
      attempts,
      candidates: names.map((name) => ({ name, definition: `${name}.` })),
      raters,
      excluded: 0,
      withoutReference: null,
      analyst: 'test',
      seed: 1,
    },
    diagnosisSettings({ ...given, raters: each.length }),
  );
  // Whatever is made can be read again.
  expect(parseCapabilitiesFile(JSON.parse(JSON.stringify(result)))).toEqual(result);
  return result;
}

const named = (result: ReturnType<typeof resultFor>, name: string) =>
  result.capabilities.find((capability) => capability.name === name)!;

describe('what the retained set explains', () => {
  // Six failures, four passes. first: failures 0–3; second: 2–4; third (not retained: passed ones lack it too): 5.
  const result = resultFor(['f', 'f', 'f', 'f', 'f', 'f', 'p', 'p', 'p', 'p'], {
    first: 'LLLLPPPPPP',
    second: 'NNLLLNPPPP',
    third: 'PPPPPLLLLL',
  });

  test('failures explained, left unexplained, and explained by one alone', () => {
    expect(result.capabilities.filter((c) => c.retained).map(({ name }) => name)).toEqual([
      'second',
      'first',
    ]);
    expect(result.explained).toMatchObject({ failures: 5, of: 6, share: 5 / 6, method: 'wilson' });
    expect(result.explained.interval).toEqual(wilson(5, 6));
    expect(result.unexplained).toEqual([{ id: '5-0', task: '5', termination: 'done', lacking: ['third'] }]);
    // Failures 0 and 1 lack only the first, 4 only the second; 5 would be explained by the third.
    expect(named(result, 'first').contribution).toBe(2);
    expect(named(result, 'second').contribution).toBe(1);
    expect(named(result, 'third').contribution).toBe(1);
  });

  test('overlap of every pair', () => {
    expect(result.overlaps).toEqual([
      { first: 'second', second: 'first', both: 2, onlyFirst: 1, onlySecond: 2, jaccard: 2 / 5 },
      { first: 'second', second: 'third', both: 0, onlyFirst: 3, onlySecond: 1, jaccard: 0 },
      { first: 'first', second: 'third', both: 0, onlyFirst: 4, onlySecond: 1, jaccard: 0 },
    ]);
  });

  test('the matrix has a letter for each capability, in their order', () => {
    expect(result.attempts[0]).toEqual({ id: '0-0', task: '0', trial: 0, outcome: 'failed', labels: 'NLP' });
    expect(result.attempts[9]!.labels).toBe('PPL');
  });
});

describe('a point and its interval are of the same quantity', () => {
  test('majority labels, not the mean over the raters', () => {
    // Three raters over five failures and two passes: the majority lacks it in two of five.
    const result = resultFor(
      ['f', 'f', 'f', 'f', 'f', 'p', 'p'],
      [{ c: 'LLPPPPP' }, { c: 'LPLPPPP' }, { c: 'LLNPPPP' }],
    );
    const [c] = result.capabilities;
    expect(c!.mean_cov).toBeCloseTo((2 / 5 + 2 / 5 + 2 / 5) / 3, 12);
    expect(c).toMatchObject({ lackingFailed: 2, presentFailed: 3, coverage: 0.4 });
    // Attempt 2 has three different labels: doubt is PRESENT.
    expect(result.attempts[2]!.labels).toBe('P');
    expect(c!.coverageInterval).toEqual(wilson(2, 5));
    expect(c!.gap).toBeCloseTo(2 / 5, 12);
    expect(c!.gapInterval).toEqual(newcombeDifference(2, 5, 0, 2).interval);
    // Δ of rater 3 is 2/4: the raters' mean is another number.
    expect(c!.mean_delta).toBeCloseTo((2 / 5 + 2 / 5 + 2 / 4) / 3, 12);
  });

  test('whatever the labels: the counts give the point, and the interval holds it', () => {
    const task = fc.tuple(fc.stringMatching(/^[fp]{1,3}$/), fc.stringMatching(/^[LPN]{3}$/));
    fc.assert(
      fc.property(fc.array(task, { minLength: 1, maxLength: 12 }), (tasks) => {
        const result = resultFor(
          tasks.map(([outcomes]) => outcomes),
          { c: tasks.map(([outcomes, labels]) => labels.slice(0, outcomes.length)).join('') },
        );
        const [c] = result.capabilities;
        const quotient = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);
        expect(c!.coverage).toBeCloseTo(quotient(c!.lackingFailed, result.trajectories.failed), 12);
        expect(c!.gap).toBeCloseTo(
          quotient(c!.lackingFailed, c!.lackingFailed + c!.presentFailed) -
            quotient(c!.lackingPassed, c!.lackingPassed + c!.presentPassed),
          12,
        );
        for (const [point, [low, high]] of [
          [c!.coverage, c!.coverageInterval],
          [c!.gap, c!.gapInterval],
          [result.explained.share, result.explained.interval],
        ] as const) {
          expect(low).toBeLessThanOrEqual(point + 1e-9);
          expect(high).toBeGreaterThanOrEqual(point - 1e-9);
        }
      }),
      { numRuns: 15 },
    );
  });
});

describe('repeated trials', () => {
  test('copies of an attempt tell nothing new', () => {
    const once = resultFor(['f', 'f', 'f', 'f', 'f', 'f', 'f', 'f', 'f', 'f', 'p', 'p', 'p', 'p'], {
      c: 'LLLLPPPPPPPPPP',
    });
    const four = resultFor(
      [...Array.from({ length: 10 }, () => 'ffff'), ...Array.from({ length: 4 }, () => 'pppp')],
      { c: `${'L'.repeat(16)}${'P'.repeat(40)}` },
    );
    const width = ([low, high]: readonly [number, number]) => high - low;
    expect(once.capabilities[0]).toMatchObject({
      coverage: 0.4,
      coverageMethod: 'wilson',
      gapMethod: 'newcombe',
    });
    expect(four.capabilities[0]).toMatchObject({
      coverage: 0.4,
      coverageMethod: 'by-task',
      gapMethod: 'by-task',
    });
    // As wide as ten tasks make it, not forty attempts: within a fifth of Wilson's.
    expect(width(four.capabilities[0]!.coverageInterval)).toBeGreaterThan(1.6 * width(wilson(16, 40)));
    expect(width(four.capabilities[0]!.coverageInterval) / width(wilson(4, 10))).toBeCloseTo(1, 0.4);
    // No passed attempt lacks it: a bootstrap alone would take that for certain.
    expect(four.capabilities[0]!.gapInterval[0]).toBeLessThanOrEqual(
      newcombeDifference(16, 40, 0, 16).interval[0],
    );
  });

  test('what every task does alike keeps the width of the tasks', () => {
    const result = resultFor(
      Array.from({ length: 8 }, () => 'ffp'),
      { c: 'PPP'.repeat(8) },
    );
    // None of 16 failures lacks it; they are at eight tasks.
    expect(result.capabilities[0]!.coverageInterval).toEqual(wilson(0, 8));
  });

  test('pass^k and pass@k over the tasks that have k trials', () => {
    const result = resultFor(['pf', 'pp', 'ff', 'p'], { c: 'PPPPPPP' });
    expect(result.tasks).toEqual({ total: 4, repeated: 3, mixed: 1 });
    const { passHat, passAt } = result.passRates!;
    expect(passHat.map(({ k, tasks, rate }) => [k, tasks, rate])).toEqual([
      [1, 4, (0.5 + 1 + 0 + 1) / 4],
      [2, 3, 1 / 3],
    ]);
    expect(passAt.map(({ k, rate }) => [k, rate])).toEqual([
      [1, (0.5 + 1 + 0 + 1) / 4],
      [2, 2 / 3],
    ]);
    expect(resultFor(['p', 'f'], { c: 'PP' }).passRates).toBeNull();
  });
});

test('stability: a finding at one of ten tasks is found when that task is drawn, 1 − 0.9¹⁰', () => {
  const result = resultFor(
    Array.from({ length: 10 }, () => 'fp'),
    { c: `LP${'NN'.repeat(9)}`, steady: 'LP'.repeat(10) },
    { coverage: 0.05 },
  );
  expect(named(result, 'c').retained).toBe(true);
  expect(named(result, 'c').stability).toBeCloseTo(1 - 0.9 ** 10, 1);
  expect(named(result, 'c').cautions.join(' ')).toContain('With other tasks it may not be retained');
  expect(named(result, 'steady').stability).toBe(1);
  expect(result.resamples).toBe(1000);
});

test('agreement: κ only where two raters saw an attempt, flagged when low', () => {
  // Rater 2 sees the first four attempts alone; there the two agree on two and differ on two.
  const result = resultFor(['f', 'f', 'f', 'f', 'p', 'p'], [{ c: 'LPLPPP' }, { c: 'LPPL--' }]);
  const [c] = result.capabilities;
  // Observed 1/2; L and P are half of the ratings each: expected 1/2.
  expect(c!.agreement).toBeCloseTo(0.5, 12);
  expect(c!.kappa).toBeCloseTo(0, 12);
  expect(c!.kappaLow).toBe(true);
  expect(c!.cautions.join(' ')).toContain('Raters agree little (κ 0.00)');
  const alone = resultFor(['f', 'p'], { c: 'LP' });
  expect(alone.capabilities[0]).toMatchObject({ kappa: null, kappaLow: false, agreement: null });
});

describe('what the data cannot tell', () => {
  const passes = Array.from({ length: 12 }, () => 'p');
  const failures = Array.from({ length: 12 }, () => 'f');
  const of = (tasks: readonly string[]) =>
    resultFor(tasks, { c: 'P'.repeat(tasks.join('').length) }, { raters: 2 }).warnings.join('\n');

  test.each<[string, readonly string[], string | null]>([
    ['enough of everything', [...passes, ...failures], null],
    ['nothing failed', passes, 'No attempt failed'],
    ['nothing passed', failures, 'No attempt passed'],
    // Wilson by hand, z² = 3.84: 1.5 in 3 is 0.5 ± 0.375; 0 in 2 is up to z² / (2 + z²) = 66 %.
    [
      'few failed',
      [...passes, 'f', 'f', 'f'],
      'Only 3 attempts failed: a coverage of 50 % could as well be 13 or 87 %',
    ],
    ['few passed', [...failures, 'p', 'p'], 'Only 2 attempts passed: what none of them lacks, up to 66 %'],
    ['one task', ['ffffffffffpppppppppp'], 'All attempts are at one task'],
    ['failures at one task', ['ffffffffff', ...passes], 'All failures are at one task'],
    [
      'tasks pass or fail whole',
      [...passes, ...Array.from({ length: 12 }, () => 'ff')],
      'No task was both passed and failed',
    ],
    [
      'few failing tasks',
      ['ffffff', 'ffffff', ...passes.map(() => 'pf').slice(0, 2), ...passes],
      'at only 4 tasks',
    ],
  ])('%s', (_, tasks, expected) => {
    if (expected === null) expect(of(tasks)).toBe('');
    else expect(of(tasks)).toContain(expected);
  });

  test('no passed attempt needs it; the gap may be none; all at one task', () => {
    const result = resultFor(['ff', ...failures.slice(0, 4), ...passes.slice(0, 4)], {
      unneeded: 'LLPPPPNNNN',
      thin: 'LLPPPPPNNN',
    });
    expect(named(result, 'unneeded').cautions).toContain(
      'No passed attempt needs it: the gap is the error rate of the failed ones alone.',
    );
    expect(named(result, 'thin').cautions[0]).toContain('The gap may be none');
    expect(named(result, 'thin').cautions[0]).toContain('1 passed attempt needs it');
    expect(named(result, 'thin').cautions).toContain('Every failure that lacks it is at the same task.');
  });
});
