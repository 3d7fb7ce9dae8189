import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { InputError } from '../run/errors.js';
import { exportDiagnosis, writeDiagnosis } from './files.js';
import { importedDiagnosis } from './imported.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-import-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Lists = { [list: string]: (string | number)[] };
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

/** Failed attempts 0 … 19 and passed ones 100 … 109, split in order into lacking, present and NA. */
const split = ([lf, pf]: [number, number], [lp, pp]: [number, number]): Lists => ({
  lacking_failed: range(0, lf),
  present_failed: range(lf, lf + pf),
  na_failed: range(lf + pf, 20),
  lacking_passed: range(100, 100 + lp),
  present_passed: range(100 + lp, 100 + lp + pp),
  na_passed: range(100 + lp + pp, 110),
});
const rater = (attempt: number, labels: { [capability: string]: Lists }) => ({
  attempt,
  totals: { total_failed: 20, total_passed: 10 },
  labels,
});
function writeRaters(files: readonly unknown[]): void {
  files.forEach((file, i) => {
    writeFileSync(join(folder, `${i + 1}.json`), JSON.stringify(file));
  });
}

/**
 * Ten raters by hand. `checking`: 8 of 20 failed lack it and 2 show it, 1 of 4 passed ones lacks it, so that Cov is
 * 0.4 and Δ 0.8 − 0.25 = 0.55; the last two raters see 1 and 9 of 20: Cov 0.05, Δ 0.1 − 0.25. `singing` applies
 * nowhere. `reading` is left out by rater 10; the others see Cov 0.1, Δ 0.2 − 0.
 */
const TEN = range(1, 11).map((attempt) =>
  rater(attempt, {
    checking: attempt <= 8 ? split([8, 2], [1, 3]) : split([1, 9], [1, 3]),
    singing: split([0, 0], [0, 0]),
    ...(attempt === 10 ? {} : { reading: split([2, 8], [0, 10]) }),
  }),
);

test("the reference implementation's files give the numbers of the definitions", () => {
  writeRaters(TEN);
  const { result } = importedDiagnosis(folder, { seed: 1 });
  expect(result.trajectories).toEqual({ passed: 10, failed: 20, excluded: 0 });
  expect(result.settings).toMatchObject({ raters: 10, ratersNeeded: 8 });
  expect(result.capabilities.map(({ name }) => name)).toEqual(['checking', 'reading', 'singing']);
  const [checking, reading, singing] = result.capabilities;
  expect(checking).toMatchObject({ n_runs_passed: 8, n_runs_total: 10, passes_consistency: true });
  expect(checking!.mean_cov).toBeCloseTo(0.8 * 0.4 + 0.2 * 0.05, 12);
  expect(checking!.mean_delta).toBeCloseTo(0.8 * 0.55 + 0.2 * -0.15, 12);
  // Two values with weights 0.8 and 0.2: the population deviation is their distance times sqrt(0.8 · 0.2).
  expect(checking!.std_cov).toBeCloseTo(0.35 * 0.4, 12);
  expect(checking!.std_delta).toBeCloseTo(0.7 * 0.4, 12);
  // A rater that leaves a capability out does not pass it, and is in no mean.
  expect(reading).toMatchObject({ n_runs_passed: 9, passes_consistency: true, missingLabels: 30 });
  expect(reading!.mean_cov).toBeCloseTo(0.1, 12);
  expect(reading!.std_delta).toBeCloseTo(0, 12);
  // Nothing applies: all rates are 0.
  expect(singing).toMatchObject({ mean_cov: 0, mean_delta: 0, n_runs_passed: 0, passes_consistency: false });
  expect(checking!.example_failed_cases).toEqual(['0', '1', '2', '3', '4', '5', '6', '7']);
});

test('what is exported is imported again with the same numbers, status and definitions', () => {
  writeRaters(TEN);
  const first = importedDiagnosis(folder, { seed: 1 });
  const [exported, written] = [join(folder, 'exported'), join(folder, 'written')];
  exportDiagnosis(exported, first);
  expect(readdirSync(exported, { recursive: true }).sort()).toEqual(
    [
      'raters',
      ...range(1, 11).map((n) => join('raters', `${String(n).padStart(2, '0')}.json`)),
      'selected_capabilities.json',
    ].sort(),
  );
  // Ids that were numbers are written as text, nothing else changes.
  const third = JSON.stringify(TEN[2]).replace(/(?<=[[,])\d+(?=[\],])/g, '"$&"');
  expect(JSON.parse(readFileSync(join(exported, 'raters', '03.json'), 'utf8'))).toEqual(JSON.parse(third));
  const selectedPath = join(exported, 'selected_capabilities.json');
  const selected = JSON.parse(readFileSync(selectedPath, 'utf8')) as { [key: string]: unknown }[];
  expect(Object.keys(selected[0]!)).toEqual([
    'skill',
    'description',
    'mean_cov',
    'std_cov',
    'mean_delta',
    'std_delta',
    'n_runs_passed',
    'n_runs_total',
    'passes_consistency',
    'example_failed_cases',
    'status',
  ]);
  selected[0]!.status = 'DONE';
  selected[0]!.description = 'Checking first.';
  writeFileSync(selectedPath, JSON.stringify(selected));
  const again = importedDiagnosis(exported, { seed: 1 });
  expect(again.result.capabilities[0]).toMatchObject({
    ...first.result.capabilities[0],
    status: 'DONE',
    definition: 'Checking first.',
    description: 'Checking first.',
  });
  expect(again.result.warnings).toEqual(first.result.warnings);
  // This project's own folder is read as well.
  writeDiagnosis(written, first);
  expect(importedDiagnosis(written, { seed: 1 }).result).toEqual(first.result);
});

test('a selection that the labels do not bear out is told', () => {
  writeRaters(TEN);
  const first = importedDiagnosis(folder, { seed: 1 });
  const exported = join(folder, 'exported');
  exportDiagnosis(exported, first);
  const path = join(exported, 'selected_capabilities.json');
  writeFileSync(path, readFileSync(path, 'utf8').replace('"n_runs_passed": 9', '"n_runs_passed": 10'));
  expect(importedDiagnosis(exported, { seed: 1 }).result.warnings).toContain(
    'selected_capabilities.json says n_runs_passed 10 of reading, the labels say 9.',
  );
});

test.each<[string, () => unknown[], string]>([
  [
    'an id in two lists',
    () => {
      const lists = split([8, 2], [1, 3]);
      lists.na_failed![0] = 0;
      return [rater(1, { checking: lists })];
    },
    'trajectory 0 stands in lacking_failed and in na_failed',
  ],
  [
    'an id that failed for one rater and passed for another',
    () => {
      const turned = split([8, 2], [1, 3]);
      turned.lacking_failed![0] = 100;
      turned.lacking_passed![0] = 0;
      return [rater(1, { checking: split([8, 2], [1, 3]) }), rater(2, { checking: turned })];
    },
    'trajectory 100 failed for rater 2 and passed for another',
  ],
  [
    'other attempts for another capability',
    () => {
      const other = split([8, 2], [1, 3]);
      other.lacking_failed![0] = 77;
      return [rater(1, { checking: split([8, 2], [1, 3]), reading: other })];
    },
    'labels.reading: trajectory 77 does not stand in labels.checking',
  ],
  ['two files of one rater', () => [TEN[0], TEN[0]], 'attempt 1 is that of 1.json too'],
  ['a file that is no rater’s', () => [[1, 2]], 'field (file) must be an object'],
  ['no file', () => [], 'holds no rater file'],
])('%s is refused', (_, files, reason) => {
  writeRaters(files());
  expect(() => importedDiagnosis(folder, { seed: 1 })).toThrow(InputError);
  expect(() => importedDiagnosis(folder, { seed: 1 })).toThrow(reason);
});

test('labels that a rater could not give count for nothing', () => {
  // Rater 2 has no label for attempts 0 and 1: 6 of the 18 labelled lack it.
  const lists = split([8, 2], [1, 3]);
  lists.lacking_failed = range(2, 8);
  writeRaters([
    rater(1, { checking: split([8, 2], [1, 3]) }),
    { ...rater(2, { checking: lists }), missing: { checking: [0, 1] } },
  ]);
  const { raters, result } = importedDiagnosis(folder, { seed: 1 });
  expect(raters[1]!.missing).toEqual({ checking: ['0', '1'] });
  const [checking] = result.capabilities;
  expect(checking!.mean_cov).toBeCloseTo((8 / 20 + 6 / 18) / 2, 12);
  expect(checking!.missingLabels).toBe(2);
  expect(result.warnings).toContain('2 labels could not be had and count for nothing.');
  // Their majority is that of the rater who labelled them.
  expect(result.attempts[0]).toMatchObject({ id: '0', labels: 'L' });
  expect(checking!.lackingFailed).toBe(8);
  mkdirSync(join(folder, 'raters'));
  writeFileSync(
    join(folder, 'raters', '1.json'),
    JSON.stringify({ ...rater(1, { checking: lists }), missing: { checking: [0] } }),
  );
  expect(() => importedDiagnosis(folder, { seed: 1 })).toThrow('the totals leave 2');
});
