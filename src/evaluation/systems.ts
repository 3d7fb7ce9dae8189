import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AdapterHandle, Engine, PolicyRef } from '../engine/contract.js';
import type { Budget } from '../run/budget.js';
import { runPaths } from '../run/paths.js';

/** A policy that is evaluated. */
export interface System {
  readonly name: string;
  /** Rollouts spent to make it, everything before it included. */
  readonly rollouts: number;
  /** Makes the policy in the engine; `adapters` stand in the order of the mixture's slots. */
  open(engine: Engine, adapters: readonly AdapterHandle[]): Promise<PolicyRef>;
}

/**
 * The systems of a run, those first whose comparison decides: mixture, base, the trained baselines; then merges
 * and single adapters. A baseline that was not trained is left out.
 * @param slots capability of each slot of the mixture.
 */
export function listSystems(
  folder: string,
  slots: readonly string[],
  budget: Budget,
  merges: boolean,
): System[] {
  const sum = (of: { readonly [capability: string]: number }) =>
    slots.reduce((total, name) => total + (of[name] ?? 0), 0);
  const adapters = budget.rollout + sum(budget.calibration) + sum(budget.training);
  const merge = (kind: string, weight: number): System => ({
    name: `merge:${kind}`,
    rollouts: adapters,
    open: (engine, parts) =>
      engine.mergeAdapters(
        `merge-${kind}`,
        parts.map((adapter) => ({ adapter, weight })),
      ),
  });
  const baseline = (name: string): System[] =>
    existsSync(join(runPaths.baseline(folder, name), 'adapter_model.safetensors'))
      ? [
          {
            name,
            rollouts: budget.baselines[name] ?? 0,
            open: (engine) => engine.loadAdapter(runPaths.baseline(folder, name), name),
          },
        ]
      : [];
  return [
    {
      name: 'mixture',
      rollouts: budget.total,
      open: (engine, parts) => {
        if (!engine.gates) throw new Error(`the engine of ${engine.info.model} cannot hold token gates`);
        return engine.gates.loadMixture(runPaths.composed(folder), parts);
      },
    },
    { name: 'base', rollouts: 0, open: async () => ({ kind: 'base' }) },
    ...baseline('direct-grpo'),
    ...baseline('mixed-lora'),
    ...(merges ? [merge('sum', 1), merge('average', 1 / slots.length)] : []),
    ...slots.map(
      (name, i): System => ({
        name: `adapter:${name}`,
        rollouts: budget.rollout + (budget.calibration[name] ?? 0) + (budget.training[name] ?? 0),
        open: async (_, parts) => parts[i]!,
      }),
    ),
  ];
}
