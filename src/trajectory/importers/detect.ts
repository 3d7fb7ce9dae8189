import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { JsonShapeError, jsonPieces } from '../json-pieces.js';
import { isObject } from '../parse.js';
import { InvalidRecordError, type ReadOptions, readTrajectories } from '../store.js';
import type { Trajectory } from '../trajectory.js';
import { importTauBench } from './tau-bench.js';
import { importTau2 } from './tau2.js';

export const FORMATS = ['canonical', 'tau-bench', 'tau2'] as const;
export type TrajectoryFormat = (typeof FORMATS)[number];

/** No importer knows this file. */
export class UnknownFormatError extends Error {
  override readonly name = 'UnknownFormatError';
}

const RECORDS_LOOKED_AT = 20;
const KNOWN =
  'known are TRACE’s own JSONL, τ-bench results (a list with traj and reward) and τ²-bench results (simulations with messages and reward_info)';

/** The format that a record's or a file's keys betray; null while they do not. */
function byKeys(has: (key: string) => boolean): TrajectoryFormat | null {
  if (has('taskId')) return 'canonical';
  if (has('traj')) return 'tau-bench';
  if (has('simulations') || has('simulation_index')) return 'tau2';
  if ((has('messages') || has('ticks')) && (has('termination_reason') || has('reward_info'))) return 'tau2';
  return null;
}

/**
 * The format of a file or folder, from its content alone.
 * @throws UnknownFormatError when no importer knows it; the file system's own error when it cannot be read.
 */
export async function detectFormat(path: string): Promise<TrajectoryFormat> {
  if (statSync(path).isDirectory()) {
    if (existsSync(join(path, 'results.json'))) return 'tau2';
    throw new UnknownFormatError(`${path}: a folder without results.json; ${KNOWN}`);
  }
  const keys = new Set<string>();
  const unknown = (reason: string) => new UnknownFormatError(`${path}: ${reason}; ${KNOWN}`);
  try {
    for await (const piece of jsonPieces(path, { open: ['simulations', 'messages', 'ticks'] })) {
      if (piece.key !== null) {
        keys.add(piece.key);
        const format = byKeys((key) => keys.has(key));
        if (format) return format;
        continue;
      }
      const record: unknown = JSON.parse(piece.text);
      const format = isObject(record) ? byKeys((key) => key in record) : null;
      if (format) return format;
      // The first records of a list may be damaged; a few are looked at before giving up.
      if (piece.index! >= RECORDS_LOOKED_AT) break;
      keys.add(`record ${piece.index}`);
    }
  } catch (error) {
    if (!(error instanceof JsonShapeError || error instanceof SyntaxError)) throw error;
    throw unknown(keys.size === 0 ? error.message : 'no importer knows its fields');
  }
  throw unknown(keys.size === 0 ? 'it holds no record' : 'no importer knows its fields');
}

export interface ImportOptions extends ReadOptions {
  /** Absent: from the content. */
  readonly format?: TrajectoryFormat;
}

/**
 * Trajectories of a file or folder of any known format, as a stream. Ids are unique within the file.
 * @throws UnknownFormatError, JsonShapeError (cut-off file), InvalidRecordError at a bad record unless
 * `onInvalid` is given.
 */
export async function* importTrajectories(
  path: string,
  options: ImportOptions = {},
): AsyncGenerator<Trajectory> {
  const format = options.format ?? (await detectFormat(path));
  const importer =
    format === 'canonical' ? readTrajectories : format === 'tau-bench' ? importTauBench : importTau2;
  const ids = new Map<string, number>();
  let record = 0;
  for await (const trajectory of importer(path, options)) {
    record++;
    const earlier = ids.get(trajectory.id);
    if (earlier !== undefined) {
      const error = new InvalidRecordError(
        path,
        record,
        `id ${trajectory.id} stands already in record ${earlier}`,
      );
      if (!options.onInvalid) throw error;
      options.onInvalid(error);
      continue;
    }
    ids.set(trajectory.id, record);
    yield trajectory;
  }
}
