import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type DiagnosedCapability,
  parseSelectedCapabilities,
  readJson,
  type SelectedCapability,
} from '../analyst/capabilities-file.js';
import type { Capability } from '../analyst/contract.js';
import { InputError } from '../run/errors.js';
import { RecordError, read } from '../trajectory/parse.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import type { Diagnosis } from './diagnose.js';
import { parseRaterFile, type RaterFile } from './rater-file.js';
import type { Attempt } from './resampling.js';
import { resultOf } from './result.js';
import { type DiagnosisSettings, diagnosisSettings } from './settings.js';

const SELECTED = 'selected_capabilities.json';
const CANDIDATES = 'candidates.json';
/** Files of a diagnosis that are no rater's. */
const OTHERS: readonly string[] = [SELECTED, CANDIDATES, 'capabilities.json', 'report.json'];
/** Two computations of the same mean may differ by this much. */
const ROUNDING = 1e-6;

export interface ImportOptions extends Partial<Omit<DiagnosisSettings, 'raters'>> {
  readonly seed: number;
  /** The attempts that were labelled, for their tasks; absent: each counts as a task of its own. */
  readonly trajectories?: readonly Trajectory[];
}

/**
 * A diagnosis from rater files, this project's or the reference implementation's: every `*.json` in `folder/raters`,
 * or in the folder itself. Definitions come from `candidates.json` or `selected_capabilities.json` beside them; the
 * latter's numbers are compared with those of the labels, and its `status` is kept.
 * @throws RangeError for settings out of range; InputError naming the file for one that is no rater's, two with the same number, a trajectory that failed
 *   in one file and passed in another, or one that is not among the given attempts.
 */
export function importedDiagnosis(folder: string, options: ImportOptions): Diagnosis {
  const raters = readRaters(folder);
  const { seed, trajectories, ...given } = options;
  if (given.ratersNeeded !== undefined && given.ratersNeeded > raters.length)
    throw new InputError(`of ${raters.length} rater files ${given.ratersNeeded} cannot be needed`);
  const settings = diagnosisSettings({ ...given, raters: raters.length });
  const selected = readSelected(join(folder, SELECTED));
  const candidates = candidatesOf(folder, raters, selected);
  const attempts = attemptsOf(raters, folder, trajectories);
  const result = resultOf(
    {
      attempts,
      candidates,
      raters,
      excluded: (trajectories ?? []).filter(({ outcome }) => outcome === 'excluded').length,
      withoutReference: null,
      analyst: 'imported',
      seed,
    },
    settings,
  );
  const status = new Map(selected.map((entry) => [entry.skill, entry.status]));
  return {
    candidates,
    raters,
    result: {
      ...result,
      capabilities: result.capabilities.map((entry) => ({
        ...entry,
        status: status.get(entry.name) ?? entry.status,
      })),
      warnings: [
        ...result.warnings,
        ...(trajectories || attempts.length === 0
          ? []
          : ['Rater files do not name tasks: each attempt counts as a task of its own.']),
        ...selected.flatMap((entry) => disagreement(entry, result.capabilities)),
      ],
    },
  };
}

function readRaters(folder: string): RaterFile[] {
  if (!existsSync(folder)) throw new InputError(`${folder}: there is no such folder`);
  const within = existsSync(join(folder, 'raters')) ? join(folder, 'raters') : folder;
  const names = readdirSync(within)
    .filter((name) => name.endsWith('.json') && !OTHERS.includes(name))
    .sort();
  if (names.length === 0)
    throw new InputError(
      `${within} holds no rater file`,
      'Rater files are named 01.json, 02.json and so on.',
    );
  const byAttempt = new Map<number, string>();
  const raters = names.map((name) => {
    const path = join(within, name);
    const rater = checkedFile(path, parseRaterFile);
    const other = byAttempt.get(rater.attempt);
    if (other !== undefined)
      throw new InputError(`${path}: attempt ${rater.attempt} is that of ${other} too`, 'Leave one of them.');
    byAttempt.set(rater.attempt, name);
    return rater;
  });
  return raters.sort((a, b) => a.attempt - b.attempt);
}

/** Reads and checks a file; an error names it. */
function checkedFile<T>(path: string, parse: (value: unknown) => T): T {
  const value = readJson(path);
  try {
    return parse(value);
  } catch (error) {
    if (error instanceof RecordError)
      throw new InputError(
        `${path}: ${error.message}`,
        'A rater file is {attempt, totals, labels} with six lists a capability (docs/diagnosis.md).',
        { cause: error },
      );
    throw error;
  }
}

function readSelected(path: string): SelectedCapability[] {
  return existsSync(path) ? parseSelectedCapabilities(readJson(path), path) : [];
}

/** Names in the order of `candidates.json`, then as the raters name them. */
function candidatesOf(
  folder: string,
  raters: readonly RaterFile[],
  selected: readonly SelectedCapability[],
): Capability[] {
  const path = join(folder, CANDIDATES);
  const definitions = new Map(selected.map((entry) => [entry.skill, entry.description]));
  const names = new Set<string>();
  if (existsSync(path))
    for (const { name, definition } of checkedFile(path, parseCandidates)) {
      names.add(name);
      definitions.set(name, definition);
    }
  for (const { labels } of raters) for (const name of Object.keys(labels)) names.add(name);
  return [...names].map((name) => ({ name, definition: definitions.get(name) ?? '' }));
}

function parseCandidates(value: unknown): Capability[] {
  return read.list(value, '(file)').map((item, i) => {
    const entry = read.object(item, `[${i}]`);
    return {
      name: read.text(entry.name, `[${i}].name`),
      definition: read.text(entry.definition, `[${i}].definition`),
    };
  });
}

/** Every labelled attempt once, in the order of the trajectories, or of the first file that names it. */
function attemptsOf(
  raters: readonly RaterFile[],
  folder: string,
  trajectories: readonly Trajectory[] | undefined,
): Attempt[] {
  const outcomes = new Map<string, 'passed' | 'failed'>();
  for (const { labels, attempt } of raters)
    for (const lists of Object.values(labels))
      for (const outcome of ['failed', 'passed'] as const)
        for (const kind of ['lacking', 'present', 'na'] as const)
          for (const id of lists[`${kind}_${outcome}`]) {
            const known = outcomes.get(id) ?? outcome;
            if (known !== outcome)
              throw new InputError(
                `${folder}: trajectory ${id} ${outcome} for rater ${attempt} and ${known} for another`,
                'All raters have to label the same attempts.',
              );
            outcomes.set(id, known);
          }
  if (!trajectories)
    return [...outcomes].map(([id, outcome]) => ({ id, task: id, trial: 0, outcome, termination: null }));
  const attempts = trajectories.flatMap(({ id, taskId, trial, outcome, termination }): Attempt[] =>
    outcome === 'excluded' ? [] : [{ id, task: taskId, trial, outcome, termination }],
  );
  const known = new Map(attempts.map((attempt) => [attempt.id, attempt]));
  for (const [id, outcome] of outcomes) {
    const attempt = known.get(id);
    if (!attempt || attempt.outcome !== outcome)
      throw new InputError(
        attempt
          ? `${folder}: trajectory ${id} ${outcome} for the raters and ${attempt.outcome} in its file`
          : `${folder}: trajectory ${id} is in none of the given files`,
        'Give the files that the raters labelled, or none.',
      );
  }
  return attempts;
}

/** A sentence for each entry of `selected_capabilities.json` that the labels do not bear out. */
function disagreement(entry: SelectedCapability, capabilities: readonly DiagnosedCapability[]): string[] {
  const found = capabilities.find(({ name }) => name === entry.skill);
  if (!found) return [`${SELECTED} names ${entry.skill}, which no rater labels.`];
  const numbers = [
    'mean_cov',
    'std_cov',
    'mean_delta',
    'std_delta',
    'n_runs_passed',
    'n_runs_total',
  ] as const;
  return numbers
    .filter((name) => Math.abs(entry[name] - found[name]) > ROUNDING)
    .map(
      (name) => `${SELECTED} says ${name} ${entry[name]} of ${entry.skill}, the labels say ${found[name]}.`,
    );
}
