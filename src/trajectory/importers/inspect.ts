import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { JsonShapeError, jsonPieces } from '../json-pieces.js';
import { isObject, RecordError } from '../parse.js';
import { guardRecord, InvalidRecordError, reasonOf } from '../store.js';
import type { Trajectory } from '../trajectory.js';
import type { Importer, ImporterOptions, SourceSample } from './importer.js';
import { Archive } from './inspect-archive.js';
import { type InspectLog, readLog, readSample } from './inspect-sample.js';
import { filesUnder, guardFile, isRecordFault } from './record-files.js';

const SAMPLE = /^samples\/[^/]+\.json$/;

/** Where the log's own data stand; a run that broke off has written no header. */
const HEADERS = ['header.json', '_journal/start.json'];

/** Whether the file begins like a zip archive (with an entry, or as an empty one). */
function isZip(path: string): boolean {
  const head = Buffer.alloc(4);
  const file = openSync(path, 'r');
  try {
    readSync(file, head, 0, 4, 0);
  } finally {
    closeSync(file);
  }
  return head.toString('latin1') === 'PK\x03\x04' || head.toString('latin1') === 'PK\x05\x06';
}

async function archiveLog(archive: Archive): Promise<InspectLog> {
  for (const name of HEADERS)
    for (const entry of archive.entries((other) => other === name)) {
      let header: unknown;
      try {
        header = JSON.parse(await entry.text());
      } catch (error) {
        throw new JsonShapeError(`${name}: ${(error as Error).message}`);
      }
      if (isObject(header)) return readLog(header.eval, header.results);
    }
  throw new JsonShapeError('an archive without header.json and _journal/start.json: not a log of Inspect');
}

async function* readArchive(path: string, options: ImporterOptions): AsyncGenerator<Trajectory> {
  const archive = await Archive.open(path, (name) => SAMPLE.test(name) || HEADERS.includes(name));
  try {
    const log = await archiveLog(archive);
    let record = 0;
    for (const entry of archive.entries((name) => SAMPLE.test(name))) {
      const make = async () => {
        try {
          return readSample(JSON.parse(await entry.text()), log, options.passAt);
        } catch (error) {
          if (isRecordFault(error)) throw new RecordError(`${entry.name}: ${reasonOf(error)}`);
          throw error;
        }
      };
      const trajectory = await guardFile(path, ++record, make, options);
      options.onBytes?.(entry.packed);
      if (trajectory) yield trajectory;
    }
  } finally {
    archive.close();
  }
}

function memberOf(key: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new JsonShapeError(`its member ${JSON.stringify(key)} is ${reasonOf(error)}`);
  }
}

async function* readJson(path: string, options: ImporterOptions): AsyncGenerator<Trajectory> {
  const members: Record<string, unknown> = Object.create(null);
  // The header first: results stand before the samples, or behind them.
  for await (const piece of jsonPieces(path, { skip: ['samples', 'reductions', 'plan', 'stats'] }))
    if (piece.key === null) throw new JsonShapeError('it is a list, not a log of Inspect');
    else members[piece.key] = memberOf(piece.key, piece.text);
  const log = readLog(members.eval, members.results);
  const { onBytes } = options;
  const pieces = { open: ['samples'], skip: Object.keys(members), ...(onBytes && { onBytes }) };
  for await (const piece of jsonPieces(path, pieces)) {
    if (piece.key !== 'samples') continue;
    if (piece.index === null) {
      if (piece.text.trim() === 'null') continue;
      throw new JsonShapeError('samples must be a list');
    }
    const make = () => readSample(JSON.parse(piece.text), log, options.passAt);
    const trajectory = guardRecord(path, piece.index + 1, make, options);
    if (trajectory) yield trajectory;
  }
}

function matches({ kind, keys, entries }: SourceSample): boolean {
  if (kind === 'zip') return entries.some((entry) => HEADERS.includes(entry) || SAMPLE.test(entry));
  // Whatever lies beside archives is looked at file by file.
  if (kind === 'folder') return entries.length > 0 && entries.every((entry) => entry.endsWith('.eval'));
  return (
    kind === 'object' && keys.has('eval') && (keys.has('samples') || keys.has('plan')) && keys.has('status')
  );
}

/**
 * Logs of Inspect: `.eval` (a zip archive), `.json`, or a folder of `.eval` files; one sample in memory at a time.
 * @throws InvalidRecordError at a sample that cannot be read unless `onInvalid` is given; JsonShapeError for a file that
 * is cut off or no log; in a folder such a file is a record that cannot be read.
 */
async function* importInspect(path: string, options: ImporterOptions): AsyncGenerator<Trajectory> {
  const one = (file: string) => (isZip(file) ? readArchive(file, options) : readJson(file, options));
  if (!statSync(path).isDirectory()) {
    yield* one(path);
    return;
  }
  for (const file of filesUnder(path, (name) => name.endsWith('.eval')))
    try {
      yield* one(file);
    } catch (error) {
      if (!(error instanceof JsonShapeError || error instanceof SyntaxError)) throw error;
      const invalid = new InvalidRecordError(file, 1, error.message);
      if (!options.onInvalid) throw invalid;
      options.onInvalid(invalid);
    }
}

export const inspectImporter: Importer = {
  name: 'inspect',
  title: 'Inspect logs (.eval archives; JSON with eval and samples)',
  matches,
  read: importInspect,
};
