import type { TraceConfig } from './schema.js';

/** Sections of the configuration that belong to a step. */
type Section = 'rollout' | 'diagnose' | 'synthesize' | 'train' | 'compose' | 'baselines' | 'evaluate';

/**
 * `--fast`: a smoke run of all steps for CI, in minutes. Its numbers say that the machinery works, not how good the
 * method is. Every number is a cap: it lowers, never raises, so that a small project stays small.
 */
export const FAST_CAPS: {
  readonly [S in Section]?: Readonly<Partial<Record<keyof TraceConfig[S], number>>>;
} = {
  rollout: { trials: 12 },
  synthesize: { checkSeeds: 40, calibrationSeeds: 8, calibrationGroup: 8, rounds: 2 },
  train: { iterations: 3, groups: 8, heldOut: 16, evaluateEvery: 3 },
  compose: { rollouts: 32, pairRollouts: 8, epochs: 2 },
  evaluate: { tasks: 64 },
};

/** Settings of a step with the caps of `--fast` applied. */
export function capSettings<T extends object>(settings: T, section: Section): T {
  const capped = { ...settings } as Record<string, unknown>;
  for (const [field, cap] of Object.entries<number>(FAST_CAPS[section] ?? {})) {
    const value = capped[field];
    capped[field] = typeof value === 'number' ? Math.min(value, cap) : cap;
  }
  return capped as T;
}
