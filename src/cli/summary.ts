import { existsSync, readFileSync } from 'node:fs';
import { runPaths } from '../run/paths.js';

/** A system's result on held-out tasks, as in `evaluation.json`. */
export interface SystemResult {
  readonly name: string;
  readonly split: string;
  readonly decoding: string;
  readonly passed: number;
  readonly n: number;
  readonly rate: number;
  readonly interval: readonly [number, number];
  readonly rollouts: number;
}

export interface ComparisonResult {
  readonly of: string;
  readonly against: string;
  readonly split: string;
  readonly decoding: string;
  readonly difference: number;
  readonly interval: readonly [number, number];
  readonly p: number;
}

/** What a run has found, read from its files as far as they go. */
export interface RunSummary {
  /** Retained capabilities; null before the diagnosis. */
  readonly missing: readonly MissingCapability[] | null;
  /** Names of the trained adapters. */
  readonly trained: readonly string[];
  readonly systems: readonly SystemResult[];
  readonly comparisons: readonly ComparisonResult[];
  readonly report: string | null;
}

export interface MissingCapability {
  readonly name: string;
  readonly definition: string;
  /** Means over the raters. */
  readonly coverage: number;
  readonly gap: number;
  readonly ratersPassed: number;
  readonly raters: number;
}

function readJson<T>(path: string): T | null {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as T) : null;
}

/** Reads what a run has found so far. @throws SyntaxError when a file of it is no JSON. */
export function readSummary(folder: string): RunSummary {
  const evaluation = readJson<{ systems: SystemResult[]; comparisons: ComparisonResult[] }>(
    runPaths.evaluation(folder),
  );
  return {
    missing: null,
    trained: [],
    systems: evaluation?.systems ?? [],
    comparisons: evaluation?.comparisons ?? [],
    report: existsSync(runPaths.report(folder)) ? runPaths.report(folder) : null,
  };
}
