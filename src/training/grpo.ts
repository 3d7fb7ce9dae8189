import type { Rollout } from '../agent/contract.js';
import type { Datum, Engine, Trainable } from '../engine/contract.js';
import { TraceError } from '../run/errors.js';
import { deriveSeed } from '../run/random.js';
import { groupAdvantages } from './advantages.js';
import { type Attempt, sampleAttempts, summarise } from './attempts.js';
import { CheckpointFolder, type TrainingState } from './checkpoint.js';
import { type AdvantagedRollout, toData } from './datums.js';
import { SILENT_ITERATIONS, silentNow, trainingTroubles } from './health.js';
import { evaluatesAfter, type GrpoSettings, learningRateAt } from './settings.js';
import { heldOutTasks, type TaskSource, trainingTask } from './tasks.js';
import type { HeldOutResult, TrainingLine } from './training-log.js';

export interface GrpoOptions {
  readonly settings: GrpoSettings;
  /** What is trained, for messages. */
  readonly name: string;
  readonly seed: number;
  /** Gets `training.jsonl`, and `checkpoints/` while it runs. */
  readonly folder: string;
  /** Digest of all that the training depends on; checkpoints of another key are not gone on from. */
  readonly key: string;
  readonly signal?: AbortSignal;
  readonly onIteration?: (line: TrainingLine) => void;
  readonly onWarning?: (text: string) => void;
}

export interface GrpoResult {
  readonly lines: readonly TrainingLine[];
  /** Iteration (from 1) of the best checkpoint, and what its evaluation found; null without evaluations. */
  readonly best: { readonly iteration: number; readonly success: number; readonly reward: number } | null;
  readonly stoppedEarly: boolean;
  /** All attempts sampled, held-out ones among them, and those alone. */
  readonly rollouts: number;
  readonly heldOutRollouts: number;
  /** What went wrong, for a person; empty when it learned. */
  readonly warnings: readonly string[];
}

/**
 * Group relative policy optimisation of an adapter, or of a mixture's adapters together, on any engine and any
 * environments.
 *
 * Each iteration samples `groupSize` attempts at each of `groups` tasks, turns rewards into advantages inside each
 * group (constant groups are left out and counted, broken attempts leave their group) and makes one optimizer step
 * on the clipped loss over the exact sampled tokens. Every `evaluateEvery` iterations the policy is tried on
 * held-out tasks; the best of these checkpoints is what it holds in the end. Killed at any moment, it goes on from
 * the last finished iteration and ends with the same bytes.
 * @param policy freshly made; the caller saves and releases it.
 * @throws what engine, file system and `signal` throw; a TraceError when every attempt of an iteration is broken.
 */
export function trainGrpo(
  engine: Engine,
  policy: Trainable,
  sources: readonly TaskSource[],
  options: GrpoOptions,
): Promise<GrpoResult> {
  return new GrpoLoop(engine, sources, options, policy).run();
}

class GrpoLoop {
  readonly #engine: Engine;
  readonly #sources: readonly TaskSource[];
  readonly #options: GrpoOptions;
  readonly #policy: Trainable;
  readonly #checkpoints: CheckpointFolder;
  #state: TrainingState = { lines: [], best: null, stopped: false };

  constructor(engine: Engine, sources: readonly TaskSource[], options: GrpoOptions, policy: Trainable) {
    this.#engine = engine;
    this.#sources = sources;
    this.#options = options;
    this.#policy = policy;
    this.#checkpoints = new CheckpointFolder(options.folder, options.key);
  }

  async run(): Promise<GrpoResult> {
    const { settings, onIteration, onWarning } = this.#options;
    const restored = await this.#checkpoints.restore(this.#engine, this.#policy);
    if (restored) this.#state = restored;
    for (const line of this.#state.lines) onIteration?.(line);
    while (this.#state.lines.length < settings.iterations && !this.#state.stopped) {
      const line = await this.#iterate(this.#state.lines.length);
      const lines = [...this.#state.lines, line];
      this.#state = { lines, best: this.#best(line), stopped: this.#solved(lines) };
      await this.#checkpoints.save(this.#engine, this.#policy, this.#state);
      onIteration?.(line);
      if (silentNow(lines)) {
        onWarning?.(`${SILENT_ITERATIONS} iterations in a row had no informative group: nothing is learned`);
      }
    }
    const { lines, best, stopped } = this.#state;
    if (best && best.iteration !== lines.length) {
      await this.#checkpoints.load(this.#engine, this.#policy, best.iteration);
    }
    const warnings = trainingTroubles(lines, settings.groups * settings.groupSize);
    for (const warning of warnings) onWarning?.(warning);
    return {
      lines,
      best,
      stoppedEarly: stopped && lines.length < settings.iterations,
      rollouts: lines.at(-1)?.rollouts ?? 0,
      heldOutRollouts: lines.filter((line) => line.heldOut).length * settings.heldOut,
      warnings,
    };
  }

  async #iterate(iteration: number): Promise<TrainingLine> {
    const { settings, seed } = this.#options;
    const { groups, groupSize } = settings;
    const hinted = Math.round(settings.hintShare * groupSize);
    const attempts: Attempt[] = [];
    for (let group = 0; group < groups; group++) {
      const task = trainingTask(this.#sources, iteration * groups + group);
      for (let i = 0; i < groupSize; i++) attempts.push({ ...task, hint: i < hinted });
    }
    const rollouts = await this.#sample(attempts, deriveSeed(seed, 'train', iteration));
    const stats = summarise(rollouts, attempts, this.#sources);
    if (stats.n === 0) {
      throw new TraceError(
        `${this.#options.name}: all ${rollouts.length} attempts of iteration ${iteration + 1} broke: ${rollouts[0]?.broken}`,
        'The environment fails by itself: mend it, then run the same command again.',
      );
    }
    const { batch, constantGroups } = this.#advantages(rollouts, attempts);
    const learningRate = learningRateAt(settings, iteration);
    const step = batch.length > 0 ? await this.#step(toData(batch, settings), learningRate) : null;
    const heldOut = evaluatesAfter(settings, iteration) ? await this.#evaluate() : null;
    const before = this.#state.lines.at(-1)?.rollouts ?? 0;
    const turns = rollouts.reduce((sum, rollout) => sum + rollout.turns, 0);
    return {
      iteration: iteration + 1,
      rollouts: before + attempts.length + (heldOut ? settings.heldOut : 0),
      reward: stats.reward,
      success: stats.success,
      broken: attempts.length - stats.n,
      groups,
      constantGroups,
      gradientNorm: step?.gradientNorm ?? null,
      clipFraction: step?.clipFraction ?? null,
      learningRate,
      turnTokens: turns === 0 ? 0 : sampledTokens(rollouts) / turns,
      turns: turns / attempts.length,
      ...(heldOut && { heldOut }),
    };
  }

  #advantages(rollouts: readonly Rollout[], attempts: readonly Attempt[]) {
    const { groups, groupSize, normalisation } = this.#options.settings;
    const batch: AdvantagedRollout[] = [];
    let constantGroups = 0;
    for (let group = 0; group < groups; group++) {
      const start = group * groupSize;
      const members = rollouts.slice(start, start + groupSize);
      const rewards = members.map(({ broken, score }) => (broken === undefined ? score.reward : null));
      const advantages = groupAdvantages(rewards, normalisation);
      if (!advantages) {
        constantGroups++;
        continue;
      }
      const { toolKinds } = this.#sources[attempts[start]!.source]!.environment;
      members.forEach((rollout, i) => {
        const advantage = advantages[i];
        if (advantage !== null && advantage !== undefined) batch.push({ rollout, advantage, toolKinds });
      });
    }
    return { batch, constantGroups };
  }

  async #step(data: readonly Datum[], learningRate: number) {
    const { clipLow, clipHigh, gradientClip } = this.#options.settings;
    const { logprobs } = await this.#engine.forwardBackward(this.#policy, data, {
      name: 'ppo',
      clipLow,
      clipHigh,
    });
    const { gradientNorm } = await this.#engine.optimStep(this.#policy, { learningRate, gradientClip });
    return { gradientNorm, clipFraction: clipFraction(data, logprobs, clipLow, clipHigh) };
  }

  #evaluate(): Promise<HeldOutResult> {
    const { settings, seed } = this.#options;
    const attempts = heldOutTasks(this.#sources, settings.heldOut).map((task) => ({ ...task, hint: false }));
    // The same chance in every evaluation: two checkpoints differ by what they learned alone.
    return this.#sample(attempts, deriveSeed(seed, 'held-out')).then((rollouts) =>
      summarise(rollouts, attempts, this.#sources),
    );
  }

  #sample(attempts: readonly Attempt[], seed: number): Promise<Rollout[]> {
    const { settings, signal } = this.#options;
    return sampleAttempts(this.#engine, this.#policy, this.#sources, attempts, settings, seed, signal);
  }

  /** The later of two equal checkpoints is the better one: it has seen more. */
  #best({ iteration, heldOut }: TrainingLine): TrainingState['best'] {
    const { best } = this.#state;
    if (!heldOut) return best;
    const { success, reward } = heldOut;
    const worse = best && (success < best.success || (success === best.success && reward < best.reward));
    return worse ? best : { iteration, success, reward };
  }

  #solved(lines: readonly TrainingLine[]): boolean {
    const { stopAt, stopAfter } = this.#options.settings;
    const evaluations = lines.flatMap((line) => (line.heldOut ? [line.heldOut.success] : []));
    return evaluations.length >= stopAfter && evaluations.slice(-stopAfter).every((s) => s >= stopAt);
  }
}

const sampledTokens = (rollouts: readonly Rollout[]): number =>
  rollouts.reduce(
    (sum, { sequences }) => sum + sequences.reduce((n, s) => n + s.sampled.filter(Boolean).length, 0),
    0,
  );

/** Share of the trained tokens where the loss takes the clipped branch. */
export function clipFraction(
  data: readonly Datum[],
  logprobs: readonly ArrayLike<number>[],
  low: number,
  high: number,
): number {
  let clipped = 0;
  let trained = 0;
  data.forEach((datum, i) => {
    for (let t = 0; t < datum.tokens.length; t++) {
      if (datum.weights[t] === 0) continue;
      trained++;
      const ratio = Math.exp(logprobs[i]![t]! - datum.logprobs![t]!);
      const advantage = datum.advantages![t]!;
      if ((advantage > 0 && ratio > high) || (advantage < 0 && ratio < low)) clipped++;
    }
  });
  return trained === 0 ? 0 : clipped / trained;
}
