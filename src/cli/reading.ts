import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { InputError } from '../run/errors.js';
import { importTrajectories, UnknownFormatError } from '../trajectory/importers/detect.js';
import { findSources, type Source, type UnreadFile } from '../trajectory/importers/sources.js';
import { exclusionReason } from '../trajectory/importers/verdict-values.js';
import { readVerdicts, type VerdictTable } from '../trajectory/importers/verdicts.js';
import { JsonShapeError } from '../trajectory/json-pieces.js';
import { RecordError } from '../trajectory/parse.js';
import { PreparedTrajectory } from '../trajectory/prepared.js';
import { InvalidRecordError } from '../trajectory/store.js';
import type { Trajectory } from '../trajectory/trajectory.js';

/** Options of the commands that read logged attempts. */
export interface ReadingFlags {
  /** Name of a format, or `auto`. */
  readonly format?: string;
  /** Sidecar with verdicts. */
  readonly verdicts?: string;
  /** Least score of a pass. */
  readonly passAt?: number | string;
  /** Leave out what cannot be read, and list it. */
  readonly skipInvalid?: boolean;
}

/** What was read from one file or folder. */
export interface ReadFile {
  readonly file: string;
  readonly format: string;
  readonly trajectories: number;
  readonly passed: number;
  readonly failed: number;
  /** Attempts that count as neither, by reason. */
  readonly excluded: { readonly [reason: string]: number };
  /** How many records were left out; the first ones with their reasons. */
  readonly leftOut: number;
  readonly skipped: readonly { readonly record: number; readonly reason: string }[];
}

/** Told how reading goes on. */
export interface ReadingProgress {
  start(bytes: number): void;
  bytes(count: number): void;
  attempt(): void;
}

/** Left-out records listed with their reasons; all are counted. */
const LISTED = 200;

/** Reads logged attempts of files and folders as one stream, and keeps the books. */
export class Reading {
  readonly files: ReadFile[] = [];
  readonly unread: UnreadFile[] = [];
  /** The sidecar, once reading has begun. */
  verdicts: VerdictTable | null = null;
  readonly #inputs: readonly string[];
  readonly #flags: ReadingFlags;
  readonly #passAt: number | undefined;
  readonly #onlyWritten: boolean;

  /**
   * @param onlyWritten the attempts go to `writeTrajectories` and nowhere else, which is faster.
   * @throws InputError for options that mean nothing.
   */
  constructor(inputs: readonly string[], flags: ReadingFlags, onlyWritten = false) {
    this.#onlyWritten = onlyWritten;
    this.#inputs = inputs;
    this.#flags = flags;
    const { passAt } = flags;
    this.#passAt = passAt === undefined ? undefined : Number(passAt);
    if (passAt === '' || (this.#passAt !== undefined && !Number.isFinite(this.#passAt)))
      throw new InputError(`--pass-at: ${passAt} is no number`);
  }

  /**
   * The attempts, ids distinct over all files.
   * @throws InputError for files that are missing or unknown, and for bad records unless they are to be left out.
   */
  async *trajectories(progress?: ReadingProgress): AsyncGenerator<Trajectory> {
    const sources = await this.#findSources();
    progress?.start(sources.reduce((sum, source) => sum + source.bytes, 0));
    const keys = new DistinctIds();
    for (const source of sources) {
      keys.begin(source.path);
      for await (const trajectory of this.#readSource(source, progress)) {
        progress?.attempt();
        yield keys.apart(trajectory);
      }
    }
  }

  async #findSources(): Promise<Source[]> {
    const { verdicts, format } = this.#flags;
    const sources: Source[] = [];
    for (const input of this.#inputs) {
      if (!existsSync(input)) throw new InputError(`${input}: there is no such file`);
      try {
        const found = await findSources(input, format === 'auto' ? undefined : format, verdicts);
        sources.push(...found.sources);
        this.unread.push(...found.unread);
      } catch (error) {
        throw inputError(input, error);
      }
    }
    if (verdicts !== undefined && sources.some((source) => !source.importer.joinsVerdicts)) {
      if (!existsSync(verdicts)) throw new InputError(`--verdicts ${verdicts}: there is no such file`);
      try {
        this.verdicts = await readVerdicts(verdicts, this.#passAt);
      } catch (error) {
        throw inputError(verdicts, error);
      }
    }
    return sources;
  }

  async *#readSource(source: Source, progress?: ReadingProgress): AsyncGenerator<Trajectory> {
    const { verdicts, skipInvalid } = this.#flags;
    const { path, importer } = source;
    const skipped: { record: number; reason: string }[] = [];
    const excluded = new Map<string, number>();
    let [leftOut, passed, failed, count, seen] = [0, 0, 0, 0, 0];
    const onInvalid = ({ file, record, reason }: InvalidRecordError) => {
      leftOut++;
      const where = file === path ? '' : `${file}: `;
      if (skipped.length < LISTED) skipped.push({ record, reason: `${where}${reason}` });
    };
    const options = {
      format: importer.name,
      onBytes: (bytes: number) => {
        const counted = Math.min(bytes, source.bytes - seen);
        seen += counted;
        progress?.bytes(counted);
      },
      ...(skipInvalid && { onInvalid }),
      ...(verdicts !== undefined && { verdicts }),
      ...(this.verdicts && { verdictTable: this.verdicts }),
      onlyWritten: this.#onlyWritten && this.verdicts === null,
      ...(this.#passAt !== undefined && { passAt: this.#passAt }),
    };
    try {
      for await (const trajectory of importTrajectories(path, options)) {
        count++;
        if (trajectory.outcome === 'passed') passed++;
        else if (trajectory.outcome === 'failed') failed++;
        const reason = exclusionReason(trajectory);
        if (reason !== null) excluded.set(reason, (excluded.get(reason) ?? 0) + 1);
        yield trajectory;
      }
    } catch (error) {
      if (!skipInvalid || !(error instanceof JsonShapeError)) throw inputError(path, error);
      // What stands before the cut was read.
      this.unread.push({ path, reason: `only ${count} attempts: ${error.message}` });
    }
    progress?.bytes(source.bytes - seen);
    const reasons = Object.fromEntries([...excluded].sort(([a], [b]) => (a < b ? -1 : 1)));
    const outcomes = { trajectories: count, passed, failed, excluded: reasons };
    this.files.push({ file: path, format: importer.name, ...outcomes, leftOut, skipped });
  }
}

/** Errors of reading as errors of use; others come back as they are. */
function inputError(file: string, error: unknown): unknown {
  if (error instanceof InvalidRecordError)
    return new InputError(error.message, 'Mend the record, or leave such records out with --skip-invalid.', {
      cause: error,
    });
  if (error instanceof UnknownFormatError)
    return new InputError(error.message, '`trace import --list` says how each format is known.', {
      cause: error,
    });
  if (error instanceof JsonShapeError || error instanceof SyntaxError || error instanceof RecordError) {
    const message = error.message.startsWith(file) ? error.message : `${file}: ${error.message}`;
    return new InputError(message, 'Is the file complete?', { cause: error });
  }
  return error;
}

/**
 * Keeps files apart: attempt ids that another file has too, and task ids that another file has with another reference
 * (two domains both have a task 0), get the file's name in front.
 */
class DistinctIds {
  readonly #ids = new Set<string>();
  readonly #tasks = new Map<string, string>();
  readonly #labels = new Map<string, number>();
  #label = '';

  begin(path: string): void {
    const name = basename(path);
    const earlier = this.#labels.get(name) ?? 0;
    this.#labels.set(name, earlier + 1);
    this.#label = earlier === 0 ? name : `${name}#${earlier + 1}`;
  }

  apart(trajectory: Trajectory): Trajectory {
    const reference = referenceKey(trajectory);
    const known = this.#tasks.get(trajectory.taskId);
    const otherTask = known !== undefined && known !== reference;
    const sameId = this.#ids.has(trajectory.id);
    const id = sameId ? `${this.#label}:${trajectory.id}` : trajectory.id;
    const taskId = otherTask ? `${this.#label}:${trajectory.taskId}` : trajectory.taskId;
    this.#ids.add(id);
    if (known === undefined) this.#tasks.set(taskId, reference);
    if (!sameId && !otherTask) return trajectory;
    return trajectory instanceof PreparedTrajectory
      ? trajectory.renamed(id, taskId)
      : { ...trajectory, id, taskId };
  }
}

function referenceKey(trajectory: Trajectory): string {
  // Chats have none, and to look would parse them.
  if (trajectory instanceof PreparedTrajectory || !trajectory.reference) return '';
  const { reference } = trajectory;
  const text = JSON.stringify(reference.actions);
  return text.length <= 64 ? text : createHash('sha256').update(text).digest('base64');
}
