import { parse as parseCsv } from 'csv-parse/sync';
import { JsonShapeError } from '../json-pieces.js';
import { isObject, type JsonObject } from '../parse.js';
import { guardRecord, InvalidRecordError } from '../store.js';
import type { Trajectory } from '../trajectory.js';
import { readWhole } from './record-files.js';
import { readRecords } from './records.js';
import type { ScoreVerdict } from './rewards.js';
import { kindOf, readHead } from './sample.js';
import { VERDICT_FIELDS, verdictOf, verdictValue } from './verdict-values.js';

/** Columns that name an attempt, then those that name a task. */
const ATTEMPT = ['trajectory_id', 'attempt_id', 'rollout_id', 'run_id', 'id', 'uuid', 'conversation_id'];
const MORE_ATTEMPT = ['session_id', 'trace_id', 'request_id', 'sample_id', 'name', 'file', 'key'];
const TASK = [
  'task_id',
  'instance_id',
  'problem_id',
  'prompt_id',
  'question_id',
  'example_id',
  'scenario_id',
];
const TRIAL = ['trial', 'attempt', 'rollout', 'epoch'];

/** Verdicts that stand in a file of their own, joined to attempts by id. */
export class VerdictTable {
  readonly #byId = new Map<string, ScoreVerdict>();
  readonly #byTask = new Map<string, ScoreVerdict>();
  readonly #used = new Set<string>();
  #withoutVerdict = 0;

  /** Rows with an id and a verdict. */
  get rows(): number {
    return this.#byId.size + this.#byTask.size;
  }

  /** Rows that named no attempt read so far. */
  get unused(): number {
    return this.rows - this.#used.size;
  }

  /** Rows whose verdict was empty or could not be read. */
  get withoutVerdict(): number {
    return this.#withoutVerdict;
  }

  /**
   * Takes in a row. @throws InvalidRecordError when it names nothing, or contradicts an earlier one.
   */
  add(row: JsonObject, file: string, number: number, passAt?: number): void {
    const names = new Map(Object.entries(row).map(([key, value]) => [plainName(key), value]));
    const plain: JsonObject = Object.fromEntries(names);
    const attempt = textOf(names, [...ATTEMPT, ...MORE_ATTEMPT]);
    const task = textOf(names, TASK);
    const trial = textOf(names, TRIAL);
    if (attempt === null && task === null) {
      const columns = [...names.keys()].slice(0, 12).join(', ');
      throw new InvalidRecordError(
        file,
        number,
        `no column names an attempt (id, task_id, …); it has ${columns}`,
      );
    }
    const verdict = verdictOf(plain, passAt);
    if (!verdict) {
      this.#withoutVerdict++;
      return;
    }
    if (attempt !== null) this.#put(this.#byId, attempt, verdict, file, number);
    else this.#put(this.#byTask, trial === null ? task! : `${task}\0${trial}`, verdict, file, number);
  }

  #put(
    to: Map<string, ScoreVerdict>,
    key: string,
    verdict: ScoreVerdict,
    file: string,
    number: number,
  ): void {
    const earlier = to.get(key);
    if (earlier && earlier.outcome !== verdict.outcome)
      throw new InvalidRecordError(
        file,
        number,
        `${key.replace('\0', ', trial ')} has another verdict above`,
      );
    to.set(key, verdict);
  }

  /**
   * The trajectory with its row's verdict; the trajectory itself where no row names it. A row names an attempt by its
   * id, by task and trial, or all attempts at a task by the task alone.
   */
  join(trajectory: Trajectory): Trajectory {
    const { id, taskId, trial } = trajectory;
    const places = [
      [this.#byId, id],
      [this.#byTask, `${taskId}\0${trial}`],
      [this.#byTask, taskId],
      [this.#byId, taskId],
    ] as const;
    for (const [map, key] of places) {
      const verdict = map.get(key);
      if (!verdict) continue;
      this.#used.add(`${map === this.#byId ? 'id' : 'task'} ${key}`);
      const { excluded: _, ...metadata } = trajectory.metadata;
      return {
        ...trajectory,
        reward: verdict.reward,
        outcome: verdict.outcome,
        metadata: verdict.excluded === undefined ? metadata : { ...metadata, excluded: verdict.excluded },
      };
    }
    return trajectory;
  }
}

const plainName = (name: string) =>
  name
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');

function textOf(row: ReadonlyMap<string, unknown>, names: readonly string[]): string | null {
  for (const name of names) {
    const value = row.get(name);
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
    if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  }
  return null;
}

/** Rows of a CSV with a header; commas, semicolons or tabs part them. @throws JsonShapeError saying what is wrong. */
function csvRows(path: string): JsonObject[] {
  const text = readWhole(path);
  const header = text.slice(0, text.search(/[\r\n]|$/));
  const [delimiter] = [',', ';', '\t'].sort((a, b) => header.split(b).length - header.split(a).length);
  try {
    return parseCsv(text, {
      columns: true,
      bom: true,
      delimiter: delimiter!,
      skip_empty_lines: true,
      trim: true,
    });
  } catch (error) {
    throw new JsonShapeError(
      `${path}: no CSV with a header: ${error instanceof Error ? error.message : String(error)}`,
      {
        cause: error,
      },
    );
  }
}

/** An object of verdicts by id (`{"a": true, "b": {"reward": 0}}`) as rows; null when it is none. */
function objectRows(value: unknown): JsonObject[] | null {
  if (!isObject(value)) return null;
  const entries = Object.entries(value);
  if (entries.some(([key]) => VERDICT_FIELDS.has(key) || key === 'id')) return null;
  const rows = entries.map(([id, verdict]) =>
    isObject(verdict) ? { ...verdict, id } : verdictValue(verdict) === null ? null : { id, label: verdict },
  );
  return rows.every((row) => row !== null) ? rows : null;
}

/**
 * Reads a sidecar: CSV with a header, JSONL, a JSON list, an object of verdicts by id, or Parquet. Rows name their
 * attempt (`id`, `task_id` with or without `trial`, …) and carry a verdict as records of chats do.
 * @throws InvalidRecordError naming the row; JsonShapeError when it holds no verdict or cannot be read at all.
 */
export async function readVerdicts(path: string, passAt?: number): Promise<VerdictTable> {
  const table = new VerdictTable();
  const head = readHead(path);
  const first = head.bytes
    .toString('utf8', 0, 64)
    .replace(/^\ufeff/, '')
    .trim()[0];
  const binary = head.bytes.subarray(0, 4).toString('latin1') === 'PAR1';
  if (first !== undefined && !binary && first !== '[' && first !== '{') {
    for (const [i, row] of csvRows(path).entries()) table.add(row, path, i + 1, passAt);
  } else {
    const whole =
      kindOf(path, head).kind === 'object'
        ? guardRecord(path, 1, () => JSON.parse(readWhole(path)), {})
        : null;
    const rows = objectRows(whole);
    for (const [i, row] of (rows ?? []).entries()) table.add(row, path, i + 1, passAt);
    if (!rows)
      for await (const record of readRecords(path, {
        open: ['verdicts', 'results', 'data', 'rows', 'scores'],
      })) {
        const row = guardRecord(path, record.number, () => record.parse(), {});
        if (!isObject(row))
          throw new InvalidRecordError(path, record.number, 'a verdict has to be an object');
        table.add(row, path, record.number, passAt);
      }
  }
  if (table.rows === 0)
    throw new JsonShapeError(
      `${path}: ${table.withoutVerdict > 0 ? `${table.withoutVerdict} rows, and` : ''} no verdict in any (looked at: ${[...VERDICT_FIELDS].join(', ')})`,
    );
  return table;
}
