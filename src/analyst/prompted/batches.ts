import { Random } from '../../run/random.js';
import type { Trajectory } from '../../trajectory/trajectory.js';

/** Passed attempts read for each failed one. */
const PASSED_PER_FAILED = 0.5;

/**
 * The attempts that discovery reads, in pairs where it can be: each failed one (a different task first) followed, for
 * every second one, by a passed one of the same task, or, where that task was never solved, of another.
 * Deterministic by seed.
 * @param most attempts in all.
 */
export function chooseForDiscovery(
  trajectories: readonly Trajectory[],
  most: number,
  seed: number,
): Trajectory[] {
  const random = new Random(seed, '/discovery');
  const failed = spread(
    random.fork('failed').shuffle(trajectories.filter((trajectory) => trajectory.outcome === 'failed')),
  );
  const passed = spread(
    random.fork('passed').shuffle(trajectories.filter((trajectory) => trajectory.outcome === 'passed')),
  );
  // Without a failure there is nothing to explain.
  if (failed.length === 0) return [];
  const chosen: Trajectory[] = [];
  const unused = new Set(passed);
  let owed = 0;
  for (const attempt of failed) {
    if (chosen.length >= most) break;
    chosen.push(attempt);
    owed += PASSED_PER_FAILED;
    if (owed < 1 || chosen.length >= most) continue;
    owed -= 1;
    const beside = [...unused].find((candidate) => candidate.taskId === attempt.taskId) ?? [...unused].at(0);
    if (!beside) continue;
    unused.delete(beside);
    chosen.push(beside);
  }
  // Few failures leave room: what is done right at other tasks shows what is needed there.
  for (const attempt of unused) {
    if (chosen.length >= Math.min(most, Math.max(4, failed.length * 2))) break;
    chosen.push(attempt);
  }
  return chosen;
}

/** Attempts at tasks not seen yet come first, then second attempts, and so on. */
function spread(trajectories: readonly Trajectory[]): Trajectory[] {
  const seen = new Map<string, number>();
  return trajectories
    .map((trajectory) => {
      const round = seen.get(trajectory.taskId) ?? 0;
      seen.set(trajectory.taskId, round + 1);
      return { trajectory, round };
    })
    .sort((a, b) => a.round - b.round)
    .map(({ trajectory }) => trajectory);
}

/**
 * Packs items into batches in their order, each of at most so many tokens; an item that is larger stands alone. Sizes
 * are evened out: two half-full batches rather than a full one and a nearly empty one.
 */
export function packBatches<T>(items: readonly T[], sizeOf: (item: T) => number, most: number): T[][] {
  const total = items.reduce((sum, item) => sum + sizeOf(item), 0);
  if (items.length === 0) return [];
  const wanted = total / Math.max(1, Math.ceil(total / most));
  const batches: T[][] = [];
  let batch: T[] = [];
  let size = 0;
  for (const item of items) {
    const next = sizeOf(item);
    if (batch.length > 0 && (size + next > most || size >= wanted)) {
      batches.push(batch);
      batch = [];
      size = 0;
    }
    batch.push(item);
    size += next;
  }
  batches.push(batch);
  return batches;
}
