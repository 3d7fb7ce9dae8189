import { isObject, read } from '../trajectory/parse.js';

/** An entry of the reference implementation's `selected_capabilities.json`. */
export interface SelectedCapability {
  readonly skill: string;
  readonly description: string;
  readonly mean_cov: number;
  readonly std_cov: number;
  readonly mean_delta: number;
  readonly std_delta: number;
  readonly n_runs_passed: number;
  readonly n_runs_total: number;
  readonly passes_consistency: boolean;
  /** Ids of up to eight failed trajectories that lack it. */
  readonly example_failed_cases: readonly string[];
  readonly status: 'PENDING' | 'DONE';
}

/** Where a lacking label can be seen. */
export interface LackingEvidence {
  readonly trajectory: string;
  readonly task: string;
  /** Index of the message in the trajectory. */
  readonly message: number;
  readonly quote: string;
  readonly note: string;
}

/** A candidate with its numbers; holds the reference's fields too. */
export interface DiagnosedCapability extends SelectedCapability {
  readonly name: string;
  readonly definition: string;
  readonly retained: boolean;
  /** Mean over the raters, in [0, 1]. */
  readonly coverage: number;
  readonly coverageInterval: readonly [number, number];
  /** Mean over the raters, in [−1, 1]. */
  readonly gap: number;
  readonly gapInterval: readonly [number, number];
  readonly ratersPassed: number;
  readonly raters: number;
  /** Majority labels: how many failed and passed trajectories lack it or show it. */
  readonly lackingFailed: number;
  readonly presentFailed: number;
  readonly lackingPassed: number;
  readonly presentPassed: number;
  readonly p: number;
  readonly q: number;
  readonly kappa: number | null;
  readonly evidence: readonly LackingEvidence[];
}

/** A failed trajectory that lacks no retained capability. */
export interface UnexplainedFailure {
  readonly id: string;
  readonly task: string;
  readonly termination: string | null;
  /** Candidates that it lacks, but that were not retained. */
  readonly lacking: readonly string[];
}

/** `capabilities.json`: the result of the diagnosis. */
export interface CapabilitiesFile {
  readonly trajectories: { readonly passed: number; readonly failed: number; readonly excluded: number };
  readonly capabilities: readonly DiagnosedCapability[];
  readonly unexplained: readonly UnexplainedFailure[];
  readonly settings: {
    readonly analyst: string;
    readonly seed: number;
    readonly raters: number;
    readonly ratersNeeded: number;
    readonly coverage: number;
    readonly gap: number;
  };
  /** What the data cannot tell, in words. */
  readonly warnings: readonly string[];
}

/** The retained capabilities in the reference implementation's format. */
export function selectedCapabilities(file: CapabilitiesFile): SelectedCapability[] {
  return file.capabilities
    .filter((capability) => capability.retained)
    .map((capability) => ({
      skill: capability.skill,
      description: capability.description,
      mean_cov: capability.mean_cov,
      std_cov: capability.std_cov,
      mean_delta: capability.mean_delta,
      std_delta: capability.std_delta,
      n_runs_passed: capability.n_runs_passed,
      n_runs_total: capability.n_runs_total,
      passes_consistency: capability.passes_consistency,
      example_failed_cases: capability.example_failed_cases,
      status: capability.status,
    }));
}

/**
 * Reads selected capabilities: the reference's list, or an object that holds such a list under `capabilities`
 * (this project's own file).
 * @throws RecordError naming entry and field.
 */
export function parseSelectedCapabilities(value: unknown): SelectedCapability[] {
  const list = isObject(value) ? read.list(value.capabilities, 'capabilities') : read.list(value, '(file)');
  return list.map((item, i) => {
    const entry = read.object(item, `[${i}]`);
    const number = (key: string) => read.number(entry[key], `[${i}].${key}`);
    return {
      skill: read.text(entry.skill, `[${i}].skill`),
      description: read.text(entry.description, `[${i}].description`),
      mean_cov: number('mean_cov'),
      std_cov: number('std_cov'),
      mean_delta: number('mean_delta'),
      std_delta: number('std_delta'),
      n_runs_passed: read.count(entry.n_runs_passed, `[${i}].n_runs_passed`),
      n_runs_total: read.count(entry.n_runs_total, `[${i}].n_runs_total`),
      passes_consistency: entry.passes_consistency === true,
      example_failed_cases: read
        .list(entry.example_failed_cases ?? [], `[${i}].example_failed_cases`)
        .map((id) => read.id(id, `[${i}].example_failed_cases`)),
      status: entry.status === 'DONE' ? 'DONE' : 'PENDING',
    };
  });
}
