import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { readLines } from './lines.js';
import { parseTrajectory, RecordError } from './parse.js';
import type { Trajectory } from './trajectory.js';

/** A record of a file that cannot be read: which one, and why. */
export class InvalidRecordError extends Error {
  override readonly name = 'InvalidRecordError';
  readonly file: string;
  /** Record number from 1: the line of a JSONL file, the place in the list of a JSON file. */
  readonly record: number;
  readonly reason: string;

  constructor(file: string, record: number, reason: string) {
    super(`${file}: record ${record}: ${reason}`);
    this.file = file;
    this.record = record;
    this.reason = reason;
  }
}

/** What to do with a record that cannot be read. Without `onInvalid`, reading ends with the error. */
export interface ReadOptions {
  readonly onInvalid?: (error: InvalidRecordError) => void;
  /** Told how many bytes of the source were read since the last call. */
  readonly onBytes?: (bytes: number) => void;
}

/** Why a value was refused, in one line. */
export function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return `not JSON: ${error.message}`;
  if (error instanceof RangeError) return `nested too deeply or too long (${error.message})`;
  return error instanceof Error ? error.message : String(error);
}

/**
 * Runs `make` for one record; refused records go to `onInvalid` (null comes back) or end the reading.
 * Errors other than a wrong record pass through.
 */
export function guardRecord<T>(
  file: string,
  record: number,
  make: () => T,
  { onInvalid }: ReadOptions,
): T | null {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof RecordError || error instanceof SyntaxError || error instanceof RangeError))
      throw error;
    const invalid = new InvalidRecordError(file, record, reasonOf(error));
    if (!onInvalid) throw invalid;
    onInvalid(invalid);
    return null;
  }
}

/**
 * Canonical trajectories of a JSONL file, one at a time.
 * @throws InvalidRecordError at the first bad record unless `onInvalid` is given; file system errors.
 */
export async function* readTrajectories(path: string, options: ReadOptions = {}): AsyncGenerator<Trajectory> {
  for await (const line of readLines(path)) {
    const trajectory = guardRecord(path, line.number, () => parseTrajectory(JSON.parse(line.text)), options);
    if (trajectory) yield trajectory;
  }
}

const lines = new WeakMap<Trajectory, string>();

/** Remembers the JSON line that a trajectory was read from; `writeTrajectories` then writes that. */
export function keepLine(trajectory: Trajectory, text: string): void {
  if (!text.includes('\n')) lines.set(trajectory, text);
}

/** A trajectory as a line of JSON. @throws RecordError for one nested too deeply to be printed. */
function lineOf(trajectory: Trajectory): string {
  const kept = lines.get(trajectory);
  if (kept !== undefined) return kept;
  try {
    return JSON.stringify(trajectory);
  } catch (error) {
    if (error instanceof RangeError)
      throw new RecordError(`${trajectory.id} is nested too deeply to be written`);
    throw error;
  }
}

/** Flushed whenever this many characters wait, so that memory stays small for any number of records. */
const FLUSH_AT = 1 << 20;

/**
 * Writes trajectories as JSONL, whole (temporary name, fsync, rename), from a list or a stream.
 * @returns how many were written.
 * @throws whatever the source or the file system throws; the old file then stands untouched.
 */
export async function writeTrajectories(
  path: string,
  trajectories: Iterable<Trajectory> | AsyncIterable<Trajectory>,
): Promise<number> {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  let written = 0;
  try {
    const descriptor = openSync(temporary, 'w');
    try {
      let waiting = '';
      const flush = () => {
        const bytes = Buffer.from(waiting, 'utf8');
        for (let offset = 0; offset < bytes.length; ) offset += writeSync(descriptor, bytes, offset);
        waiting = '';
      };
      for await (const trajectory of trajectories) {
        waiting += `${lineOf(trajectory)}\n`;
        written++;
        if (waiting.length >= FLUSH_AT) flush();
      }
      flush();
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return written;
}
