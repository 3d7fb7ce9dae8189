import Database from 'libsql';
import type { StepName } from './events.js';

/**
 * - `running`: begun; after a crash its finished pieces are kept and it goes on.
 * - `done`: finished, its files stand.
 * - `stale`: to be done anew; its files are removed before it begins.
 */
export type StepState = 'running' | 'done' | 'stale';

/** A step in the journal. */
export interface StepRecord {
  readonly name: StepName;
  readonly state: StepState;
  /** Digest of the step's settings and of everything the steps before it wrote. */
  readonly input: string;
  /** The settings it was begun with, as JSON text. */
  readonly settings: string;
  readonly summary: string | null;
  /** ISO times and seconds of work, all processes together; for people, never compared. */
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly seconds: number;
}

/** A rollout in the index: enough to find and count attempts without reading their files. */
export interface RolloutRecord {
  readonly id: string;
  readonly taskId: string;
  readonly trial: number;
  readonly outcome: string;
  readonly reward: number | null;
  readonly termination: string | null;
}

/** A paid answer of a language model, under the hash of its request. */
export interface StoredAnswer {
  /** SHA-256 of everything that the request says (not of where it was sent, nor with which key). */
  readonly request: string;
  readonly purpose: string;
  readonly model: string;
  readonly text: string;
  /** Why the model stopped: `stop`, `length`, `content-filter` … */
  readonly finish: string;
  /** Most tokens that the request allowed; an answer that was cut is asked for again when more are allowed. */
  readonly maxOutputTokens: number;
  readonly inputTokens: number;
  /** Of the input tokens, those read from the provider's cache. */
  readonly cachedTokens: number;
  readonly outputTokens: number;
}

/** What the answers of a journal took, all together. */
export interface AnswerTotals {
  readonly answers: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
}

const SCHEMA_VERSION = 2;
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS steps (
    name TEXT PRIMARY KEY, state TEXT NOT NULL, input TEXT NOT NULL, settings TEXT NOT NULL, summary TEXT,
    started_at TEXT NOT NULL, finished_at TEXT, seconds REAL NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE IF NOT EXISTS rollouts (
    step TEXT NOT NULL, id TEXT NOT NULL, task TEXT NOT NULL, trial INTEGER NOT NULL, outcome TEXT NOT NULL,
    reward REAL, termination TEXT, PRIMARY KEY (step, id)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS answers (
    request TEXT PRIMARY KEY, purpose TEXT NOT NULL, model TEXT NOT NULL, text TEXT NOT NULL, finish TEXT NOT NULL,
    max_output_tokens INTEGER NOT NULL, input_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL, at TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

interface AnswerRow {
  request: string;
  purpose: string;
  model: string;
  text: string;
  finish: string;
  max_output_tokens: number;
  input_tokens: number;
  cached_tokens: number;
  output_tokens: number;
}

interface StepRow {
  name: StepName;
  state: StepState;
  input: string;
  settings: string;
  summary: string | null;
  started_at: string;
  finished_at: string | null;
  seconds: number;
}

/**
 * The state of a run's steps, in SQLite: every change is one transaction, on disk before the call returns, so that
 * a process killed between two of them leaves the one or the other, never a mixture.
 */
export class Journal {
  readonly #database: Database.Database;

  /**
   * Opens a run's `journal.sqlite` and creates it unless `readOnly`.
   * @throws Error when it was written by a newer TRACE, or is no journal.
   */
  constructor(path: string, options: { readonly readOnly?: boolean } = {}) {
    const { readOnly = false } = options;
    let database = new Database(path, { fileMustExist: readOnly });
    database.pragma('busy_timeout = 5000');
    const { user_version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
    if (user_version > SCHEMA_VERSION) {
      database.close();
      throw new Error(`${path} was written by a newer TRACE; use that version, or start a new run`);
    }
    if (user_version === 0 && readOnly) {
      // Its process has only just begun, or was killed before it wrote: an empty journal.
      database.close();
      database = new Database(':memory:');
    }
    // A journal of an older TRACE gets the tables that were added since; nothing in it changes.
    const complete = user_version === SCHEMA_VERSION || (readOnly && user_version > 0);
    if (!complete) database.exec(`BEGIN; ${SCHEMA} COMMIT;`);
    this.#database = database;
  }

  /** Steps that were ever begun, in the order in which they were. */
  steps(): StepRecord[] {
    const rows = this.#database.prepare('SELECT * FROM steps ORDER BY rowid').all() as StepRow[];
    return rows.map(toRecord);
  }

  step(name: StepName): StepRecord | undefined {
    const row = this.#database.prepare('SELECT * FROM steps WHERE name = ?').get(name) as StepRow | undefined;
    return row && toRecord(row);
  }

  /** The step begins, or goes on after a crash (then its first start time and its seconds stay). */
  begin(name: StepName, input: string, settings: string): void {
    this.#database
      .prepare(
        `INSERT INTO steps (name, state, input, settings, started_at) VALUES (?, 'running', ?, ?, ?)
         ON CONFLICT (name) DO UPDATE SET
           started_at = CASE state WHEN 'running' THEN started_at ELSE excluded.started_at END,
           seconds = CASE state WHEN 'running' THEN seconds ELSE 0 END,
           state = 'running', input = excluded.input, settings = excluded.settings, summary = NULL,
           finished_at = NULL`,
      )
      .run(name, input, settings, new Date().toISOString());
  }

  /** Adds working time to a step that stopped without finishing. */
  addSeconds(name: StepName, seconds: number): void {
    this.#database.prepare('UPDATE steps SET seconds = seconds + ? WHERE name = ?').run(seconds, name);
  }

  finish(name: StepName, summary: string, seconds: number): void {
    this.#database
      .prepare(
        `UPDATE steps SET state = 'done', summary = ?, finished_at = ?, seconds = seconds + ? WHERE name = ?`,
      )
      .run(summary, new Date().toISOString(), seconds, name);
  }

  /** Marks those of the steps that were begun: their files are to be removed before they begin again. */
  markStale(names: readonly StepName[]): void {
    const marks = names.map(() => '?').join(', ');
    this.#database.prepare(`UPDATE steps SET state = 'stale' WHERE name IN (${marks})`).run(...names);
  }

  /** Replaces the index of a step's rollouts. */
  indexRollouts(step: StepName, rollouts: readonly RolloutRecord[]): void {
    const insert = this.#database.prepare(
      'INSERT OR REPLACE INTO rollouts (step, id, task, trial, outcome, reward, termination) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
    this.#database.transaction(() => {
      this.#database.prepare('DELETE FROM rollouts WHERE step = ?').run(step);
      for (const r of rollouts) insert.run(step, r.id, r.taskId, r.trial, r.outcome, r.reward, r.termination);
    })();
  }

  /** Number of indexed rollouts of a step by outcome. */
  countRollouts(step: StepName): Record<string, number> {
    const rows = this.#database
      .prepare('SELECT outcome, count(*) AS n FROM rollouts WHERE step = ? GROUP BY outcome ORDER BY outcome')
      .all(step) as { outcome: string; n: number }[];
    return Object.fromEntries(rows.map((row) => [row.outcome, row.n]));
  }

  /** The stored answer to a request, or null. */
  answer(request: string): StoredAnswer | null {
    const row = this.#database.prepare('SELECT * FROM answers WHERE request = ?').get(request) as
      | AnswerRow
      | undefined;
    if (!row) return null;
    return {
      request: row.request,
      purpose: row.purpose,
      model: row.model,
      text: row.text,
      finish: row.finish,
      maxOutputTokens: row.max_output_tokens,
      inputTokens: row.input_tokens,
      cachedTokens: row.cached_tokens,
      outputTokens: row.output_tokens,
    };
  }

  /** Keeps an answer; what an answer that it replaces took stays counted, for it was paid. */
  keepAnswer(answer: StoredAnswer): void {
    this.#database
      .prepare(
        `INSERT INTO answers (request, purpose, model, text, finish, max_output_tokens, input_tokens, cached_tokens,
           output_tokens, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (request) DO UPDATE SET
           text = excluded.text, finish = excluded.finish, max_output_tokens = excluded.max_output_tokens,
           input_tokens = input_tokens + excluded.input_tokens,
           cached_tokens = cached_tokens + excluded.cached_tokens,
           output_tokens = output_tokens + excluded.output_tokens, at = excluded.at`,
      )
      .run(
        answer.request,
        answer.purpose,
        answer.model,
        answer.text,
        answer.finish,
        answer.maxOutputTokens,
        answer.inputTokens,
        answer.cachedTokens,
        answer.outputTokens,
        new Date().toISOString(),
      );
  }

  /** What all stored answers took. */
  answerTotals(): AnswerTotals {
    const { answers, inputTokens, cachedTokens, outputTokens } = this.#database
      .prepare(
        `SELECT count(*) AS answers, coalesce(sum(input_tokens), 0) AS inputTokens,
           coalesce(sum(cached_tokens), 0) AS cachedTokens, coalesce(sum(output_tokens), 0) AS outputTokens
         FROM answers`,
      )
      .get() as AnswerTotals;
    // The driver adds a field of its own.
    return { answers, inputTokens, cachedTokens, outputTokens };
  }

  /** A text that a command left for its next process, or null. */
  note(name: string): string | null {
    const row = this.#database.prepare('SELECT text FROM notes WHERE name = ?').get(name) as
      | { text: string }
      | undefined;
    return row?.text ?? null;
  }

  setNote(name: string, text: string): void {
    this.#database.prepare('INSERT OR REPLACE INTO notes (name, text) VALUES (?, ?)').run(name, text);
  }

  close(): void {
    if (this.#database.open) this.#database.close();
  }
}

function toRecord(row: StepRow): StepRecord {
  return {
    name: row.name,
    state: row.state,
    input: row.input,
    settings: row.settings,
    summary: row.summary,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    seconds: row.seconds,
  };
}
