import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CapabilitiesFile, DiagnosedCapability } from '../analyst/capabilities-file.js';
import type { Comparison, Evaluation, SystemResult } from '../evaluation/result.js';
import { runPaths } from '../run/paths.js';

/** What a run has found, read from its files as far as they go. */
export interface RunSummary {
  /** Retained capabilities; null before the diagnosis. */
  readonly missing: readonly MissingCapability[] | null;
  /** Names of the trained adapters. */
  readonly trained: readonly string[];
  readonly systems: readonly SystemResult[];
  readonly comparisons: readonly Comparison[];
  readonly report: string | null;
}

export type MissingCapability = Pick<
  DiagnosedCapability,
  'name' | 'definition' | 'coverage' | 'gap' | 'ratersPassed' | 'raters'
>;

function readJson<T>(path: string): T | null {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as T) : null;
}

/** Reads what a run has found so far. @throws SyntaxError when a file of it is no JSON. */
export function readSummary(folder: string): RunSummary {
  const evaluation = readJson<Pick<Evaluation, 'systems' | 'comparisons'>>(runPaths.evaluation(folder));
  const diagnosis = readJson<CapabilitiesFile>(runPaths.capabilities(folder));
  const adapters = join(folder, 'adapters');
  return {
    missing:
      diagnosis?.capabilities
        .filter((capability) => capability.retained)
        .map(({ name, definition, coverage, gap, ratersPassed, raters }) => ({
          name,
          definition,
          coverage,
          gap,
          ratersPassed,
          raters,
        })) ?? null,
    trained: existsSync(adapters)
      ? readdirSync(adapters)
          .filter((name) => existsSync(join(adapters, name, 'adapter_config.json')))
          .sort()
      : [],
    systems: evaluation?.systems ?? [],
    comparisons: evaluation?.comparisons ?? [],
    report: existsSync(runPaths.report(folder)) ? runPaths.report(folder) : null,
  };
}
