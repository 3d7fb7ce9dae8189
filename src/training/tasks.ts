import { SUCCESS_THRESHOLD } from '../agent/rollout.js';
import type { Environment, SplitName, Target } from '../environment/contract.js';
import { Random } from '../run/random.js';

/** Where the tasks of a training come from. */
export interface TaskSource {
  readonly environment: Environment;
  /** A reward of at least this is a success. */
  readonly successThreshold: number;
  /** Scenario seed of the k-th training task, k from 0. */
  readonly task: (k: number) => number;
  /** Scenario seed of the k-th held-out task; none of them is ever trained on. */
  readonly heldOut: (k: number) => number;
}

/** First scenario seeds of procedural training and held-out tasks; each training draws from its own stretch. */
export const TRAINING_SEEDS = 20_000_000;
export const HELD_OUT_SEEDS = 40_000_000;

/** A procedural environment: no task comes twice. */
export function proceduralTasks(environment: Environment): TaskSource {
  return {
    environment,
    successThreshold: SUCCESS_THRESHOLD,
    task: (k) => TRAINING_SEEDS + k,
    heldOut: (k) => HELD_OUT_SEEDS + k,
  };
}

/**
 * A fixed set of a target's tasks, in a new order each epoch; held out is the target's validation split.
 * @param size tasks of the split to use; absent: all.
 * @throws Error when the split is empty.
 */
export function fixedTasks(target: Target, split: SplitName, seed: number, size?: number): TaskSource {
  const seeds = target.split(split, size);
  if (seeds.length === 0) throw new Error(`${target.name}: the split ${split} has no tasks`);
  const epochs = new Map<number, readonly number[]>();
  const validation = target.split('validation');
  return {
    environment: target,
    successThreshold: target.successThreshold,
    task(k) {
      const epoch = Math.floor(k / seeds.length);
      let order = epochs.get(epoch);
      if (!order) {
        order = new Random(seed).fork('epoch', epoch).shuffle(seeds);
        epochs.set(epoch, order);
      }
      return order[k % seeds.length]!;
    },
    heldOut(k) {
      const scenario = validation[k % validation.length];
      if (scenario === undefined) throw new Error(`${target.name}: the split validation has no tasks`);
      return scenario;
    },
  };
}

/** A task to attempt: which source, which scenario. */
export interface Task {
  readonly source: number;
  readonly scenario: number;
}

/** The k-th training task of several sources, taken in turn. */
export function trainingTask(sources: readonly TaskSource[], k: number): Task {
  const source = k % sources.length;
  return { source, scenario: sources[source]!.task(Math.floor(k / sources.length)) };
}

/** The held-out tasks of an evaluation, taken in turn from the sources. */
export function heldOutTasks(sources: readonly TaskSource[], size: number): Task[] {
  return Array.from({ length: size }, (_, k) => {
    const source = k % sources.length;
    return { source, scenario: sources[source]!.heldOut(Math.floor(k / sources.length)) };
  });
}
