import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RecordError } from '../trajectory/parse.js';
import { consensusOf } from './consensus.js';
import { raterScore, selectCapabilities } from './contrast.js';
import { type LabelLists, parseRaterFile, type RaterFile } from './rater-file.js';
import { diagnosisSettings } from './settings.js';

const ids = (prefix: string, n: number) => Array.from({ length: n }, (_, i) => `${prefix}${i}`);

/** Lists with LF, PF, NF failed and LP, PP, NP passed trajectories. */
function lists(lf: number, pf: number, nf: number, lp: number, pp: number, np: number): LabelLists {
  const failed = ids('f', lf + pf + nf);
  const passed = ids('p', lp + pp + np);
  return {
    lacking_failed: failed.slice(0, lf),
    present_failed: failed.slice(lf, lf + pf),
    na_failed: failed.slice(lf + pf),
    lacking_passed: passed.slice(0, lp),
    present_passed: passed.slice(lp, lp + pp),
    na_passed: passed.slice(lp + pp),
  };
}
const file = (attempt: number, labels: { [name: string]: LabelLists }): RaterFile => ({
  attempt,
  totals: { total_failed: 20, total_passed: 10 },
  labels,
});
const settings = diagnosisSettings();

describe('contrast of one rater', () => {
  test('coverage, error rates and gap by hand', () => {
    // 5 of 20 failed lack it; of those it applies to, 5/8 failed and 1/4 passed lack it.
    const score = raterScore(lists(5, 3, 12, 1, 3, 6), settings);
    expect(score).toMatchObject({
      coverage: 0.25,
      failedErrorRate: 0.625,
      passedErrorRate: 0.25,
      gap: 0.375,
    });
    expect(score.passes).toBe(true);
  });

  test.each([
    ['nobody needs it', lists(0, 0, 20, 0, 0, 10), 0, 0, false],
    ['only failed ones need it', lists(2, 0, 18, 0, 0, 10), 0.1, 1, true],
    ['coverage just under ρ', lists(1, 0, 19, 0, 10, 0), 0.05, 1, false],
    ['passed ones lack it as often', lists(10, 10, 0, 5, 5, 0), 0.5, 0, false],
    ['gap exactly δ', lists(6, 4, 10, 4, 6, 0), 0.3, 0.2, true],
    ['passed ones lack it more often', lists(2, 8, 10, 10, 0, 0), 0.1, -0.8, false],
  ])('%s', (_, labels, coverage, gap, passes) => {
    const score = raterScore(labels, settings);
    expect(score.coverage).toBeCloseTo(coverage, 12);
    expect(score.gap).toBeCloseTo(gap, 12);
    expect(score.passes).toBe(passes);
  });
});

describe('selection', () => {
  const strong = lists(10, 0, 10, 0, 10, 0);
  const weak = lists(4, 6, 10, 0, 10, 0);
  const none = lists(0, 10, 10, 0, 10, 0);

  test('K of N, rank by mean gap, population deviation, a rater that misses a capability does not pass it', () => {
    const raters = Array.from({ length: 10 }, (_, i) =>
      file(i + 1, {
        rare: i < 7 ? strong : none,
        often: i < 8 ? strong : none,
        low: weak,
        ...(i < 8 ? { missed: strong } : {}),
      }),
    );
    const scores = selectCapabilities(['low', 'rare', 'missed', 'often'], raters, settings);
    expect(scores.map(({ name, retained, ratersPassed }) => [name, retained, ratersPassed])).toEqual([
      ['missed', true, 8],
      ['often', true, 8],
      ['low', true, 10],
      ['rare', false, 7],
    ]);
    const often = scores[1]!;
    // Eight raters say 1, two say 0: mean .8, population deviation sqrt(.8 · .2) = .4.
    expect(often.gapMean).toBeCloseTo(0.8, 12);
    expect(often.gapStd).toBeCloseTo(0.4, 12);
    expect(often.coverageMean).toBeCloseTo(0.4, 12);
    expect(often.coverageStd).toBeCloseTo(0.2, 12);
    expect(scores[0]!.gapMean).toBe(1);
  });

  test('settings: K follows N, contradictions are refused', () => {
    expect(diagnosisSettings({ raters: 5 }).ratersNeeded).toBe(4);
    expect(() => diagnosisSettings({ raters: 3, ratersNeeded: 4 })).toThrow(RangeError);
    expect(() => diagnosisSettings({ coverage: 2 })).toThrow(RangeError);
    expect(() => diagnosisSettings({ raters: 0 })).toThrow(RangeError);
  });
});

test('consensus: majority, doubt is PRESENT, counts and tests follow', () => {
  const vote = (where: keyof LabelLists): LabelLists => ({
    ...lists(0, 0, 0, 0, 0, 0),
    [where]: ['x'],
    present_passed: ['y'],
  });
  const raters = (['lacking_failed', 'lacking_failed', 'na_failed', 'present_failed'] as const).map(
    (where, i) => ({
      attempt: i + 1,
      totals: { total_failed: 1, total_passed: 1 },
      labels: { c: vote(where) },
    }),
  );
  // Two of four is no majority.
  expect(consensusOf(['c'], raters)[0]).toMatchObject({
    lackingFailed: 0,
    presentFailed: 1,
    naFailed: 0,
  });
  const row = consensusOf(['c'], raters.slice(0, 3))[0]!;
  expect(row).toMatchObject({ lackingFailed: 1, presentFailed: 0, lackingPassed: 0, presentPassed: 1 });
  expect(row.p).toBeCloseTo(1, 12);
  expect(row.labels.get('x')).toBe('LACKING');
});

describe('rater files', () => {
  const good = { ...file(3, { c: lists(5, 3, 12, 1, 3, 6) }) };
  const copy = () =>
    JSON.parse(JSON.stringify(good)) as { labels: { c: { [list: string]: (string | number)[] } } };

  test('are read as written', () => {
    expect(parseRaterFile(JSON.parse(JSON.stringify(good)))).toEqual(good);
  });

  test('an id in two lists, a missing id and a missing list are refused', () => {
    const twice = copy();
    twice.labels.c.na_failed![0] = 'f0';
    expect(() => parseRaterFile(twice)).toThrow('trajectory f0 stands in lacking_failed and in na_failed');
    const short = copy();
    short.labels.c.na_passed!.pop();
    expect(() => parseRaterFile(short)).toThrow('holds 9 passed trajectories, the totals say 10');
    const without = copy();
    delete without.labels.c.lacking_passed;
    expect(() => parseRaterFile(without)).toThrow(RecordError);
  });

  test('no value crashes the reader', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        try {
          parseRaterFile(value);
        } catch (error) {
          expect(error).toBeInstanceOf(RecordError);
        }
      }),
    );
  });
});
