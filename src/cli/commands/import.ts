import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { InputError } from '../../run/errors.js';
import { IMPORTERS } from '../../trajectory/importers/registry.js';
import { writeTrajectories } from '../../trajectory/store.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { ImportProgress } from '../import-progress.js';
import { type ReadFile, Reading, type ReadingFlags } from '../reading.js';
import { colorsFor } from '../terminal/colors.js';
import { readingText } from '../terminal/reading-text.js';

/** Options of `trace import` as the command line hands them over. */
export interface ImportFlags extends ReadingFlags {
  /** File to write; absent: `.trace/imported.jsonl` of this folder. */
  readonly out?: string;
  readonly json?: boolean;
  /** Print the formats instead. */
  readonly list?: boolean;
}

/**
 * `trace import FILE|FOLDER…`: logged attempts of any format into one file of TRACE's own, written whole.
 * @throws InputError for wrong options, files that cannot be read and bad records; the file system's own error.
 */
export async function importCommand(inputs: readonly string[], flags: ImportFlags): Promise<void> {
  if (flags.list) return printFormats(flags.json === true);
  if (inputs.length === 0)
    throw new InputError(
      'no file to import',
      'Name one: `trace import results.json`; --list prints the formats.',
    );
  const out = resolve(flags.out ?? join('.trace', 'imported.jsonl'));
  const reading = new Reading(inputs, flags, true);
  const progress = new ImportProgress(process.stderr);
  let written: number;
  try {
    written = await writeTrajectories(out, some(reading.trajectories(progress), inputs));
  } finally {
    progress.end();
  }
  const { files, unread, verdicts } = reading;
  if (flags.json) {
    const sidecar = verdicts && {
      rows: verdicts.rows,
      unused: verdicts.unused,
      withoutVerdict: verdicts.withoutVerdict,
    };
    const result = { out, attempts: written, ...totals(files), files, unread, verdicts: sidecar };
    process.stdout.write(`${JSON.stringify({ type: 'result', ok: true, ...result })}\n`);
    return;
  }
  const colors = colorsFor(process.stdout);
  process.stdout.write(readingText(reading, colors));
  const megabytes = (statSync(out).size / 1e6).toFixed(1);
  process.stdout.write(`${colors.green('✓')} ${written} attempts in ${out} (${megabytes} MB)\n`);
  process.stdout.write(colors.dim(`→ trace diagnose ${flags.out ?? join('.trace', 'imported.jsonl')}\n`));
}

/** A stream that has to hold something: an empty store would replace a full one. */
async function* some(
  stream: AsyncIterable<Trajectory>,
  inputs: readonly string[],
): AsyncGenerator<Trajectory> {
  let any = false;
  for await (const trajectory of stream) {
    any = true;
    yield trajectory;
  }
  if (!any) throw new InputError(`${inputs.join(', ')}: no attempt could be read; nothing was written`);
}

function totals(files: readonly ReadFile[]) {
  const sum = (of: (file: ReadFile) => number) => files.reduce((total, file) => total + of(file), 0);
  const excluded: { [reason: string]: number } = {};
  for (const file of files)
    for (const [reason, count] of Object.entries(file.excluded))
      excluded[reason] = (excluded[reason] ?? 0) + count;
  return {
    passed: sum((f) => f.passed),
    failed: sum((f) => f.failed),
    excluded,
    leftOut: sum((f) => f.leftOut),
  };
}

function printFormats(json: boolean): void {
  const formats = IMPORTERS.map(({ name, title }) => ({ name, title }));
  if (json) {
    process.stdout.write(`${JSON.stringify({ type: 'result', ok: true, formats })}\n`);
    return;
  }
  const width = Math.max(...formats.map(({ name }) => name.length));
  for (const { name, title } of formats) process.stdout.write(`${name.padEnd(width)}  ${title}\n`);
}
