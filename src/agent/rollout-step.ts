import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Engine } from '../engine/contract.js';
import type { Target } from '../environment/contract.js';
import { digestJson } from '../run/digest.js';
import { writeJsonWhole } from '../run/files.js';
import { runPaths } from '../run/paths.js';
import { deriveSeed } from '../run/random.js';
import type { StepContext } from '../run/step.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { DEFAULT_MAX_TURN_TOKENS, type RolloutRequest } from './contract.js';
import { runRollouts, toTrajectory } from './rollout.js';

export interface RolloutStepOptions {
  /** Most attempts at each task. */
  readonly trials: number;
  /** Attempts at each task that are always made. */
  readonly minTrials: number;
  /** Passed attempts that the diagnosis needs for its contrast; sampling goes on until they are there. */
  readonly passedNeeded: number;
  readonly temperature: number;
  readonly maxTurnTokens: number;
  /** Attempts in flight at once. */
  readonly concurrency: number;
}

export const ROLLOUT_DEFAULTS: RolloutStepOptions = {
  trials: 32,
  minTrials: 8,
  passedNeeded: 30,
  temperature: 1,
  maxTurnTokens: DEFAULT_MAX_TURN_TOKENS,
  concurrency: 64,
};

/** A smoke run: few attempts, whatever passes. */
export const ROLLOUT_FAST: RolloutStepOptions = { ...ROLLOUT_DEFAULTS, trials: 6, minTrials: 6 };

/** What the step found; `trajectories/base.summary.json`. */
export interface RolloutSummary {
  readonly key: string;
  readonly tasks: number;
  /** Attempts made at each task. */
  readonly trials: number;
  readonly rollouts: number;
  readonly passed: number;
  readonly failed: number;
  /** Broken by the infrastructure: neither passed nor failed. */
  readonly excluded: number;
}

/** Attempts between two looks at the counts; also what a kill may cost. */
const BATCH = 256;

/**
 * The step `rollout`: attempts of the base model at the target's `train` split, into `trajectories/base.jsonl`.
 * Trials go on until `passedNeeded` attempts passed, at most `trials` at each task; a warning says so when they
 * were not enough. Batches are appended as they finish: a killed run goes on after the last whole one and ends
 * with the same bytes.
 */
export async function runRolloutStep(
  context: StepContext,
  options: Partial<RolloutStepOptions>,
  deps: { readonly engine: Engine; readonly target: Target },
): Promise<RolloutSummary> {
  const settings = { ...ROLLOUT_DEFAULTS, ...options };
  const { engine, target } = deps;
  const { folder, seed, signal, emit } = context;
  const tasks = target.split('train');
  const base = await engine.hash({ kind: 'base' });
  const key = digestJson({ base, target: target.name, tasks, settings, seed });
  const file = new BatchFile(runPaths.baseTrajectories(folder), key);
  const perBatch = Math.max(1, Math.round(BATCH / tasks.length));
  const counts = { passed: 0, failed: 0, excluded: 0 };
  const total = tasks.length * settings.trials;
  let trials = 0;
  const report = (done: number) =>
    emit({
      type: 'progress',
      step: 'rollout',
      task: 'base',
      done,
      total,
      unit: 'rollouts',
      note: `${counts.passed} passed`,
    });
  while (
    trials < settings.trials &&
    (trials < Math.min(settings.minTrials, settings.trials) || counts.passed < settings.passedNeeded)
  ) {
    const end = Math.min(settings.trials, trials + perBatch);
    let batch = file.take((end - trials) * tasks.length);
    if (!batch) {
      signal.throwIfAborted();
      const requests: RolloutRequest[] = [];
      for (let trial = trials; trial < end; trial++)
        for (const scenario of tasks) requests.push({ scenario, trial });
      const done = trials * tasks.length;
      const rollouts = await runRollouts(engine, target, requests, {
        policy: { kind: 'base' },
        temperature: settings.temperature,
        seed: deriveSeed(seed, 'rollout'),
        maxTurnTokens: settings.maxTurnTokens,
        concurrency: settings.concurrency,
        signal,
        onDone: (n) => report(done + n),
      });
      batch = rollouts.map((rollout) => toTrajectory(rollout, target));
      file.append(batch);
    }
    for (const { outcome } of batch) counts[outcome]++;
    trials = end;
    report(trials * tasks.length);
  }
  file.end();
  const summary: RolloutSummary = {
    key,
    tasks: tasks.length,
    trials,
    rollouts: trials * tasks.length,
    ...counts,
  };
  writeJsonWhole(file.summaryFile, summary);
  const warn = (text: string) => emit({ type: 'message', step: 'rollout', level: 'warning', text });
  if (counts.passed < settings.passedNeeded) {
    warn(
      `only ${counts.passed} of ${summary.rollouts} attempts passed, ${settings.passedNeeded} are needed for a sound contrast: the diagnosis will be weak. Raise rollout.trials, or add easier tasks to the training split.`,
    );
  }
  if (counts.excluded > 0) {
    warn(`${counts.excluded} attempts broke and are left out: ${file.firstBroken ?? 'no reason was given'}`);
  }
  return summary;
}

/** A JSONL file that grows by whole batches. */
class BatchFile {
  readonly summaryFile: string;
  firstBroken: string | null = null;
  readonly #path: string;
  /** Whole lines of an earlier process, and how many of them were taken. */
  readonly #lines: readonly string[];
  #taken = 0;
  #bytes = 0;

  /** Lines written under another key are dropped. */
  constructor(path: string, key: string) {
    this.#path = path;
    this.summaryFile = join(dirname(path), 'base.summary.json');
    const known = existsSync(this.summaryFile)
      ? (JSON.parse(readFileSync(this.summaryFile, 'utf8')) as { key?: string }).key === key
      : false;
    if (!known) {
      rmSync(path, { force: true });
      mkdirSync(dirname(path), { recursive: true });
      writeJsonWhole(this.summaryFile, { key });
    }
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    // What follows the last line feed is half a line of a killed process.
    this.#lines = text.split('\n').slice(0, -1);
  }

  /** The next `count` trajectories of an earlier process, or null when it did not finish them. */
  take(count: number): Trajectory[] | null {
    if (this.#taken + count > this.#lines.length) return null;
    const lines = this.#lines.slice(this.#taken, this.#taken + count);
    this.#taken += count;
    for (const line of lines) this.#bytes += Buffer.byteLength(line) + 1;
    return lines.map((line) => this.#note(JSON.parse(line) as Trajectory));
  }

  /** Appends a batch after what was taken; the rest of an unfinished one is cut off first. */
  append(batch: readonly Trajectory[]): void {
    this.end();
    const bytes = Buffer.from(
      batch.map((trajectory) => `${JSON.stringify(this.#note(trajectory))}\n`).join(''),
    );
    const descriptor = openSync(this.#path, 'a');
    try {
      for (let offset = 0; offset < bytes.length; ) offset += writeSync(descriptor, bytes, offset);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    this.#taken = Number.POSITIVE_INFINITY;
    this.#bytes += bytes.length;
  }

  /** Cuts the file after what was taken or appended. */
  end(): void {
    if (existsSync(this.#path)) truncateSync(this.#path, this.#bytes);
  }

  #note(trajectory: Trajectory): Trajectory {
    if (trajectory.outcome === 'excluded') this.firstBroken ??= String(trajectory.metadata.broken);
    return trajectory;
  }
}
