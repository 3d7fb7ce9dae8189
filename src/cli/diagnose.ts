import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { OfflineRaters } from '../analyst/offline/offline.js';
import { diagnose } from '../diagnosis/diagnose.js';
import { exportDiagnosis, writeDiagnosis } from '../diagnosis/files.js';
import { importedDiagnosis } from '../diagnosis/imported.js';
import { diagnosisSettings } from '../diagnosis/settings.js';
import { diagnosisPage } from '../report/diagnosis.js';
import { diagnosisJson } from '../report/diagnosis-json.js';
import { originOfFiles } from '../report/diagnosis-origin.js';
import { diagnosisView } from '../report/diagnosis-view.js';
import { InputError } from '../run/errors.js';
import { writeFileWhole } from '../run/files.js';
import { detectFormat, importTrajectories, UnknownFormatError } from '../trajectory/importers/detect.js';
import { JsonShapeError } from '../trajectory/json-pieces.js';
import { InvalidRecordError } from '../trajectory/store.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { colorsFor } from './terminal/colors.js';
import { diagnosisText } from './terminal/diagnosis-text.js';

/** Options of `trace diagnose FILE…` as the command line hands them over. */
export interface DiagnoseFlags {
  /** Folder for capabilities, rater files and the report. */
  readonly out?: string;
  readonly json?: boolean;
  readonly seed?: number;
  /** N, ρ, δ and K of the method. */
  readonly raters?: number | string;
  readonly rho?: number | string;
  readonly delta?: number | string;
  readonly keep?: number | string;
  /** Leave out records that cannot be read, and list them. */
  readonly skipInvalid?: boolean;
  /** Folder with the labels: rater files instead of an analyst. */
  readonly importRaters?: string;
  /** Folder for labels and selection in the reference implementation's format. */
  readonly export?: string;
}

/** What was read from one file. */
interface ReadFile {
  readonly file: string;
  readonly format: string;
  readonly trajectories: number;
  readonly skipped: readonly { readonly record: number; readonly reason: string }[];
}

const DEFAULT_SEED = 1;

/**
 * `trace diagnose FILE…`: step 1 on logged trajectories, offline; needs no model and no key. Prints a table (or one
 * line of JSON) and, with `out`, writes the files of the step and `report.html`.
 * @throws InputError for wrong options, files that cannot be read and bad records; the file system's own error.
 */
export async function diagnoseFiles(files: readonly string[], flags: DiagnoseFlags): Promise<void> {
  if (files.length === 0 && flags.importRaters === undefined)
    throw new InputError('no file to diagnose', 'Name one: `trace diagnose results.json`.');
  const settings = settingsOf(flags);
  const seed = flags.seed ?? DEFAULT_SEED;
  const { trajectories, read } = await readAll(files, flags.skipInvalid === true);
  const diagnosis =
    flags.importRaters === undefined
      ? await diagnose(trajectories, new OfflineRaters({ seed }), { ...settings, seed })
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
    origin: originOfFiles(files),
  });

  const folder = flags.out === undefined ? null : resolve(flags.out);
  if (folder !== null) {
    writeDiagnosis(folder, diagnosis);
    writeFileWhole(join(folder, 'report.html'), diagnosisPage(view));
  }
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ ...diagnosisJson(view), files: read })}\n`);
    return;
  }
  const colors = colorsFor(process.stdout);
  for (const { file, format, trajectories: count, skipped } of read) {
    const left = skipped.length > 0 ? colors.yellow(`, ${skipped.length} records left out`) : '';
    process.stdout.write(colors.dim(`${file}: ${format}, ${count} attempts${left}\n`));
    for (const { record, reason } of skipped)
      process.stdout.write(colors.yellow(`  record ${record}: ${reason}\n`));
  }
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

async function readAll(files: readonly string[], skipInvalid: boolean) {
  const trajectories: Trajectory[] = [];
  const read: ReadFile[] = [];
  for (const file of files) {
    if (!existsSync(file)) throw new InputError(`${file}: there is no such file`);
    const skipped: { record: number; reason: string }[] = [];
    const here: Trajectory[] = [];
    try {
      const format = await detectFormat(file);
      const onInvalid = ({ record, reason }: InvalidRecordError) => skipped.push({ record, reason });
      for await (const trajectory of importTrajectories(file, { format, ...(skipInvalid && { onInvalid }) }))
        here.push(trajectory);
      read.push({ file, format, trajectories: here.length, skipped });
    } catch (error) {
      throw inputError(file, error);
    }
    trajectories.push(...distinct(here, trajectories, file));
  }
  return { trajectories, read };
}

function inputError(file: string, error: unknown): unknown {
  if (error instanceof InvalidRecordError)
    return new InputError(error.message, 'Mend the record, or leave such records out with --skip-invalid.', {
      cause: error,
    });
  if (error instanceof UnknownFormatError) return new InputError(error.message, undefined, { cause: error });
  if (error instanceof JsonShapeError || error instanceof SyntaxError)
    return new InputError(`${file}: ${error.message}`, 'Is the file complete?', { cause: error });
  return error;
}

/**
 * Keeps files apart: equal attempt ids, and equal task ids with another reference (two domains both have a
 * task 0), get the file's name in front.
 */
function distinct(
  added: readonly Trajectory[],
  known: readonly Trajectory[],
  file: string,
): readonly Trajectory[] {
  const ids = new Set(known.map((trajectory) => trajectory.id));
  const taskText = ({ reference }: Trajectory) => JSON.stringify(reference?.actions ?? null);
  const tasks = new Map(known.map((trajectory) => [trajectory.taskId, taskText(trajectory)]));
  const sameId = added.some((trajectory) => ids.has(trajectory.id));
  const otherTask = added.some(
    (trajectory) => tasks.has(trajectory.taskId) && tasks.get(trajectory.taskId) !== taskText(trajectory),
  );
  if (!sameId && !otherTask) return added;
  const prefix = basename(file);
  return added.map((trajectory) => ({
    ...trajectory,
    ...(sameId ? { id: `${prefix}:${trajectory.id}` } : {}),
    ...(otherTask ? { taskId: `${prefix}:${trajectory.taskId}` } : {}),
  }));
}
