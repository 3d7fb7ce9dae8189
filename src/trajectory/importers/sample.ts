import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { type JsonHead, type JsonPiece, JsonShapeError, jsonHead } from '../json-pieces.js';
import { isObject } from '../parse.js';
import type { SourceSample } from './importer.js';

/** No importer knows this file or folder. */
export class UnknownFormatError extends Error {
  override readonly name = 'UnknownFormatError';
}

/** How much of a file is looked at; more, up to `LONGEST_HEAD`, where not even its first line ends there. */
const HEAD = 1 << 22;
const LONGEST_HEAD = 1 << 26;
/** Records looked at: the first ones may be damaged. */
const RECORDS = 20;
const ENTRIES = 500;

/** Member arrays of an object that hold records rather than the parts of one record. */
export const RECORD_ARRAYS = [
  'simulations',
  'samples',
  'traces',
  'trajectories',
  'observations',
  'runs',
  'spans',
  'resourceSpans',
  'results',
  'records',
  'rows',
  'items',
  'data',
  'episodes',
  'conversations',
  'per_scenario_results',
] as const;

const [NEWLINE, OPEN_ARRAY, OPEN_OBJECT] = [0x0a, 0x5b, 0x7b];

/** The first bytes of a file; `whole` where that is all of it. */
export interface FileHead {
  readonly bytes: Buffer;
  readonly whole: boolean;
}

/** Reads the head of a file. @throws the file system's own error. */
export function readHead(path: string): FileHead {
  const descriptor = openSync(path, 'r');
  try {
    const { size } = fstatSync(descriptor);
    let bytes = readUpTo(descriptor, Math.min(size, HEAD));
    if (size > HEAD && !bytes.includes(NEWLINE)) bytes = readUpTo(descriptor, Math.min(size, LONGEST_HEAD));
    return { bytes, whole: bytes.length >= size };
  } finally {
    closeSync(descriptor);
  }
}

function readUpTo(descriptor: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(descriptor, bytes, filled, length - filled, filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

/** What a file is by its first bytes. */
export type FileKind = 'array' | 'object' | 'lines' | 'zip' | 'parquet';

interface ReadKind {
  readonly kind: FileKind;
  /** Of arrays and objects: what of them stands in the head. */
  readonly head?: JsonHead;
  /** Of lines: those that stand in the head and are JSON. */
  readonly lines?: readonly unknown[];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The kind of a file from its head; an empty one is lines without any. @throws UnknownFormatError for what is neither JSON, zip nor Parquet. */
export function kindOf(path: string, { bytes, whole }: FileHead): ReadKind {
  const unknown = (reason: string) => new UnknownFormatError(`${path}: ${reason}`);
  const magic = bytes.subarray(0, 4).toString('latin1');
  if (magic === 'PK\x03\x04') return { kind: 'zip' };
  if (magic === 'PAR1') return { kind: 'parquet' };
  if (magic.startsWith('\x1f\x8b') || magic === '\x28\xb5\x2f\xfd')
    throw unknown('it is compressed (gzip or zstd); unpack it first');
  if (magic.startsWith('\xff\xfe') || magic.startsWith('\xfe\xff'))
    throw unknown('it is in UTF-16; save it as UTF-8');

  let start = magic.startsWith('\xef\xbb\xbf') ? 3 : 0;
  while (start < bytes.length && ' \n\r\t'.includes(String.fromCharCode(bytes[start]!))) start++;
  if (start === bytes.length) return { kind: 'lines', lines: [] };
  if (bytes[start] !== OPEN_ARRAY && bytes[start] !== OPEN_OBJECT)
    throw unknown('it begins with neither [ nor {, so it is neither JSON nor JSONL');

  const texts = bytes
    .subarray(start, Math.min(bytes.length, start + LONGEST_HEAD))
    .toString('utf8')
    .split('\n');
  // The last line may go on beyond the head.
  const complete = whole ? texts : texts.slice(0, -1);
  const filled = complete.filter((line) => line.trim() !== '').slice(0, RECORDS);
  const lines = filled.map(parsed).filter((value) => typeof value === 'object' && value !== null);
  const several = texts.slice(1).some((line) => line.trim() !== '');
  if (lines.length > 0 && several && parsed(filled[0]!) !== undefined) return { kind: 'lines', lines };
  let head: JsonHead;
  try {
    head = jsonHead(bytes, RECORD_ARRAYS);
  } catch (error) {
    if (!(error instanceof JsonShapeError || error instanceof SyntaxError)) throw error;
    if (lines.length > 0 && several) return { kind: 'lines', lines };
    throw unknown(error.message);
  }
  // A damaged first line swallows what follows it.
  if (!head.finished && several && lines.some(isObject) && bytes[start] === OPEN_OBJECT)
    return { kind: 'lines', lines };
  return { kind: head.outer === 'array' ? 'array' : 'object', head };
}

/** Parsed pieces; damaged ones are left out. */
function values(pieces: readonly JsonPiece[]): unknown[] {
  return pieces
    .slice(0, RECORDS)
    .map((piece) => parsed(piece.text))
    .filter((value) => value !== undefined);
}

/**
 * Records of an object: the first elements of its arrays of records, else the object itself, of a large one as much
 * of it as stands in the head.
 */
function recordsOfObject(head: JsonHead): readonly unknown[] {
  const elements = values(head.pieces.filter((piece) => piece.index !== null));
  if (elements.length > 0) return elements;
  const object: { [key: string]: unknown } = Object.create(null);
  for (const { key, text } of head.pieces) if (key !== null) object[key] = parsed(text);
  for (const key of head.keys) if (!(key in object)) object[key] = [];
  return [{ ...object }];
}

function keysOf(records: readonly unknown[]): Set<string> {
  return new Set(records.filter(isObject).flatMap((record) => Object.keys(record)));
}

/**
 * The head of a file or folder, as all importers' detectors see it; reads at most 4 MiB of a file, or 64 MiB where
 * its first line is longer.
 * @throws UnknownFormatError for a file that is neither JSON, JSONL, zip nor Parquet; the file system's own error.
 */
export async function readSample(path: string): Promise<SourceSample> {
  if (statSync(path).isDirectory())
    return { path, kind: 'folder', keys: new Set(), records: [], entries: folderEntries(path) };
  const { kind, head, lines = [] } = kindOf(path, readHead(path));
  switch (kind) {
    case 'zip':
      return { path, kind, keys: new Set(), records: [], entries: await zipEntries(path) };
    case 'parquet': {
      const { firstRows } = await import('./parquet.js');
      const records = await firstRows(path, RECORDS);
      return { path, kind, keys: keysOf(records), records, entries: [] };
    }
    case 'lines':
      if (lines.length === 0) throw new UnknownFormatError(`${path}: it holds no record`);
      return { path, kind, keys: keysOf(lines), records: lines, entries: [] };
    case 'array': {
      const records = values(head!.pieces);
      return { path, kind, keys: keysOf(records), records, entries: [] };
    }
    case 'object':
      return { path, kind, keys: new Set(head!.keys), records: recordsOfObject(head!), entries: [] };
  }
}

/** Files below a folder, level by level until there are enough, then sorted. */
function folderEntries(path: string): string[] {
  const found: string[] = [];
  const waiting = [path];
  for (
    let folder = waiting.shift();
    folder !== undefined && found.length < ENTRIES;
    folder = waiting.shift()
  ) {
    const inside = readdirSync(folder, { withFileTypes: true });
    for (const entry of inside.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const full = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!entry.name.startsWith('.') && entry.name !== 'node_modules') waiting.push(full);
      } else if (found.length < ENTRIES) found.push(relative(path, full).split(sep).join('/'));
    }
  }
  return found.sort();
}

/** Names of a zip's first entries. @throws UnknownFormatError for a damaged archive. */
async function zipEntries(path: string): Promise<string[]> {
  const { default: yauzl } = await import('yauzl');
  return new Promise((resolve, reject) => {
    const broken = (error: Error) =>
      reject(
        new UnknownFormatError(`${path}: a zip that cannot be read: ${error.message}`, { cause: error }),
      );
    yauzl.open(path, { lazyEntries: true, autoClose: true }, (error, zip) => {
      if (error) return broken(error);
      const names: string[] = [];
      const done = () => {
        zip.close();
        resolve(names.sort());
      };
      zip.on('error', broken);
      zip.on('end', done);
      zip.on('entry', (entry: { readonly fileName: string }) => {
        names.push(entry.fileName);
        if (names.length < ENTRIES) zip.readEntry();
        else done();
      });
      zip.readEntry();
    });
  });
}
