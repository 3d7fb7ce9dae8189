import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Rollout } from '../agent/contract.js';
import { toTrajectory } from '../agent/rollout.js';
import { detect } from '../analyst/offline/detect.js';
import { MODERATE } from '../analyst/offline/strictness.js';
import type { Target } from '../environment/contract.js';
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
  /** What a failed attempt lacks, as the offline detectors see it; only where the target has a reference. */
  readonly lacking?: readonly string[];
  readonly turns: number;
  /** Tokens that the agent wrote. */
  readonly tokens: number;
  /** Why the infrastructure broke, when it did. */
  readonly broken?: string;
}

/** What is kept of a rollout on a target. */
export function toOutcome(rollout: Rollout, target: Target): Outcome {
  const { scenario, score, termination, turns, sequences, broken } = rollout;
  const passed = broken === undefined && score.reward >= target.successThreshold;
  const judged = !passed && broken === undefined && target.reference !== undefined;
  return {
    task: scenario.id,
    seed: rollout.request.scenario,
    passed,
    reward: score.reward,
    termination,
    failed: score.checks.filter((check) => !check.passed).map((check) => check.name),
    ...(judged ? { lacking: lackingOf(rollout, target) } : {}),
    turns,
    tokens: sequences.reduce((sum, sequence) => sum + sequence.sampled.filter(Boolean).length, 0),
    ...(broken === undefined ? {} : { broken }),
  };
}

function lackingOf(rollout: Rollout, target: Target): string[] {
  const { findings } = detect(toTrajectory(rollout, target), MODERATE);
  return [...new Set(findings.map(({ capability }) => capability))].sort();
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
