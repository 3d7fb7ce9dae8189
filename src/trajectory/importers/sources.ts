import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findImporter, unknownFormat } from './detect.js';
import type { Importer } from './importer.js';
import { importerNamed } from './registry.js';
import { readSample, UnknownFormatError } from './sample.js';

/** A file, or a folder that an importer reads as a whole. */
export interface Source {
  readonly path: string;
  readonly importer: Importer;
  /** Size of its files. */
  readonly bytes: number;
}

/** A file that lies in a folder given and that no importer knows. */
export interface UnreadFile {
  readonly path: string;
  readonly reason: string;
}

export interface Sources {
  readonly sources: readonly Source[];
  readonly unread: readonly UnreadFile[];
}

const DEEPEST_FOLDER = 16;
/** Names of files that might have held attempts; others in a folder are passed over in silence. */
const LIKELY = /\.(jsonl?|ndjson|parquet|traj|eval|zip|gz|zst)$/i;

/**
 * What there is to read at a path: the file, the folder where an importer knows its layout, else all files below it
 * that an importer knows, by name.
 * @param format the only one to be read; absent: any.
 * @param leave a file that is not looked at (the sidecar).
 * @throws UnknownFormatError when nothing below the path is known; the file system's own error.
 */
export async function findSources(path: string, format?: string, leave?: string): Promise<Sources> {
  if (format !== undefined && !importerNamed(format)) throw unknownFormat(format);
  const sources: Source[] = [];
  const unread: UnreadFile[] = [];

  const visit = async (at: string, depth: number): Promise<void> => {
    const folder = statSync(at).isDirectory();
    // What a format is named for is read as that, whatever it looks like.
    if (!folder && depth === 0 && format !== undefined) {
      sources.push({ path: at, importer: importerNamed(format)!, bytes: sizeOf(at) });
      return;
    }
    try {
      const found = await importerOf(at, format);
      if (typeof found !== 'string') {
        sources.push({ path: at, importer: found, bytes: sizeOf(at) });
        return;
      }
      if (!folder && (depth === 0 || LIKELY.test(at))) unread.push({ path: at, reason: found });
    } catch (error) {
      if (!(error instanceof UnknownFormatError)) throw error;
      if (!folder && (depth === 0 || LIKELY.test(at)))
        unread.push({ path: at, reason: error.message.replace(`${at}: `, '') });
    }
    if (!folder || depth >= DEEPEST_FOLDER) return;
    for (const entry of readdirSync(at, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const inside = join(at, entry.name);
      if (entry.name.startsWith('.') || entry.name === 'node_modules' || inside === leave) continue;
      if (entry.isDirectory() || entry.isFile()) await visit(inside, depth + 1);
    }
  };
  await visit(path, 0);
  if (sources.length === 0) {
    const [first] = unread;
    const what =
      unread.length === 1
        ? first!.reason
        : first
          ? `none of its ${unread.length} files is known, e.g. ${first.path}: ${first.reason}`
          : 'a folder without a file that might hold attempts';
    throw unknownFormat(null, `${path}: ${what}`);
  }
  return { sources, unread };
}

/**
 * The importer of a path, or what was seen of it. A folder that several importers claim holds several things, and
 * belongs to none of them.
 */
async function importerOf(path: string, format?: string): Promise<Importer | string> {
  if (format !== undefined) {
    const importer = importerNamed(format)!;
    return importer.matches(await readSample(path)) ? importer : `not of the format ${format}`;
  }
  const { importer, others, seen } = await findImporter(path);
  if (!importer) return `no importer knows its fields: ${seen}`;
  return others > 0 && statSync(path).isDirectory() ? 'it holds several formats' : importer;
}

function sizeOf(path: string): number {
  const status = statSync(path);
  if (!status.isDirectory()) return status.size;
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
