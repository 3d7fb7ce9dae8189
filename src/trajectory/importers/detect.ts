import type { Trajectory } from '../trajectory.js';
import type { Importer, ImporterOptions, SourceSample } from './importer.js';
import { refuse } from './records.js';
import { IMPORTERS, importerNamed } from './registry.js';
import { readSample, UnknownFormatError } from './sample.js';
import { readVerdicts, type VerdictTable } from './verdicts.js';

export { UnknownFormatError } from './sample.js';

/** Keys named when no importer knows a source. */
const KEYS_NAMED = 12;

/** The formats known, for errors. */
const known = () => `known formats: ${IMPORTERS.map((importer) => importer.name).join(', ')}`;

const KINDS: Readonly<Record<SourceSample['kind'], string>> = {
  array: 'a JSON list',
  object: 'a JSON object',
  lines: 'JSONL',
  zip: 'a zip archive',
  parquet: 'Parquet',
  folder: 'a folder',
};

/** What was seen of a source that no importer knows. */
function seen(sample: SourceSample): string {
  const names = sample.kind === 'folder' || sample.kind === 'zip' ? sample.entries : [...sample.keys];
  const what = sample.kind === 'folder' || sample.kind === 'zip' ? 'entries' : 'fields';
  if (names.length === 0)
    return `${KINDS[sample.kind]} without ${what === 'fields' ? 'records that are objects' : what}`;
  const more = names.length > KEYS_NAMED ? ` and ${names.length - KEYS_NAMED} more` : '';
  return `${KINDS[sample.kind]} with the ${what} ${names.slice(0, KEYS_NAMED).join(', ')}${more}`;
}

/** Who knows a source by its content. */
export interface FoundImporter {
  /** The first that knows it; null when none does. */
  readonly importer: Importer | null;
  /** How many besides the first say they know it. */
  readonly others: number;
  /** What was seen of it, in words. */
  readonly seen: string;
}

/**
 * The importer that knows a file or folder by its content.
 * @throws UnknownFormatError for what is no JSON, JSONL, zip or Parquet; the file system's own error.
 */
export async function findImporter(path: string): Promise<FoundImporter> {
  const sample = await readSample(path);
  const [importer = null, ...others] = IMPORTERS.filter((candidate) => candidate.matches(sample));
  return { importer, others: others.length, seen: seen(sample) };
}

/**
 * The name of the format of a file or folder, from its content alone.
 * @throws UnknownFormatError when no importer knows it, saying what was seen and which formats are known; the file
 * system's own error when it cannot be read.
 */
export async function detectFormat(path: string): Promise<string> {
  try {
    const { importer, seen: what } = await findImporter(path);
    if (importer) return importer.name;
    throw new UnknownFormatError(`${path}: no importer knows its fields: ${what}`);
  } catch (error) {
    if (!(error instanceof UnknownFormatError)) throw error;
    throw new UnknownFormatError(`${error.message}; ${known()}`, { cause: error.cause });
  }
}

/** The error for a name that is no format's, or for a source of which `what` was seen; names the formats known. */
export function unknownFormat(name: string | null, what?: string): UnknownFormatError {
  return new UnknownFormatError(`${what ?? `there is no format ${JSON.stringify(name)}`}; ${known()}`);
}

export interface ImportOptions extends ImporterOptions {
  /** Absent: from the content. */
  readonly format?: string;
  /** What `verdicts` names, read already: one sidecar may serve many files. */
  readonly verdictTable?: VerdictTable;
}

/**
 * Trajectories of a file or folder of any known format, as a stream, with the sidecar's verdicts. Ids are unique
 * within the file.
 * @throws UnknownFormatError, JsonShapeError (cut-off file), InvalidRecordError at a bad record unless
 * `onInvalid` is given.
 */
export async function* importTrajectories(
  path: string,
  options: ImportOptions = {},
): AsyncGenerator<Trajectory> {
  const format = options.format ?? (await detectFormat(path));
  const importer = importerNamed(format);
  if (!importer) throw unknownFormat(format);
  const table = importer.joinsVerdicts
    ? null
    : (options.verdictTable ??
      (options.verdicts === undefined ? null : await readVerdicts(options.verdicts, options.passAt)));
  const ids = new Map<string, number>();
  let record = 0;
  for await (const trajectory of importer.read(path, options)) {
    record++;
    const earlier = ids.get(trajectory.id);
    if (earlier !== undefined) {
      refuse(path, record, `id ${trajectory.id} stands already in record ${earlier}`, options);
      continue;
    }
    ids.set(trajectory.id, record);
    yield table ? table.join(trajectory) : trajectory;
  }
}
