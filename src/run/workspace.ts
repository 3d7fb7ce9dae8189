import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from './errors.js';
import { writeJsonWhole } from './files.js';
import { Journal } from './journal.js';
import { RunLock } from './lock.js';
import { runPaths } from './paths.js';

/** `run.json`: what makes the run what it is. No times, so that equal runs have equal files. */
export interface RunSnapshot {
  readonly format: 1;
  readonly run: string;
  /** Version of TRACE that began the run. */
  readonly version: string;
  readonly seed: number;
  /** SHA-256 of the base model's files. */
  readonly model: string;
  /** The whole configuration, defaults filled in. */
  readonly config: unknown;
}

/** Folder of a run below a project. @throws InputError for a name that is no plain folder name. */
export function runFolder(project: string, run: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(run)) {
    throw new InputError(
      `--run ${JSON.stringify(run)} is no run name`,
      'Use letters, digits, dot, dash and underscore, beginning with a letter or digit.',
    );
  }
  return join(project, '.trace', run);
}

/** Names of the runs of a project, sorted. */
export function listRuns(project: string): string[] {
  const folder = join(project, '.trace');
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(runPaths.run(join(folder, entry.name))))
    .map((entry) => entry.name)
    .sort();
}

/** A run's snapshot, or null where nothing was run. @throws InputError when `run.json` cannot be read. */
export function readSnapshot(folder: string): RunSnapshot | null {
  const path = runPaths.run(folder);
  if (!existsSync(path)) return null;
  try {
    const snapshot = JSON.parse(readFileSync(path, 'utf8')) as RunSnapshot;
    if (snapshot.format !== 1) throw new Error(`its format is ${JSON.stringify(snapshot.format)}, not 1`);
    return snapshot;
  } catch (error) {
    throw new InputError(
      `${path}: ${error instanceof Error ? error.message : String(error)}`,
      'Mend the file, or start a new run: `--run NAME`.',
    );
  }
}

/** A run opened for work: locked, with its journal. */
export class Workspace {
  private constructor(
    readonly folder: string,
    readonly journal: Journal,
    private readonly lock: RunLock,
  ) {}

  /**
   * Locks and opens a run's folder, creating it when missing.
   * @throws TraceError when another process works on it; the file system's error when it cannot be written.
   */
  static open(folder: string): Workspace {
    mkdirSync(folder, { recursive: true });
    const lock = RunLock.acquire(folder);
    try {
      removeTemporaries(folder);
      return new Workspace(folder, new Journal(runPaths.journal(folder)), lock);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  writeSnapshot(snapshot: RunSnapshot): void {
    writeJsonWhole(runPaths.run(this.folder), snapshot);
  }

  close(): void {
    this.journal.close();
    this.lock.release();
  }
}

/** Half-written files of a killed process; nobody else writes here, the lock is held. */
function removeTemporaries(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && /\.\d+\.tmp$/.test(entry.name)) rmSync(join(entry.parentPath, entry.name));
  }
}
