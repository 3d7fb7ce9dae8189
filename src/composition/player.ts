import { join } from 'node:path';
import { runRollouts } from '../agent/rollout.js';
import type { Engine, PolicyRef } from '../engine/contract.js';
import { loadEnvironment } from '../environment/sandbox/load.js';
import { digestJson, digestTree } from '../run/digest.js';
import { runPaths } from '../run/paths.js';
import { deriveSeed } from '../run/random.js';
import type { StepContext } from '../run/step.js';
import { type GateEpisode, readEpisodes, toEpisode, writeEpisodes } from './episodes.js';
import type { CompositionOptions } from './options.js';

/**
 * First scenario seed of this step: beyond the seeds of calibration and training, so that the gates see
 * scenarios on which no adapter was trained.
 */
export const COMPOSITION_SEEDS = 7_000_000;

/** Plays environments for the gates, and keeps what was played in `composed/episodes/`. */
export class EpisodePlayer {
  readonly #context: StepContext;
  readonly #options: CompositionOptions;
  readonly #engine: Engine;
  readonly #key: string;
  #sampled = 0;

  /** @param key digest of all that a composition depends on. */
  constructor(context: StepContext, options: CompositionOptions, engine: Engine, key: string) {
    this.#context = context;
    this.#options = options;
    this.#engine = engine;
    this.#key = key;
  }

  /** Episodes played so far, by this process or an earlier one. */
  get sampled(): number {
    return this.#sampled;
  }

  /** Samples an environment with a policy at temperature 1, or reads what an earlier run sampled. */
  async play(
    name: string,
    environmentFolder: string,
    policy: PolicyRef,
    attempts: number,
  ): Promise<GateEpisode[]> {
    const { seed, signal, emit, folder } = this.#context;
    const path = join(runPaths.composed(folder), 'episodes', `${name}.jsonl`);
    const key = digestJson({
      runKey: this.#key,
      environment: digestTree(environmentFolder),
      policy: await this.#engine.hash(policy),
    });
    let episodes = readEpisodes(path, key);
    if (!episodes) {
      signal.throwIfAborted();
      const environment = await loadEnvironment(environmentFolder);
      const requests = Array.from({ length: attempts }, (_, i) => ({
        scenario: COMPOSITION_SEEDS + i,
        trial: 0,
      }));
      const rollouts = await runRollouts(this.#engine, environment, requests, {
        policy,
        temperature: 1,
        seed: deriveSeed(seed, 'compose', name),
        maxTurnTokens: this.#options.maxTurnTokens,
        concurrency: this.#options.concurrency,
        signal,
        onDone: (done, total) =>
          emit({ type: 'progress', step: 'compose', task: name, done, total, unit: 'episodes' }),
      });
      episodes = rollouts.map((rollout) => toEpisode(rollout, this.#options.successThreshold));
      await environment.close?.();
      writeEpisodes(path, key, episodes);
    }
    this.#sampled += episodes.length;
    const passed = episodes.filter((episode) => episode.passed).length;
    emit({
      type: 'progress',
      step: 'compose',
      task: name,
      done: episodes.length,
      total: episodes.length,
      unit: 'episodes',
      note: `passed ${passed} of ${episodes.length}`,
    });
    return episodes;
  }
}
