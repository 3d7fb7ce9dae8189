import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { JsonShapeError } from '../json-pieces.js';
import { RecordError } from '../parse.js';
import { InvalidRecordError, type ReadOptions, reasonOf } from '../store.js';

/** Deeper folders and longer listings are not what a benchmark writes. */
const DEPTH = 8;
const MOST_FILES = 500_000;
/** A file that is read whole: verdicts and the like. V8 holds strings of up to 512 MiB. */
const LARGEST = 256 * 1024 * 1024;

/**
 * Files below a folder whose relative path (with `/`) is wanted, in the order of their names. Links are not followed.
 * @throws InvalidRecordError when there are too many files; the file system's own error.
 */
export function* filesUnder(folder: string, wanted: (path: string) => boolean): Generator<string> {
  let seen = 0;
  function* walk(inside: string, depth: number): Generator<string> {
    const entries = readdirSync(join(folder, inside), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (++seen > MOST_FILES)
        throw new InvalidRecordError(folder, 1, `the folder holds more than ${MOST_FILES} files`);
      const path = inside === '' ? entry.name : `${inside}/${entry.name}`;
      if (entry.isDirectory() && depth < DEPTH) yield* walk(path, depth + 1);
      else if (entry.isFile() && wanted(path)) yield join(folder, path);
    }
  }
  yield* walk('', 1);
}

/**
 * The text of a small file.
 * @throws RecordError for one that is too large to be read whole.
 */
export function readWhole(path: string): string {
  const { size } = statSync(path);
  if (size > LARGEST) throw new RecordError(`${path} is too large to be read whole (${size} bytes)`);
  const text = readFileSync(path, 'utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

const HOLDS_DATA = /\.(jsonl?|ndjson|traj|eval|parquet)$/;

/**
 * Whether a folder is of one format: it has files of it, and every file that could hold data is one of them or beside the
 * point. Otherwise its files are told apart one by one, so that none is passed over.
 */
export function isFolderOf(
  entries: readonly string[],
  own: (entry: string) => boolean,
  beside: (entry: string) => boolean,
): boolean {
  const data = entries.filter((entry) => HOLDS_DATA.test(entry));
  return data.some(own) && data.every((entry) => own(entry) || beside(entry));
}

/** Errors that are the record's fault rather than the machine's. */
export function isRecordFault(error: unknown): boolean {
  return [RecordError, SyntaxError, RangeError, JsonShapeError].some((kind) => error instanceof kind);
}

/**
 * `guardRecord` for a record that takes more than one step to read (a file that is one record).
 * @throws InvalidRecordError unless `onInvalid` is given.
 */
export async function guardFile<T>(
  file: string,
  record: number,
  make: () => Promise<T>,
  { onInvalid }: ReadOptions,
): Promise<T | null> {
  try {
    return await make();
  } catch (error) {
    if (!isRecordFault(error)) throw error;
    const invalid = new InvalidRecordError(file, record, reasonOf(error));
    if (!onInvalid) throw invalid;
    onInvalid(invalid);
    return null;
  }
}

/** Counts attempts at each task, for formats that do not number them. */
export class TrialCounter {
  readonly #seen = new Map<string, number>();

  /** The number of this attempt, from 0. */
  next(taskId: string): number {
    const trial = this.#seen.get(taskId) ?? 0;
    this.#seen.set(taskId, trial + 1);
    return trial;
  }
}
