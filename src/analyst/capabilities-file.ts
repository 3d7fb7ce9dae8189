import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { InputError } from '../run/errors.js';

/** Ends of an interval of 95 %. */
export type Interval = readonly [low: number, high: number];

/**
 * How an interval came about. `wilson`, `newcombe`: every attempt counts for itself. `by-task`: trials repeat, so
 * that it is a bootstrap over whole tasks, and at no end narrower than the former (docs/diagnosis.md).
 */
export type IntervalMethod = 'wilson' | 'newcombe' | 'by-task';

/** An entry of the reference implementation's `selected_capabilities.json`. */
export interface SelectedCapability {
  readonly skill: string;
  readonly description: string;
  /** Cov, mean and population standard deviation over the raters. */
  readonly mean_cov: number;
  readonly std_cov: number;
  /** Δ, mean and population standard deviation over the raters. */
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

/**
 * A candidate with its numbers. What decides is the raters' own (`mean_cov`, `mean_delta`, `ratersPassed`); what
 * carries an interval is of the majority labels, point and interval alike.
 */
export interface DiagnosedCapability extends SelectedCapability {
  readonly name: string;
  readonly definition: string;
  readonly retained: boolean;
  /** `lackingFailed` of all failed attempts. */
  readonly coverage: number;
  readonly coverageInterval: Interval;
  readonly coverageMethod: IntervalMethod;
  /** Error rate of the failed attempts that need it less that of the passed ones, in [−1, 1]. */
  readonly gap: number;
  readonly gapInterval: Interval;
  readonly gapMethod: IntervalMethod;
  readonly ratersPassed: number;
  readonly raters: number;
  /** Majority labels: how many failed and passed attempts lack it or show it. */
  readonly lackingFailed: number;
  readonly presentFailed: number;
  readonly lackingPassed: number;
  readonly presentPassed: number;
  /** Tasks with a failed attempt that lacks it. */
  readonly lackingTasks: number;
  /** Fisher's exact test of lacking against failing, two-sided, and the same after Benjamini and Hochberg. */
  readonly p: number;
  readonly q: number;
  /** Fleiss' kappa of the raters over the attempts that two or more saw; null without one. */
  readonly kappa: number | null;
  /** κ is below 0.4: the definition leaves too much open. */
  readonly kappaLow: boolean;
  /** Share of pairs of raters with equal labels; null like κ. */
  readonly agreement: number | null;
  /** Failures that lack it and no other retained capability: what only this one explains. */
  readonly contribution: number;
  /** Share of resamples of the tasks in which it is retained. */
  readonly stability: number;
  /** (Rater, attempt) pairs that got no label. */
  readonly missingLabels: number;
  /** What its numbers cannot tell, in words. */
  readonly cautions: readonly string[];
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

/** Two candidates: how many failures lack both, and how many one of them alone. */
export interface CapabilityOverlap {
  readonly first: string;
  readonly second: string;
  readonly both: number;
  readonly onlyFirst: number;
  readonly onlySecond: number;
  /** both / (both + onlyFirst + onlySecond); 0 where no failure lacks either. */
  readonly jaccard: number;
}

/** A row of the matrix of capabilities and attempts. */
export interface LabelledAttempt {
  readonly id: string;
  readonly task: string;
  readonly trial: number;
  readonly outcome: 'passed' | 'failed';
  /**
   * Majority labels, one letter a capability in the order of `capabilities`: `L` lacking, `P` present, `N` not
   * needed, `-` labelled by nobody.
   */
  readonly labels: string;
}

/** pass^k or pass@k over the tasks with at least k attempts. */
export interface PassRate {
  readonly k: number;
  /** Tasks with at least k attempts. */
  readonly tasks: number;
  readonly rate: number;
  readonly interval: Interval;
}

/** `diagnosis/capabilities.json`: the result of the diagnosis. */
export interface CapabilitiesFile {
  readonly trajectories: { readonly passed: number; readonly failed: number; readonly excluded: number };
  readonly tasks: {
    readonly total: number;
    /** Tasks with more than one attempt. */
    readonly repeated: number;
    /** Tasks that were both passed and failed: where the contrast is within the task. */
    readonly mixed: number;
  };
  readonly capabilities: readonly DiagnosedCapability[];
  /** Failures that lack at least one retained capability. */
  readonly explained: {
    readonly failures: number;
    readonly of: number;
    /** failures / of; 0 without failures. */
    readonly share: number;
    readonly interval: Interval;
    readonly method: IntervalMethod;
  };
  readonly unexplained: readonly UnexplainedFailure[];
  /** All pairs of candidates, in their order. */
  readonly overlaps: readonly CapabilityOverlap[];
  /** Every attempt with its majority labels, in the order of the input. */
  readonly attempts: readonly LabelledAttempt[];
  /** Repeated trials; null where no task has two attempts. */
  readonly passRates: {
    /** All of k attempts pass. */
    readonly passHat: readonly PassRate[];
    /** At least one of k attempts passes. */
    readonly passAt: readonly PassRate[];
  } | null;
  /** Resamples of tasks behind `stability` and the intervals by task. */
  readonly resamples: number;
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

/** κ below this is flagged: agreement is no more than fair (Landis and Koch 1977). */
export const LOW_KAPPA = 0.4;

const share = z.number().min(0).max(1);
const difference = z.number().min(-1).max(1);
const count = z.int().min(0);
const interval = z.tuple([difference, difference]);
const method = z.enum(['wilson', 'newcombe', 'by-task']);
const passRate = z.object({ k: z.int().min(1), tasks: count, rate: share, interval });

const selected = z.object({
  skill: z.string().min(1),
  description: z.string(),
  mean_cov: z.number(),
  std_cov: z.number(),
  mean_delta: z.number(),
  std_delta: z.number(),
  n_runs_passed: count,
  n_runs_total: count,
  passes_consistency: z.boolean(),
  example_failed_cases: z.array(z.union([z.string().min(1), z.number()]).transform(String)).default(() => []),
  status: z.enum(['PENDING', 'DONE']).default('PENDING'),
});

const capability = selected.extend({
  name: z.string().min(1),
  definition: z.string(),
  retained: z.boolean(),
  coverage: share,
  coverageInterval: interval,
  coverageMethod: method,
  gap: difference,
  gapInterval: interval,
  gapMethod: method,
  ratersPassed: count,
  raters: count,
  lackingFailed: count,
  presentFailed: count,
  lackingPassed: count,
  presentPassed: count,
  lackingTasks: count,
  p: share,
  q: share,
  kappa: difference.nullable(),
  kappaLow: z.boolean(),
  agreement: share.nullable(),
  contribution: count,
  stability: share,
  missingLabels: count,
  cautions: z.array(z.string()),
  evidence: z.array(
    z.object({
      trajectory: z.string(),
      task: z.string(),
      message: count,
      quote: z.string(),
      note: z.string(),
    }),
  ),
});

const fileSchema: z.ZodType<CapabilitiesFile> = z.object({
  trajectories: z.object({ passed: count, failed: count, excluded: count }),
  tasks: z.object({ total: count, repeated: count, mixed: count }),
  capabilities: z.array(capability),
  explained: z.object({ failures: count, of: count, share, interval, method }),
  unexplained: z.array(
    z.object({
      id: z.string(),
      task: z.string(),
      termination: z.string().nullable(),
      lacking: z.array(z.string()),
    }),
  ),
  overlaps: z.array(
    z.object({
      first: z.string(),
      second: z.string(),
      both: count,
      onlyFirst: count,
      onlySecond: count,
      jaccard: share,
    }),
  ),
  attempts: z.array(
    z.object({
      id: z.string(),
      task: z.string(),
      trial: count,
      outcome: z.enum(['passed', 'failed']),
      labels: z.string().regex(/^[LPN-]*$/),
    }),
  ),
  passRates: z.object({ passHat: z.array(passRate), passAt: z.array(passRate) }).nullable(),
  resamples: count,
  settings: z.object({
    analyst: z.string(),
    seed: z.number(),
    raters: count,
    ratersNeeded: count,
    coverage: z.number(),
    gap: z.number(),
  }),
  warnings: z.array(z.string()),
});

const selectedList = z.array(selected);
const selectedWithin = z.object({ capabilities: selectedList });

/** A value that has not the form of its file: which field, and what is wrong with it. */
function checked<T>(schema: z.ZodType<T>, value: unknown, file: string, mend: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = (issue?.path ?? []).map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`));
  const where = field.join('').replace(/^\./, '');
  throw new InputError(`${file}: ${where === '' ? '' : `field ${where}: `}${issue?.message ?? ''}`, mend);
}

/**
 * Checks a parsed `capabilities.json`.
 * @param file how an error names it.
 * @throws InputError naming the first wrong field; a file of an earlier version of TRACE lacks fields.
 */
export function parseCapabilitiesFile(value: unknown, file = 'capabilities.json'): CapabilitiesFile {
  return checked(fileSchema, value, file, 'Run the step `diagnose` again.');
}

/** Reads a `capabilities.json`. @throws InputError when it is no JSON or lacks a field; the file system's own error. */
export function readCapabilitiesFile(path: string): CapabilitiesFile {
  return parseCapabilitiesFile(readJson(path), path);
}

/**
 * Checks selected capabilities: the reference implementation's list, or an object that holds such entries under
 * `capabilities` (this project's own file).
 * @throws InputError naming entry and field.
 */
export function parseSelectedCapabilities(
  value: unknown,
  file = 'selected_capabilities.json',
): SelectedCapability[] {
  const mend =
    'It has to be a list of entries with skill, description, mean_cov and so on (docs/diagnosis.md).';
  return Array.isArray(value)
    ? checked(selectedList, value, file, mend)
    : checked(selectedWithin, value, file, mend).capabilities;
}

/** The retained capabilities in the reference implementation's format. */
export function selectedCapabilities(file: Pick<CapabilitiesFile, 'capabilities'>): SelectedCapability[] {
  return file.capabilities.filter((entry) => entry.retained).map((entry) => selected.parse(entry));
}

/** @throws InputError when the file is no JSON; the file system's own error. */
export function readJson(path: string): unknown {
  const text = readFileSync(path, 'utf8');
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new InputError(`${path} is no JSON: ${(error as Error).message}`, 'Is the file complete?', {
      cause: error,
    });
  }
}
