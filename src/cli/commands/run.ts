import { relative } from 'node:path';
import { loadConfig } from '../../config/load.js';
import { InputError } from '../../run/errors.js';
import type { RunEvent, StepName } from '../../run/events.js';
import { runPaths } from '../../run/paths.js';
import { runPipeline, stopOnSignals } from '../../run/pipeline.js';
import { runFolder, Workspace } from '../../run/workspace.js';
import { buildSteps } from '../pipeline.js';
import { Session } from '../session.js';
import { commonSettings, locateModel } from '../settings.js';
import { readSummary } from '../summary.js';
import { colorsFor } from '../terminal/colors.js';
import { summaryText } from '../terminal/summary-text.js';
import { openView } from '../terminal/view.js';
import { packageVersion } from '../version.js';

export interface RunCommandFlags {
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
  const config = { ...loaded.config, seed: flags.seed ?? loaded.config.seed };
  const run = flags.run ?? (flags.fast ? 'fast' : 'main');
  const folder = runFolder(loaded.project, run);
  const model = locateModel(config.model, loaded.project);
  const common = commonSettings({ ...loaded, config }, model);

  const workspace = Workspace.open(folder);
  const session = new Session(config, loaded.project, model.folder);
  const steps = buildSteps({
    config,
    fast: flags.fast ?? false,
    common,
    session,
    journal: workspace.journal,
  });
  const names = steps.map((step) => step.name);
  const last = flags.only ?? flags.until;
  const shown = last === undefined ? names : names.slice(0, names.indexOf(last) + 1);
  const view = openView(shown, flags.json ?? false);
  const stop = stopOnSignals(() => view.note('stopping at the next safe point (again: at once)'));
  const emit = (event: RunEvent): void => view.handle(event);
  try {
    view.title(
      `TRACE · ${relative(process.cwd(), loaded.project) || '.'} · run ${run} · seed ${config.seed}${flags.fast ? ' · fast: a smoke run, its numbers say nothing about the method' : ''}`,
    );
    await runPipeline(workspace, steps, {
      seed: config.seed,
      emit,
      signal: stop.signal,
      ...(flags.from === undefined ? {} : { from: flags.from }),
      ...(flags.until === undefined ? {} : { until: flags.until }),
      ...(flags.only === undefined ? {} : { only: flags.only }),
      onAccepted: () =>
        workspace.writeSnapshot({
          format: 1,
          run,
          version: packageVersion(),
          seed: config.seed,
          model: model.digest,
          config: {
            ...config,
            ...Object.fromEntries(steps.map(({ name, settings }) => [name, settings.options])),
          },
        }),
    });
  } catch (error) {
    // A step that was stopped may throw its own words for it; the reason of the stop is what a person wants.
    throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    stop.dispose();
    view.close();
    await session.close();
    workspace.close();
  }

  const summary = readSummary(folder);
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ type: 'result', ok: true, run, folder, ...summary })}\n`);
    return;
  }
  process.stdout.write(summaryText(summary, colorsFor(process.stdout)));
  const done = last === undefined ? null : `Done up to ${last}. Go on: trace run ${place}`;
  if (done) process.stdout.write(`${done}\n`);
  else process.stdout.write(`Report: ${relative(process.cwd(), runPaths.report(folder))}\n`);
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
