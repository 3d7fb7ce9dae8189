import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readLines } from './lines.js';
import { parseTrajectory, RecordError } from './parse.js';
import { PreparedTrajectory } from './prepared.js';
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

/** Bytes written at a time; twice as many wait at most, however many records there are. */
const BATCH = 1 << 22;

/** Lines of a file that is being written: one batch is filled while the one before goes to the disk. */
class LineWriter {
  readonly #file: FileHandle;
  #batch = Buffer.allocUnsafe(BATCH);
  #spare = Buffer.allocUnsafe(BATCH);
  #filled = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Adds a line; one that was printed already is copied behind its head. */
  async add(line: string, printed: Buffer | null = null): Promise<void> {
    // A UTF-16 code unit takes three bytes of UTF-8 at most.
    const most = line.length * 3 + (printed?.length ?? 0) + 1;
    if (this.#filled + most > BATCH) await this.flush();
    if (most > BATCH) {
      await this.#writing;
      await this.#write(
        Buffer.concat([Buffer.from(line, 'utf8'), printed ?? Buffer.alloc(0), Buffer.from('\n')]),
      );
      return;
    }
    this.#filled += this.#batch.write(line, this.#filled, 'utf8');
    if (printed) this.#filled += printed.copy(this.#batch, this.#filled);
    this.#batch[this.#filled++] = 0x0a;
  }

  /** Hands the batch to the disk once the one before is there. */
  async flush(): Promise<void> {
    await this.#writing;
    const full = this.#batch.subarray(0, this.#filled);
    [this.#batch, this.#spare] = [this.#spare, this.#batch];
    this.#filled = 0;
    this.#writing = this.#write(full);
    // Whoever waits next is told; until then nobody else may be.
    this.#writing.catch(() => {});
  }

  async end(): Promise<void> {
    await this.flush();
    await this.#writing;
    await this.#file.sync();
  }

  async #write(bytes: Buffer): Promise<void> {
    for (let offset = 0; offset < bytes.length; )
      offset += (await this.#file.write(bytes, offset, bytes.length - offset)).bytesWritten;
  }

  /** Waits until nothing is on its way, whatever became of it. */
  async settle(): Promise<void> {
    await this.#writing.catch(() => {});
  }
}

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
    const file = await open(temporary, 'w');
    const writer = new LineWriter(file);
    try {
      for await (const trajectory of trajectories) {
        if (trajectory instanceof PreparedTrajectory) await writer.add(trajectory.head(), trajectory.printed);
        else await writer.add(lineOf(trajectory));
        written++;
      }
      await writer.end();
    } finally {
      await writer.settle();
      await file.close();
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return written;
}
