import { join, resolve } from 'node:path';
import { exportDiagnosis, writeDiagnosis } from '../diagnosis/files.js';
import { importedDiagnosis } from '../diagnosis/imported.js';
import { diagnosisSettings } from '../diagnosis/settings.js';
import { diagnosisPage } from '../report/diagnosis.js';
import { diagnosisJson } from '../report/diagnosis-json.js';
import { diagnosisView } from '../report/diagnosis-view.js';
import { InputError } from '../run/errors.js';
import { writeFileWhole } from '../run/files.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import type { AnalystFlags } from './analyst-flags.js';
import { diagnoseWith, outFolder } from './diagnose-session.js';
import { commandOrigin } from './diagnosis-origin.js';
import { ImportProgress } from './import-progress.js';
import { Reading, type ReadingFlags } from './reading.js';
import { colorsFor } from './terminal/colors.js';
import { diagnosisText } from './terminal/diagnosis-text.js';
import { readingText } from './terminal/reading-text.js';

/** Options of `trace diagnose FILE…` as the command line hands them over. */
export interface DiagnoseFlags extends AnalystFlags, ReadingFlags {
  /** Folder for capabilities, rater files and the report. */
  readonly out?: string;
  readonly json?: boolean;
  /** Go on with a diagnosis whose answers were awaited, or that was stopped. */
  readonly resume?: boolean;
  readonly seed?: number;
  /** N, ρ, δ and K of the method. */
  readonly raters?: number | string;
  readonly rho?: number | string;
  readonly delta?: number | string;
  readonly keep?: number | string;
  /** Folder with the labels: rater files instead of an analyst. */
  readonly importRaters?: string;
  /** Folder for labels and selection in the reference implementation's format. */
  readonly export?: string;
}

const DEFAULT_SEED = 1;

/**
 * `trace diagnose FILE…`: step 1 on logged trajectories; offline it needs no model and no key. Prints a table (or one
 * line of JSON) and, with `out`, writes the files of the step and `report.html`.
 * @throws InputError for wrong options, files that cannot be read and bad records; the file system's own error.
 */
export async function diagnoseFiles(files: readonly string[], flags: DiagnoseFlags): Promise<void> {
  if (files.length === 0 && flags.importRaters === undefined)
    throw new InputError('no file to diagnose', 'Name one: `trace diagnose results.json`.');
  // Of rater files N is how many there are: only there can K be checked against it.
  const anyRaters = flags.importRaters !== undefined && flags.keep !== undefined;
  const settings = settingsOf(anyRaters ? { ...flags, raters: flags.keep } : flags);
  const seed = flags.seed ?? DEFAULT_SEED;
  const reading = new Reading(files, flags);
  const trajectories = await readAll(reading);
  const diagnosis =
    flags.importRaters === undefined
      ? await diagnoseWith(files, flags, trajectories, { ...settings, seed })
      : importedDiagnosis(flags.importRaters, {
          seed,
          coverage: settings.coverage,
          gap: settings.gap,
          ...(flags.keep === undefined ? {} : { ratersNeeded: settings.ratersNeeded }),
          ...(files.length === 0 ? {} : { trajectories }),
        });
  if (flags.export !== undefined) exportDiagnosis(resolve(flags.export), diagnosis);
  const view = diagnosisView(diagnosis.result, {
    raters: diagnosis.raters,
    trajectories,
    origin: commandOrigin(files, flags),
  });

  const folder = await outFolder(flags);
  if (folder !== null) {
    writeDiagnosis(folder, diagnosis);
    writeFileWhole(join(folder, 'report.html'), diagnosisPage(view));
  }
  if (flags.json) {
    process.stdout.write(
      `${JSON.stringify({ ...diagnosisJson(view), files: reading.files, unread: reading.unread })}\n`,
    );
    return;
  }
  const colors = colorsFor(process.stdout);
  process.stdout.write(readingText(reading, colors));
  process.stdout.write(diagnosisText(view, colors, process.stdout.columns ?? 100));
  const hint =
    folder === null
      ? 'Add --out FOLDER for the report with all evidence.'
      : `Report: ${join(folder, 'report.html')}`;
  process.stdout.write(`\n${colors.dim(hint)}\n`);
}

function settingsOf(flags: DiagnoseFlags) {
  const number = (value: number | string | undefined, option: string) => {
    if (value === undefined) return undefined;
    const parsed = typeof value === 'number' ? value : Number(value);
    if (value === '' || !Number.isFinite(parsed)) throw new InputError(`${option}: ${value} is no number`);
    return parsed;
  };
  const given = {
    raters: number(flags.raters, '--raters'),
    coverage: number(flags.rho, '--rho'),
    gap: number(flags.delta, '--delta'),
    ratersNeeded: number(flags.keep, '--keep'),
  };
  try {
    return diagnosisSettings(given);
  } catch (error) {
    if (error instanceof RangeError) throw new InputError(error.message);
    throw error;
  }
}

/** All attempts, with progress on stderr. @throws InputError as `Reading` does. */
async function readAll(reading: Reading): Promise<Trajectory[]> {
  const progress = new ImportProgress(process.stderr);
  const trajectories: Trajectory[] = [];
  try {
    for await (const trajectory of reading.trajectories(progress)) trajectories.push(trajectory);
  } finally {
    progress.end();
  }
  return trajectories;
}
