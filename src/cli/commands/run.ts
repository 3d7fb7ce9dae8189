import { relative } from 'node:path';
import { loadConfig } from '../../config/load.js';
import { InputError } from '../../run/errors.js';
import type { StepName } from '../../run/events.js';
import { runPaths } from '../../run/paths.js';
import { runPipeline, type Step, stopOnSignals } from '../../run/pipeline.js';
import { type RunSnapshot, runFolder, Workspace } from '../../run/workspace.js';
import { type AnalystFlags, analystFrom } from '../analyst-flags.js';
import { buildSteps } from '../pipeline.js';
import { Session } from '../session.js';
import { commonSettings, locateModel } from '../settings.js';
import { readSummary } from '../summary.js';
import { colorsFor } from '../terminal/colors.js';
import { formatDuration } from '../terminal/format.js';
import { summaryText } from '../terminal/summary-text.js';
import { openView } from '../terminal/view.js';
import { packageVersion } from '../version.js';

/** Options of a run; those of the analyst stand before the configuration's. */
export interface RunCommandFlags extends AnalystFlags {
  readonly run?: string;
  readonly seed?: number;
  readonly fast?: boolean;
  readonly json?: boolean;
  readonly from?: StepName;
  readonly until?: StepName;
  readonly only?: StepName;
}

/** `trace run` and the commands of single steps. @throws TraceError, and what a step throws. */
export async function runCommand(place: string, flags: RunCommandFlags): Promise<void> {
  const loaded = await loadConfig(place);
  const config = {
    ...loaded.config,
    seed: flags.seed ?? loaded.config.seed,
    analyst: analystFrom(flags, loaded.config.analyst),
  };
  const run = flags.run ?? (flags.fast ? 'fast' : 'main');
  const folder = runFolder(loaded.project, run);
  const model = locateModel(config.model, loaded.project);
  const common = commonSettings({ ...loaded, config }, model);

  const began = performance.now();
  const workspace = Workspace.open(folder);
  const session = new Session(config, loaded.project, model.folder);
  try {
    const steps = buildSteps({
      config,
      fast: flags.fast ?? false,
      common,
      session,
      project: loaded.project,
      journal: workspace.journal,
    });
    const snapshot: RunSnapshot = {
      format: 1,
      run,
      version: packageVersion(),
      seed: config.seed,
      model: model.digest,
      config: { ...config, ...Object.fromEntries(steps.map((step) => [step.name, step.settings.options])) },
    };
    const title = [
      'TRACE',
      shortPath(loaded.project),
      `run ${run}`,
      `seed ${config.seed}`,
      ...(flags.fast ? ['fast: a smoke run, its numbers say nothing about the method'] : []),
    ];
    await showPipeline(workspace, steps, { snapshot, title: title.join(' · ') }, flags);
  } finally {
    await session.close();
    workspace.close();
  }

  const summary = readSummary(folder);
  // Of the whole process, worker threads included.
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  const seconds = (performance.now() - began) / 1000;
  if (flags.json) {
    const result = { type: 'result', ok: true, run, folder, seconds, peakBytes, ...summary };
    process.stdout.write(`${JSON.stringify(result)}\n`);
    return;
  }
  process.stdout.write(summaryText(summary, colorsFor(process.stdout)));
  const until = flags.only ?? flags.until;
  if (until !== undefined) process.stdout.write(`Done up to ${until}. Go on: trace run ${place}\n`);
  else process.stdout.write(`Report: ${shortPath(runPaths.report(folder))}\n`);
  process.stdout.write(
    `${formatDuration(seconds)} in this process, peak memory ${(peakBytes / 2 ** 30).toFixed(1)} GB\n`,
  );
}

/** Runs the steps with a view of them. @throws TraceError; the stop's own reason when it was asked to stop. */
async function showPipeline(
  workspace: Workspace,
  steps: readonly Step[],
  { snapshot, title }: { readonly snapshot: RunSnapshot; readonly title: string },
  flags: RunCommandFlags,
): Promise<void> {
  const { json = false, from, until, only } = flags;
  const names = steps.map((step) => step.name);
  const last = only ?? until;
  const view = openView(last === undefined ? names : names.slice(0, names.indexOf(last) + 1), json);
  const stop = stopOnSignals(() => view.note('stopping at the next safe point (again: at once)'));
  try {
    view.title(title);
    await runPipeline(workspace, steps, {
      seed: snapshot.seed,
      emit: (event) => view.handle(event),
      signal: stop.signal,
      ...(from === undefined ? {} : { from }),
      ...(until === undefined ? {} : { until }),
      ...(only === undefined ? {} : { only }),
      onAccepted: () => workspace.writeSnapshot(snapshot),
    });
  } catch (error) {
    // A step that was stopped may throw its own words for it; the reason of the stop is what a person wants.
    throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    stop.dispose();
    view.close();
  }
}

/** A path as a person would type it from here: relative where it lies below the current folder. */
function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short || '.';
}

/** @throws InputError unless the project has that run. */
export function requireRun(project: string, run: string, runs: readonly string[]): void {
  if (!runs.includes(run)) {
    throw new InputError(
      `${project} has no run "${run}"`,
      runs.length > 0 ? `Its runs are ${runs.join(', ')}.` : 'Begin one: `trace run`.',
    );
  }
}
