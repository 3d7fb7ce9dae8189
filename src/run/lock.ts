import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { TraceError } from './errors.js';
import { writeJsonWhole } from './files.js';

/** Who holds a run, as written into `lock.json`. */
export interface LockHolder {
  readonly pid: number;
  /**
   * When that process started, in clock ticks since boot (field 22 of /proc/<pid>/stat): a later process with the
   * same pid has another one. Null where there is no /proc.
   */
  readonly startTime: string | null;
}

/**
 * One process at a time on a run's folder. The lock is an exclusive transaction on `lock.sqlite`, held as long as
 * the process lives: the operating system frees it when the process dies, however it dies, so a lock is never
 * stale. `lock.json` beside it only says who holds it.
 */
export class RunLock {
  readonly #database: Database.Database;
  readonly #holder: string;

  private constructor(database: Database.Database, holder: string) {
    this.#database = database;
    this.#holder = holder;
  }

  /**
   * @throws TraceError naming the other process's pid when the run is taken; the file system's error when the
   * folder cannot be written.
   */
  static acquire(folder: string): RunLock {
    mkdirSync(folder, { recursive: true });
    const holder = join(folder, 'lock.json');
    const deadline = Date.now() + 2_000;
    for (;;) {
      const database = new Database(join(folder, 'lock.sqlite'));
      try {
        database.exec('BEGIN EXCLUSIVE');
        try {
          writeJsonWhole(holder, { pid: process.pid, startTime: processStartTime(process.pid) });
        } catch (error) {
          database.exec('ROLLBACK');
          throw error;
        }
        return new RunLock(database, holder);
      } catch (error) {
        database.close();
        if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error;
        const other = readLockHolder(folder);
        // The holder may have died this instant, or not have written its name yet: look again before refusing.
        if (other === null && Date.now() < deadline) {
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
          continue;
        }
        throw new TraceError(
          `the run in ${folder} is being worked on by ${other ? `process ${other.pid}` : 'another process'}`,
          'Wait until it ends or stop it, or work beside it in a new run: `--run NAME`.',
        );
      }
    }
  }

  release(): void {
    if (!this.#database.open) return;
    rmSync(this.#holder, { force: true });
    this.#database.exec('ROLLBACK');
    this.#database.close();
  }
}

/** The living process that holds the run, or null. */
export function readLockHolder(folder: string): LockHolder | null {
  const path = join(folder, 'lock.json');
  if (!existsSync(path)) return null;
  try {
    const { pid, startTime } = JSON.parse(readFileSync(path, 'utf8')) as LockHolder;
    if (!Number.isSafeInteger(pid) || pid <= 0 || !isAlive(pid)) return null;
    return startTime === processStartTime(pid) ? { pid, startTime } : null;
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Start of a process in ticks since boot, or null where /proc does not tell. */
export function processStartTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the command in parentheses and may hold spaces: count from the last parenthesis, where
    // field 3 begins.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
