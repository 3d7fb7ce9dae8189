import { existsSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { InputError } from '../../run/errors.js';
import { STEP_NAMES } from '../../run/events.js';
import { Journal, type StepRecord } from '../../run/journal.js';
import { readLockHolder } from '../../run/lock.js';
import { runPaths } from '../../run/paths.js';
import { listRuns, readSnapshot, runFolder } from '../../run/workspace.js';
import { type Colors, colorsFor } from '../terminal/colors.js';
import { formatDuration, padEnd } from '../terminal/format.js';
import { requireRun } from './run.js';

interface RunStatus {
  readonly run: string;
  readonly seed: number;
  readonly version: string;
  /** Process that works on it now, or null. */
  readonly pid: number | null;
  readonly steps: readonly StepRecord[];
  readonly rollouts: { readonly [outcome: string]: number };
}

/** `trace status`: the runs of a project, step by step; only reads. @throws InputError */
export function statusCommand(
  place: string,
  flags: { readonly run?: string; readonly json?: boolean },
): void {
  // A configuration file stands for its folder, as in the other commands.
  const path = resolve(place);
  const project = existsSync(path) && statSync(path).isFile() ? dirname(path) : path;
  if (!existsSync(project)) throw new InputError(`${place}: there is no such folder`);
  const runs = listRuns(project);
  if (flags.run !== undefined) requireRun(place, flags.run, runs);
  const statuses = (flags.run === undefined ? runs : [flags.run]).map((run) => readStatus(project, run));
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ type: 'result', ok: true, project, runs: statuses })}\n`);
    return;
  }
  const colors = colorsFor(process.stdout);
  if (statuses.length === 0)
    process.stdout.write(`${basename(project)} has no runs yet. Begin one: trace run\n`);
  for (const status of statuses) process.stdout.write(statusText(status, colors));
}

function readStatus(project: string, run: string): RunStatus {
  const folder = runFolder(project, run);
  const snapshot = readSnapshot(folder)!;
  const holder = readLockHolder(folder);
  const path = runPaths.journal(folder);
  const journal = existsSync(path) ? new Journal(path, { readOnly: true }) : null;
  try {
    return {
      run,
      seed: snapshot.seed,
      version: snapshot.version,
      pid: holder?.pid ?? null,
      steps: journal?.steps() ?? [],
      rollouts: journal?.countRollouts('rollout') ?? {},
    };
  } finally {
    journal?.close();
  }
}

function statusText(status: RunStatus, colors: Colors): string {
  const working = status.pid === null ? '' : colors.cyan(` · process ${status.pid} works on it`);
  const lines = [`${colors.bold(status.run)} · seed ${status.seed}${working}`];
  for (const name of STEP_NAMES) {
    const step = status.steps.find((record) => record.name === name);
    const [mark, words] = stateWords(step, status.pid !== null, colors);
    const time = step && step.seconds > 0 ? colors.dim(`  ${formatDuration(step.seconds)}`) : '';
    lines.push(`  ${mark} ${padEnd(name, 11)} ${words}${time}`);
  }
  return `${lines.join('\n')}\n`;
}

function stateWords(step: StepRecord | undefined, working: boolean, colors: Colors): [string, string] {
  if (step === undefined) return [colors.dim('○'), colors.dim('not begun')];
  if (step.state === 'done') return [colors.green('✔'), step.summary ?? 'done'];
  if (step.state === 'stale') return [colors.yellow('○'), 'to be done again'];
  return working
    ? [colors.cyan('▶'), 'running']
    : [colors.yellow('■'), 'stopped; `trace run` goes on with it'];
}
