import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parse as parseCsv } from 'csv-parse/sync';
import { isObject, type JsonObject, RecordError } from '../parse.js';
import { guardRecord } from '../store.js';
import type { ImporterOptions } from './importer.js';
import { filesUnder, readWhole } from './record-files.js';
import { FULL_MARKS } from './rewards.js';
import { EMPTY_PATCH, namesIn, readInstanceReport, type SweVerdict, sweVerdict } from './swe-verdicts.js';
import { verdictValue } from './verdict-values.js';

/** How much a source tells: a report of one instance, the id lists of a run, a bare table of ids. */
type Detail = 'report' | 'lists' | 'table';
const DETAILS: readonly Detail[] = ['report', 'lists', 'table'];

/** Run reports are lists of ids; larger files are not looked into. */
const LARGEST_REPORT = 16 * 1024 * 1024;

interface Entry {
  readonly file: string;
  readonly detail: Detail;
  readonly verdict: SweVerdict;
}

/** The id lists of a run report. An evaluation that broke says nothing of the patch, whatever other list has the id. */
const ID_LISTS: readonly (readonly [list: string, verdict: (reason: string) => SweVerdict])[] = [
  [
    'infra_failure_ids',
    (reason) => sweVerdict('excluded', [], `infrastructure: ${reason || 'so the run report'}`),
  ],
  [
    'ambiguous_failure_ids',
    (reason) => sweVerdict('excluded', [], `ambiguous evaluation: ${reason || 'so the run report'}`),
  ],
  ['incomplete_ids', () => sweVerdict('excluded', [], 'not evaluated: incomplete_ids of the run report')],
  ['resolved_ids', () => sweVerdict('passed')],
  ['empty_patch_ids', () => sweVerdict('failed', [EMPTY_PATCH])],
  [
    'error_ids',
    (reason) =>
      sweVerdict('failed', [], `the evaluation of the patch ended with an error${reason && `: ${reason}`}`),
  ],
  ['unresolved_ids', () => sweVerdict('failed')],
];

/** Verdicts by instance, gathered from one or more files. */
export class SweVerdicts {
  readonly #entries = new Map<string, Entry[]>();

  /**
   * The verdict on an attempt at an instance; null where no source has one. A report in the attempt's own folder counts
   * first, then the most detailed source.
   * @param folder where the attempt's trajectory lies.
   * @throws RecordError when sources of the same kind disagree and none lies beside the attempt.
   */
  of(id: string, folder: string | null = null): SweVerdict | null {
    const entries = this.#entries.get(id) ?? [];
    const own = entries.find((entry) => entry.detail === 'report' && dirname(entry.file) === folder);
    if (own) return own.verdict;
    const kinds = DETAILS.map((detail) => entries.filter((entry) => entry.detail === detail));
    const best = kinds.find((kind) => kind.length > 0);
    if (!best) return null;
    const other = best.find((entry) => entry.verdict.outcome !== best[0]!.verdict.outcome);
    if (other)
      throw new RecordError(
        `${best[0]!.file} and ${other.file} disagree about ${id}: name the one that counts with --verdicts`,
      );
    const found = best[0]!.verdict;
    // Only the run report says that a failure may be none of the patch's fault.
    const doubt = kinds[1]!.length === 1 ? kinds[1]![0]!.verdict : null;
    return doubt?.outcome === 'excluded' && found.outcome === 'failed' ? doubt : found;
  }

  /**
   * Takes in a file: `report.json`, a run report with id lists, a CSV or JSONL of ids and `resolved`; or a folder with
   * an evaluation's reports.
   * @throws RecordError when it is none of these, or contradicts itself; the file system's own error.
   */
  add(path: string): void {
    if (!existsSync(path)) throw new RecordError('there is no such file or folder');
    if (statSync(path).isDirectory()) {
      let found = 0;
      for (const file of filesUnder(path, (name) => isReportName(basename(name))))
        if (this.addIfReport(file)) found++;
      if (found === 0) throw new RecordError('a folder without report.json and without a run report');
      return;
    }
    if (this.addIfReport(path)) return;
    const text = readWhole(path);
    const rows = /^\s*[[{]/.test(text) ? jsonRows(text) : csvRows(text);
    for (const [i, row] of rows.entries()) {
      const id = row.instance_id ?? row.id ?? row.task_id;
      const resolved = truth(row.resolved ?? row.passed ?? row.success ?? row.reward);
      if (typeof id !== 'string' || resolved === null)
        throw new RecordError(`row ${i + 1} needs instance_id (or id) and resolved (true or false)`);
      this.#put(id, path, 'table', sweVerdict(resolved ? 'passed' : 'failed'));
    }
    if (rows.length === 0) throw new RecordError('there is no verdict in it');
  }

  /**
   * Takes in a report of SWE-bench's harness; false where the file is none.
   * @throws RecordError for a report that is damaged or contradicts itself.
   */
  addIfReport(path: string): boolean {
    let value: unknown;
    try {
      value = JSON.parse(readWhole(path));
    } catch (error) {
      if (error instanceof SyntaxError && basename(path) !== 'report.json') return false;
      throw error;
    }
    if (!isObject(value)) return false;
    if (Array.isArray(value.resolved_ids)) {
      this.#addRunReport(value, path);
      return true;
    }
    const reports = Object.entries(value).filter(
      (entry): entry is [string, JsonObject] => isObject(entry[1]) && isInstanceReport(entry[1]),
    );
    for (const [id, report] of reports) this.#put(id, path, 'report', readInstanceReport(id, report));
    return reports.length > 0;
  }

  #put(id: string, file: string, detail: Detail, verdict: SweVerdict): void {
    const entries = this.#entries.get(id);
    if (entries) entries.push({ file, detail, verdict });
    else this.#entries.set(id, [{ file, detail, verdict }]);
  }

  #addRunReport(report: JsonObject, path: string): void {
    const resolved = new Set(namesIn(report.resolved_ids));
    for (const list of ['unresolved_ids', 'empty_patch_ids', 'error_ids'])
      for (const id of namesIn(report[list]))
        if (resolved.has(id)) throw new RecordError(`${id} stands in resolved_ids and in ${list}`);
    const reasons = isObject(report.failure_reasons) ? report.failure_reasons : {};
    const seen = new Set<string>();
    for (const [list, make] of ID_LISTS)
      for (const id of namesIn(report[list])) {
        if (seen.has(id)) continue;
        seen.add(id);
        const reason = Object.hasOwn(reasons, id) ? reasons[id] : '';
        this.#put(id, path, 'lists', make(typeof reason === 'string' ? reason : ''));
      }
  }
}

function isInstanceReport(value: JsonObject): boolean {
  return ['resolved', 'patch_successfully_applied', 'tests_status', 'infra_failure'].some(
    (key) => key in value,
  );
}

/** Files that may be reports, by name: `report.json`, `<model>.<run>.json`, `results.json`. */
function isReportName(name: string): boolean {
  return name.endsWith('.json') && !name.endsWith('.traj.json') && name !== 'preds.json';
}

/** Files of an evaluation or a run that lie beside trajectories: known by name, run reports by their content. */
export function isBesideTrajectories(folder: string, entry: string): boolean {
  if (/(^|\/)(report|preds|metadata|results|all_preds|config|run_batch.*)\.jsonl?$/.test(entry)) return true;
  if (!isReportName(entry)) return false;
  try {
    const path = join(folder, entry);
    if (statSync(path).size > LARGEST_REPORT) return false;
    const value: unknown = JSON.parse(readWhole(path));
    return isObject(value) && Array.isArray(value.resolved_ids);
  } catch {
    // What cannot be read is no report; reading it as something else will say why.
    return false;
  }
}

function jsonRows(text: string): JsonObject[] {
  let values: unknown[];
  try {
    const whole: unknown = JSON.parse(text);
    values = Array.isArray(whole) ? whole : [whole];
  } catch {
    values = text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line): unknown => JSON.parse(line));
  }
  return values.map((value, i) => {
    if (!isObject(value)) throw new RecordError(`row ${i + 1} is no object`);
    return value;
  });
}

function csvRows(text: string): JsonObject[] {
  try {
    return parseCsv(text, { columns: true, skip_empty_lines: true, trim: true }) as JsonObject[];
  } catch (error) {
    throw new RecordError(`not a CSV with a header line: ${(error as Error).message}`);
  }
}

/** Passed or failed in any spelling; null for what is neither. */
function truth(value: unknown): boolean | null {
  const said = verdictValue(value);
  return typeof said === 'number' ? said >= FULL_MARKS : said;
}

/**
 * Verdicts for the trajectories of a file or folder: what `options.verdicts` names, else the reports in the folder, or
 * beside the file.
 * @throws InvalidRecordError for verdicts that cannot be read; found ones go to `onInvalid` where it is given.
 */
export function findSweVerdicts(path: string, options: ImporterOptions): SweVerdicts {
  const verdicts = new SweVerdicts();
  if (options.verdicts !== undefined) {
    // Named by a person: going on without it would turn every attempt into one without a verdict.
    guardRecord(options.verdicts, 1, () => verdicts.add(options.verdicts!), {});
    return verdicts;
  }
  const files = statSync(path).isDirectory()
    ? filesUnder(path, (name) => isReportName(basename(name)))
    : [join(dirname(path), 'report.json')].filter((file) => existsSync(file));
  for (const file of files) guardRecord(file, 1, () => verdicts.addIfReport(file), options);
  return verdicts;
}
