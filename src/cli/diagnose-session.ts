import { existsSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { analystSettings, openRaters } from '../analyst/open.js';
import { type Diagnosis, diagnose, isJudged } from '../diagnosis/diagnose.js';
import type { DiagnosisSettings } from '../diagnosis/settings.js';
import { InputError } from '../run/errors.js';
import { Journal } from '../run/journal.js';
import { RunLock } from '../run/lock.js';
import { runPaths } from '../run/paths.js';
import { stopOnSignals } from '../run/pipeline.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { analystFrom, analystOfProject } from './analyst-flags.js';
import type { DiagnoseFlags } from './diagnose.js';
import { openView } from './terminal/view.js';

/** Where a diagnosis by a language model or by hand keeps its answers, unless `--out` says otherwise. */
const DEFAULT_OUT = 'diagnosis';
/** Name of the journal's note that holds the command, for `--resume`. */
const COMMAND = 'diagnose';

/** A command as the journal keeps it; paths relative to its folder, so that the folder may move with its files. */
interface KeptCommand {
  readonly files: readonly string[];
  readonly flags: DiagnoseFlags;
}

/** The folder that files go to, absolute, or null: what was paid for or waited for always has one. */
export async function outFolder(flags: DiagnoseFlags): Promise<string | null> {
  if (flags.out !== undefined) return resolve(flags.out);
  const analyst = await chosenAnalyst(flags);
  return analyst === 'offline' ? null : resolve(DEFAULT_OUT);
}

async function chosenAnalyst(flags: DiagnoseFlags) {
  // A project's analyst is taken over only by those who ask for one: `trace diagnose FILE` is offline.
  const asksFor = flags.analyst !== undefined && flags.analyst !== 'offline';
  return analystFrom(flags, asksFor ? await analystOfProject(process.cwd()) : 'offline');
}

/** Whether `--resume` without a file means a folder of answers rather than a project. */
export function hasKeptCommand(flags: DiagnoseFlags): boolean {
  return existsSync(runPaths.journal(resolve(flags.out ?? DEFAULT_OUT)));
}

/**
 * The files and options of the diagnosis that is to go on; options given now come first.
 * @throws InputError when there is none.
 */
export function keptCommand(flags: DiagnoseFlags): { files: string[]; flags: DiagnoseFlags } {
  const folder = resolve(flags.out ?? DEFAULT_OUT);
  const path = runPaths.journal(folder);
  const nothing = () =>
    new InputError(
      `${folder}: there is no diagnosis to go on with`,
      'Name the folder that it was begun in: `--resume --out FOLDER`, or the files.',
    );
  if (!existsSync(path)) throw nothing();
  const journal = new Journal(path, { readOnly: true });
  let text: string | null;
  try {
    text = journal.note(COMMAND);
  } finally {
    journal.close();
  }
  if (text === null) throw nothing();
  const kept = JSON.parse(text) as KeptCommand;
  return {
    files: kept.files.map((file) => resolve(folder, file)),
    flags: { ...kept.flags, ...flags, out: folder },
  };
}

/**
 * Diagnoses by the analyst that the options name. Whoever is not offline gets a folder with a lock, a journal of
 * answers and, on stderr, what it will take and how it stands.
 * @throws InputError, TraceError; StoppedError on Ctrl-C once what is on its way has arrived.
 */
export async function diagnoseWith(
  files: readonly string[],
  flags: DiagnoseFlags,
  trajectories: readonly Trajectory[],
  settings: DiagnosisSettings & { readonly seed: number },
): Promise<Diagnosis> {
  const analyst = analystSettings(await chosenAnalyst(flags));
  const folder = await outFolder(flags);
  const project = process.cwd();
  if (analyst.kind === 'offline' || folder === null) {
    const { OfflineRaters } = await import('../analyst/offline/offline.js');
    return diagnose(trajectories, new OfflineRaters({ seed: settings.seed }), settings);
  }
  const lock = RunLock.acquire(folder);
  const view = openView(['diagnose'], false);
  const stop = stopOnSignals(() =>
    view.note('stopping when what is on its way has arrived (again: at once)'),
  );
  let journal: Journal | null = null;
  try {
    journal = new Journal(runPaths.journal(folder));
    const { out: _, json: __, resume: ___, ...rest } = flags;
    const kept: KeptCommand = { files: files.map((file) => relative(folder, resolve(file))), flags: rest };
    journal.setNote(COMMAND, JSON.stringify(kept));
    const inside = relative(process.cwd(), folder) || '.';
    const place = inside.startsWith('..') ? folder : inside;
    const raters = await openRaters(analyst, {
      seed: settings.seed,
      journal,
      project,
      handoff: join(folder, 'handoff'),
      resume: `trace diagnose --resume${place === DEFAULT_OUT ? '' : ` --out ${place}`}`,
      environment: process.env,
      signal: stop.signal,
    });
    const say = (text: string) => view.handle({ type: 'message', step: 'diagnose', level: 'info', text });
    view.title(`TRACE · diagnosis by ${analyst.kind} · ${settings.raters} raters · ${place}`);
    view.handle({ type: 'step:start', step: 'diagnose', title: 'discovery, then labels' });
    for (const line of raters.preview?.(trajectories.filter(isJudged), settings.raters) ?? []) say(line);
    const diagnosis = await diagnose(trajectories, raters, {
      ...settings,
      signal: stop.signal,
      onLabelled: (done, total) => {
        const note = raters.standing?.();
        view.handle({
          type: 'progress',
          step: 'diagnose',
          task: 'raters',
          done,
          total,
          unit: 'attempts',
          ...(note ? { note } : {}),
        });
      },
    });
    view.handle({ type: 'step:end', step: 'diagnose', summary: raters.standing?.() || 'all answered' });
    // Rater files of an earlier try with more raters would be taken for this one's.
    rmSync(join(folder, 'raters'), { recursive: true, force: true });
    return diagnosis;
  } catch (error) {
    throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    stop.dispose();
    view.close();
    journal?.close();
    lock.release();
  }
}
