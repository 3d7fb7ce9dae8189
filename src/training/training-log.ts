import { readFileSync } from 'node:fs';
import { writeFileWhole } from '../run/files.js';

/** What an evaluation on held-out tasks found. */
export interface HeldOutResult {
  readonly success: number;
  readonly reward: number;
  /** Attempts that count (broken ones do not). */
  readonly n: number;
}

/** One iteration of GRPO; a line of `training.jsonl`. No times in it: equal trainings have equal files. */
export interface TrainingLine {
  /** From 1. */
  readonly iteration: number;
  /** Attempts sampled so far, held-out ones among them. */
  readonly rollouts: number;
  /** Mean reward and success rate of this iteration's attempts, before its step; broken ones apart. */
  readonly reward: number;
  readonly success: number;
  readonly broken: number;
  readonly groups: number;
  /** Groups whose rewards were all equal: they taught nothing. */
  readonly constantGroups: number;
  /** L2 norm before clipping; null when no group taught anything and no step was made. */
  readonly gradientNorm: number | null;
  /** Share of trained tokens whose ratio was clipped. */
  readonly clipFraction: number | null;
  readonly learningRate: number;
  /** Sampled tokens a turn. */
  readonly turnTokens: number;
  readonly turns: number;
  readonly heldOut?: HeldOutResult;
}

/** Writes the log whole. */
export function writeTrainingLog(path: string, lines: readonly TrainingLine[]): void {
  writeFileWhole(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

/** The first `count` lines of a log. @throws Error naming file and line when it is shorter or not readable. */
export function readTrainingLog(path: string, count: number): TrainingLine[] {
  const texts = readFileSync(path, 'utf8').split('\n').slice(0, count);
  return texts.map((text, i) => {
    try {
      return JSON.parse(text) as TrainingLine;
    } catch {
      throw new Error(`${path}: line ${i + 1} is missing or not JSON: delete the folder to train again`);
    }
  });
}
