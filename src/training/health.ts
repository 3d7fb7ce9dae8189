import type { TrainingLine } from './training-log.js';

/** Iterations without any informative group in a row that are worth a warning at once. */
export const SILENT_ITERATIONS = 5;

/** A success rate from which on there is nothing left to learn. */
const SOLVED = 0.9;

/** An iteration that taught nothing although there was something to learn: solved tasks give constant groups too. */
const silent = (line: TrainingLine | undefined): boolean =>
  line !== undefined && line.gradientNorm === null && line.success < SOLVED;

/** Whether the last iterations all taught nothing; said once, when it has just become true. */
export function silentNow(lines: readonly TrainingLine[]): boolean {
  if (lines.length < SILENT_ITERATIONS || silent(lines.at(-SILENT_ITERATIONS - 1))) return false;
  return lines.slice(-SILENT_ITERATIONS).every(silent);
}

/**
 * What went wrong in a finished training, in sentences for a person; empty when it learned.
 * @param batch attempts of an iteration.
 */
export function trainingTroubles(lines: readonly TrainingLine[], batch: number): string[] {
  if (lines.length === 0) return [];
  const troubles: string[] = [];
  const silentCount = lines.filter(silent).length;
  if (silentCount * 2 >= lines.length) {
    troubles.push(
      `${silentCount} of ${lines.length} iterations had no informative group: the environment is too easy or too hard for this model`,
    );
  }
  const quarter = Math.max(1, Math.floor(lines.length / 4));
  const mean = (part: readonly TrainingLine[], of: (line: TrainingLine) => number) =>
    part.reduce((sum, line) => sum + of(line), 0) / part.length;
  const [first, last] = [lines.slice(0, quarter), lines.slice(-quarter)];
  const [before, after] = [mean(first, (l) => l.reward), mean(last, (l) => l.reward)];
  // A reward in [0, 1] has at most the variance of a coin with its mean.
  const error = Math.sqrt((before * (1 - before) + after * (1 - after)) / (quarter * batch));
  const successes = mean(first, (l) => l.success);
  if (lines.length > 1 && successes < SOLVED && after - before <= 2 * error) {
    troubles.push(
      `nothing was learned: the mean reward went from ${before.toFixed(2)} to ${after.toFixed(2)} (standard error of the difference at most ${error.toFixed(2)})`,
    );
  }
  const [short, long] = [mean(last, (l) => l.turnTokens), mean(first, (l) => l.turnTokens)];
  if (short < long / 2 && mean(last, (l) => l.success) < SOLVED) {
    troubles.push(`the turns collapsed from ${long.toFixed(1)} to ${short.toFixed(1)} tokens`);
  }
  return troubles;
}
