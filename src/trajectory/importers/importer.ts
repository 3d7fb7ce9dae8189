import type { ReadOptions } from '../store.js';
import type { Trajectory } from '../trajectory.js';

/** What a detector may look at: the head of a source, read once for all importers. */
export interface SourceSample {
  readonly path: string;
  /**
   * - `array`: a JSON array; `records` are its first elements
   * - `object`: one JSON object; `keys` are its outer keys, `records` the first elements of its outer arrays that are
   *   known to hold records, else the object itself where it is small enough to be parsed
   * - `lines`: JSONL; `records` are the first lines
   * - `zip`, `parquet`: told by their magic bytes; `records` of Parquet are its first rows
   * - `folder`: `entries` are relative paths, at most a few hundred, sorted
   */
  readonly kind: 'array' | 'object' | 'lines' | 'zip' | 'parquet' | 'folder';
  /** Outer keys of an object, else those of the records together. */
  readonly keys: ReadonlySet<string>;
  /** A few parsed records; damaged ones are left out. */
  readonly records: readonly unknown[];
  readonly entries: readonly string[];
}

/** What an importer may be told beside the file. */
export interface ImporterOptions extends ReadOptions {
  /** Verdicts joined by id: a CSV or JSONL sidecar, a run report, an evaluation's log. */
  readonly verdicts?: string;
  /** A reward of at least this is a pass, where a source has only a score. */
  readonly passAt?: number;
  /**
   * The attempts are written and not looked at: an importer may have other threads print them (`PreparedTrajectory`).
   */
  readonly onlyWritten?: boolean;
}

/** Reads one format. One file a format; `registry.ts` lists them in the order in which they are asked. */
export interface Importer {
  /** As in `--format`. */
  readonly name: string;
  /** For people, e.g. `τ²-bench results (simulations with messages and reward_info)`. */
  readonly title: string;
  /** Whether the sample is of this format. Must never throw, whatever the records are. */
  matches(sample: SourceSample): boolean;
  /** It joins `options.verdicts` itself; else they are joined by id to what it yields. */
  readonly joinsVerdicts?: true;
  /**
   * Trajectories as a stream, in memory bounded by a record (or a conversation spread over records).
   * @throws InvalidRecordError at a bad record unless `onInvalid` is given; JsonShapeError for a cut-off file.
   */
  read(path: string, options: ImporterOptions): AsyncGenerator<Trajectory>;
}
