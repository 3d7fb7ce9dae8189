import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson, digestJson, digestTree } from './digest.js';
import { InputError, StoppedError } from './errors.js';
import type { EventSink, StepName } from './events.js';
import type { StepRecord } from './journal.js';
import type { StepContext } from './step.js';
import type { Workspace } from './workspace.js';

/** A step of a run, as the pipeline sees it: settings, files and work. */
export interface Step {
  readonly name: StepName;
  /** A few words for people: `rollouts of the base model`. */
  readonly title: string;
  /** All that its result depends on besides the files of the steps before it; plain JSON. */
  readonly settings: { readonly [key: string]: unknown };
  /** Files and folders that it alone writes, relative to the run's folder. */
  readonly outputs: readonly string[];
  /**
   * Does the work and returns a one-line summary. Begun again after a crash, it finds its own finished pieces and
   * has to end with the same bytes as if nothing had happened.
   */
  run(context: StepContext): Promise<string>;
}

export interface PipelineOptions {
  readonly seed: number;
  readonly emit: EventSink;
  readonly signal: AbortSignal;
  /** Do this step and those after it anew. */
  readonly from?: StepName;
  /** Stop after this step. */
  readonly until?: StepName;
  /** Only this step; those before it have to be done. */
  readonly only?: StepName;
  /** Called once all is found in order and the first step is about to begin. */
  readonly onAccepted?: () => void;
}

/**
 * Runs the steps in order and skips those that are done. What is done stays valid as long as its settings and all
 * files of the steps before it are the same; otherwise the run is refused, never silently mixed.
 * @throws InputError for a changed configuration or changed files, naming the step and the mend;
 *   StoppedError when `signal` is aborted; whatever a step throws.
 */
export async function runPipeline(
  workspace: Workspace,
  steps: readonly Step[],
  options: PipelineOptions,
): Promise<void> {
  const { journal, folder } = workspace;
  const { emit, signal, seed } = options;
  const names = steps.map((step) => step.name);
  for (const name of [options.from, options.until, options.only]) {
    if (name !== undefined && !names.includes(name)) {
      throw new InputError(`there is no step "${name}"`, `The steps are ${names.join(', ')}.`);
    }
  }
  const first = options.from === undefined ? names.length : names.indexOf(options.from);
  const last = names.indexOf(options.only ?? options.until ?? names.at(-1)!);
  if (options.from !== undefined && first > last) {
    throw new InputError(
      `--from ${options.from} comes after --until ${names[last]}`,
      `The order is ${names.join(', ')}.`,
    );
  }
  refuseChangedSettings(steps.slice(0, first), (name) => journal.step(name));
  if (options.only !== undefined) {
    const missing = names.slice(0, last).find((name) => journal.step(name)?.state !== 'done');
    if (missing !== undefined) {
      throw new InputError(
        `\`${options.only}\` needs what \`${missing}\` writes, and \`${missing}\` is not done`,
        `Run \`trace run --until ${options.only}\` to do all steps up to it.`,
      );
    }
  }
  options.onAccepted?.();
  if (first < names.length) {
    journal.markStale(names.slice(first));
    // All at once, so that no file of a later step tells of what is no more.
    for (const step of steps.slice(first)) removeOutputs(folder, step);
  }

  const written: Record<string, string | null> = {};
  for (const [index, step] of steps.entries()) {
    if (index > last) break;
    const settings = canonicalJson(step.settings);
    const input = digestJson({ settings: step.settings, written });
    const record = journal.step(step.name);
    const stands = record !== undefined && record.state !== 'stale';
    if (stands && record.input !== input) throw changedFiles(step.name, names.slice(0, index));

    if (
      record?.state === 'done' &&
      step.outputs.every((output) => digestTree(join(folder, output)) !== null)
    ) {
      emit({ type: 'step:end', step: step.name, summary: record.summary ?? '', resumed: true });
    } else {
      signal.throwIfAborted();
      if (record?.state === 'stale') removeOutputs(folder, step);
      journal.begin(step.name, input, settings);
      emit({ type: 'step:start', step: step.name, title: step.title });
      const began = performance.now();
      const seconds = () => (performance.now() - began) / 1000;
      try {
        const summary = await step.run({ folder, emit, signal, seed });
        journal.finish(step.name, summary, seconds());
        emit({ type: 'step:end', step: step.name, summary });
      } catch (error) {
        try {
          journal.addSeconds(step.name, seconds());
        } catch {
          // A full disk stops the journal too; the step's own error says more.
        }
        throw error;
      }
    }
    for (const output of step.outputs) written[output] = digestTree(join(folder, output));
  }
}

/** Aborts with a `StoppedError` on SIGINT and SIGTERM; a second one ends the process at once, as safe as a crash. */
export function stopOnSignals(onFirst: (signal: string) => void): {
  signal: AbortSignal;
  dispose: () => void;
} {
  const controller = new AbortController();
  const listener = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(1);
    onFirst(name);
    controller.abort(new StoppedError(name));
  };
  process.on('SIGINT', listener);
  process.on('SIGTERM', listener);
  const dispose = (): void => {
    process.off('SIGINT', listener);
    process.off('SIGTERM', listener);
  };
  return { signal: controller.signal, dispose };
}

function removeOutputs(folder: string, step: Step): void {
  for (const output of step.outputs) rmSync(join(folder, output), { recursive: true, force: true });
}

function refuseChangedSettings(
  steps: readonly Step[],
  recordOf: (name: StepName) => StepRecord | undefined,
): void {
  for (const step of steps) {
    const record = recordOf(step.name);
    if (record === undefined || record.state === 'stale') continue;
    if (record.settings === canonicalJson(step.settings)) continue;
    const changes = differences(JSON.parse(record.settings), step.settings);
    throw new InputError(
      `the configuration changed since \`${step.name}\` ${record.state === 'done' ? 'was done' : 'began'}: ${changes.join('; ')}`,
      `Start a new run beside it (\`--run NAME\`), or do it again from there (\`--from ${step.name}\`).`,
    );
  }
}

function changedFiles(step: StepName, before: readonly StepName[]): InputError {
  return new InputError(
    `files that \`${step}\` was done with (written by ${before.map((name) => `\`${name}\``).join(', ')}) have changed since`,
    `Do it again with the files as they are now: \`--from ${step}\`. Or put the old files back.`,
  );
}

/** Where two JSON values differ, as `path: old → new`, at most five. */
export function differences(old: unknown, now: unknown, path = ''): string[] {
  const isObject = (value: unknown): value is Record<string, unknown> =>
    value !== null && typeof value === 'object' && !Array.isArray(value);
  if (isObject(old) && isObject(now)) {
    const keys = [...new Set([...Object.keys(old), ...Object.keys(now)])];
    return keys
      .flatMap((key) => differences(old[key], now[key], path === '' ? key : `${path}.${key}`))
      .slice(0, 5);
  }
  if (canonicalJson(old ?? null) === canonicalJson(now ?? null)) return [];
  return [`${path}: ${shortText(old)} → ${shortText(now)}`];
}

/** A value in few characters: of a digest its beginning is enough to tell two apart. */
function shortText(value: unknown): string {
  if (typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)) return `${value.slice(0, 8)}…`;
  return JSON.stringify(value) ?? 'absent';
}
