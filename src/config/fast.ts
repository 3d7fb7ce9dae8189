import type { TraceConfig } from './schema.js';

/** A number of the configuration that `--fast` lowers: never raised, so that a smaller project stays small. */
type Caps = { readonly [Section in keyof TraceConfig]?: { readonly [field: string]: number | boolean } };

/**
 * `--fast`: a smoke run of all steps for CI, in minutes. Its numbers say that the machinery works, not how good the
 * method is; the report says so too.
 */
const CAPS: Caps = {
  rollout: { trials: 12 },
  synthesize: { checkSeeds: 40, calibrationSeeds: 16, calibrationGroup: 8, rounds: 2 },
  train: { iterations: 3, heldOut: 32, evaluateEvery: 2 },
  compose: { rollouts: 32, pairRollouts: 8, epochs: 2 },
  evaluate: { tasks: 64 },
};

/** The configuration of `--fast`: the project's own, with every costly number capped. */
export function fastConfig(config: TraceConfig): TraceConfig {
  const capped = structuredClone(config) as unknown as Record<string, Record<string, unknown>>;
  for (const [section, fields] of Object.entries(CAPS)) {
    for (const [field, cap] of Object.entries(fields)) {
      const value = capped[section]![field];
      capped[section]![field] =
        typeof value === 'number' && typeof cap === 'number' ? Math.min(value, cap) : cap;
    }
  }
  return capped as unknown as TraceConfig;
}
