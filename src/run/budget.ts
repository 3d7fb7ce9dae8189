import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from './errors.js';
import { runPaths } from './paths.js';

/** Episodes sampled so far in a run, by what they were for. Held-out tests of `evaluate` are no part of it. */
export interface Budget {
  /** Base model on the target's training split: the material of the diagnosis. */
  readonly rollout: number;
  /** Calibration of each environment on the base model, failed ones included. */
  readonly calibration: { readonly [environment: string]: number };
  /** GRPO of each adapter, its held-out evaluations included. */
  readonly training: { readonly [capability: string]: number };
  /** Episodes that the gates were fitted to. */
  readonly composition: number;
  /** All of the above: what the mixture cost. */
  readonly total: number;
  /** GRPO of each baseline; not part of `total`. */
  readonly baselines: { readonly [name: string]: number };
  /** Adapters and baselines that do not say what they cost (made elsewhere): counted as 0. */
  readonly unknown: readonly string[];
}

/**
 * Adds up the rollouts that the steps' own summaries report: lines of `trajectories/base.jsonl`, and `rollouts`
 * in `environments/<name>/calibration.json` (pairs too), `adapters/<capability>/summary.json`,
 * `composed/composition.json` and `baselines/<name>/summary.json`.
 * @param folder the run's folder.
 * @throws InputError naming a summary that has no count.
 */
export function readBudget(folder: string): Budget {
  const unknown: string[] = [];
  const environments = [
    ...folders(join(folder, 'environments')).filter((name) => name !== 'pairs'),
    ...folders(join(folder, 'environments', 'pairs')).map((name) => join('pairs', name)),
  ];
  const count = (root: string, names: readonly string[], file: string, needed: boolean) =>
    Object.fromEntries(
      names.map((name) => {
        const path = join(folder, root, name, file);
        if (existsSync(path)) return [name, readCount(path)];
        if (needed) unknown.push(`${root}/${name}`);
        return [name, 0];
      }),
    );
  const rollout = countLines(runPaths.baseTrajectories(folder));
  const calibration = count('environments', environments, 'calibration.json', false);
  const training = count('adapters', folders(join(folder, 'adapters')), 'summary.json', true);
  const composed = join(runPaths.composed(folder), 'composition.json');
  const composition = existsSync(composed) ? readCount(composed) : 0;
  const baselines = count('baselines', folders(join(folder, 'baselines')), 'summary.json', true);
  const total = rollout + sum(calibration) + sum(training) + composition;
  return { rollout, calibration, training, composition, total, baselines, unknown };
}

const sum = (counts: { readonly [name: string]: number }) =>
  Object.values(counts).reduce((total, value) => total + value, 0);

function folders(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

function countLines(path: string): number {
  if (!existsSync(path)) return 0;
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '').length;
}

function readCount(path: string): number {
  const { rollouts } = JSON.parse(readFileSync(path, 'utf8')) as { rollouts?: unknown };
  if (typeof rollouts !== 'number' || !Number.isInteger(rollouts) || rollouts < 0)
    throw new InputError(
      `${path}: \`rollouts\` is ${JSON.stringify(rollouts) ?? 'missing'}, not a count`,
      'Do the step again that writes this file, or put the number of its rollouts there.',
    );
  return rollouts;
}
