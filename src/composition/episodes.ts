import { existsSync, readFileSync } from 'node:fs';
import type { Rollout } from '../agent/contract.js';
import { writeFileWhole } from '../run/files.js';
import { type GateExample, toExample } from './examples.js';

/** An attempt whose outcome is kept; its tokens only when it passed, since only those teach. */
export interface GateEpisode {
  readonly scenario: number;
  readonly trial: number;
  readonly reward: number;
  readonly passed: boolean;
  readonly termination: string;
  /** Why the infrastructure broke, when it did: the attempt counts as neither passed nor failed. */
  readonly broken?: string;
  readonly examples: readonly GateExample[];
}

/** What is kept of a rollout. `threshold`: a reward of at least this is a pass. */
export function toEpisode(rollout: Rollout, threshold: number): GateEpisode {
  const passed = rollout.broken === undefined && rollout.score.reward >= threshold;
  return {
    scenario: rollout.request.scenario,
    trial: rollout.request.trial,
    reward: rollout.score.reward,
    passed,
    termination: rollout.termination,
    ...(rollout.broken === undefined ? {} : { broken: rollout.broken }),
    examples: passed ? rollout.sequences.map(toExample) : [],
  };
}

/**
 * Episodes stored by an earlier, interrupted run; null when there are none or they were made from other inputs.
 * @param key digest of everything the episodes depend on.
 */
export function readEpisodes(path: string, key: string): GateEpisode[] | null {
  if (!existsSync(path)) return null;
  const [header, ...lines] = readFileSync(path, 'utf8').trimEnd().split('\n');
  if ((JSON.parse(header!) as { key?: unknown }).key !== key) return null;
  return lines.map((line) => JSON.parse(line) as GateEpisode);
}

/** Writes episodes whole, one a line, under a header line with their key. */
export function writeEpisodes(path: string, key: string, episodes: readonly GateEpisode[]): void {
  writeFileWhole(path, `${[{ key }, ...episodes].map((line) => JSON.stringify(line)).join('\n')}\n`);
}
