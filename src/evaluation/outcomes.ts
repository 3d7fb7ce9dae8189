import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Rollout } from '../agent/contract.js';
import { writeFileWhole } from '../run/files.js';
import type { Cell } from './result.js';

/** What is kept of one attempt. */
export interface Outcome {
  readonly task: string;
  readonly seed: number;
  readonly passed: boolean;
  readonly reward: number;
  readonly termination: string;
  /** Names of the verifier's checks that failed. */
  readonly failed: readonly string[];
  readonly turns: number;
  /** Tokens that the agent wrote. */
  readonly tokens: number;
  /** Why the infrastructure broke, when it did. */
  readonly broken?: string;
}

/** What is kept of a rollout. `threshold`: a reward of at least this is a pass. */
export function toOutcome(rollout: Rollout, threshold: number): Outcome {
  const { scenario, score, termination, turns, sequences, broken } = rollout;
  return {
    task: scenario.id,
    seed: rollout.request.scenario,
    passed: broken === undefined && score.reward >= threshold,
    reward: score.reward,
    termination,
    failed: score.checks.filter((check) => !check.passed).map((check) => check.name),
    turns,
    tokens: sequences.reduce((sum, sequence) => sum + sequence.sampled.filter(Boolean).length, 0),
    ...(broken === undefined ? {} : { broken }),
  };
}

/** `evaluation/<system>.<split>.<decoding>.jsonl`; a colon in a system's name becomes a dash. */
export function outcomesPath(folder: string, system: string, { split, decoding }: Cell): string {
  return join(folder, 'evaluation', `${system.replaceAll(':', '-')}.${split}.${decoding}.jsonl`);
}

/** Outcomes stored by an earlier process; null when there are none or they were made from other inputs. */
export function readOutcomes(path: string, key: string): Outcome[] | null {
  if (!existsSync(path)) return null;
  const [header, ...lines] = readFileSync(path, 'utf8').trimEnd().split('\n');
  if ((JSON.parse(header!) as { key?: unknown }).key !== key) return null;
  return lines.map((line) => JSON.parse(line) as Outcome);
}

/** Writes outcomes whole, one a line, under a header line with their key. */
export function writeOutcomes(path: string, key: string, outcomes: readonly Outcome[]): void {
  writeFileWhole(path, `${[{ key }, ...outcomes].map((line) => JSON.stringify(line)).join('\n')}\n`);
}
