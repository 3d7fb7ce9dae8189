import type { Rollout, RolloutRequest } from '../agent/contract.js';
import { passed, runRollouts } from '../agent/rollout.js';
import type { Engine, PolicyRef } from '../engine/contract.js';
import type { GrpoSettings } from './settings.js';
import type { Task, TaskSource } from './tasks.js';
import type { HeldOutResult } from './training-log.js';

/** An attempt to sample: the task, and whether it sees the hint. */
export interface Attempt extends Task {
  readonly hint: boolean;
}

/**
 * Samples attempts at tasks of several sources, all at once; results stand in the order of the attempts. The place
 * of an attempt in the list is its trial number, so that equal tasks get different chance.
 */
export async function sampleAttempts(
  engine: Engine,
  policy: PolicyRef,
  sources: readonly TaskSource[],
  attempts: readonly Attempt[],
  settings: Pick<GrpoSettings, 'temperature' | 'maxTurnTokens' | 'concurrency'>,
  seed: number,
  signal?: AbortSignal,
): Promise<Rollout[]> {
  const results = new Array<Rollout>(attempts.length);
  const places = sources.map((_, source) =>
    attempts.flatMap((attempt, place) => (attempt.source === source ? [place] : [])),
  );
  const used = places.filter((list) => list.length > 0).length;
  const options = {
    policy,
    seed,
    temperature: settings.temperature,
    maxTurnTokens: settings.maxTurnTokens,
    concurrency: Math.max(1, Math.ceil(settings.concurrency / Math.max(1, used))),
    ...(signal && { signal }),
  };
  // One failing source must not leave the others running behind the caller's back.
  const settled = await Promise.allSettled(
    places.map(async (list, source) => {
      const requests = list.map((place): RolloutRequest => {
        const { scenario, hint } = attempts[place]!;
        return { scenario, trial: place, ...(hint && { hint }) };
      });
      const rollouts = await runRollouts(engine, sources[source]!.environment, requests, options);
      list.forEach((place, i) => {
        results[place] = rollouts[i]!;
      });
    }),
  );
  const failure = settled.find((one) => one.status === 'rejected');
  if (failure) throw failure.reason;
  return results;
}

/** Success rate and mean reward of attempts; broken ones do not count. */
export function summarise(
  rollouts: readonly Rollout[],
  attempts: readonly Attempt[],
  sources: readonly TaskSource[],
): HeldOutResult {
  let n = 0;
  let reward = 0;
  let success = 0;
  rollouts.forEach((rollout, i) => {
    if (rollout.broken !== undefined) return;
    n++;
    reward += rollout.score.reward;
    if (passed(rollout, sources[attempts[i]!.source]!.successThreshold)) success++;
  });
  return { success: n === 0 ? 0 : success / n, reward: n === 0 ? 0 : reward / n, n };
}
