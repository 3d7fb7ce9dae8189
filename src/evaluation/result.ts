import type { PairedComparison } from '../statistics/paired.js';
import type { Decoding, EvaluationOptions, EvaluationSplit } from './options.js';

/** Where a number was measured. */
export interface Cell {
  readonly split: EvaluationSplit;
  readonly decoding: Decoding;
}

/** One system in one cell. */
export interface SystemResult extends Cell {
  /** `base`, `adapter:<capability>`, `merge:average`, `merge:sum`, `mixed-lora`, `direct-grpo`, `mixture`. */
  readonly name: string;
  readonly passed: number;
  /** Attempts that count: those that the infrastructure broke are left out (`broken`). */
  readonly n: number;
  readonly rate: number;
  /** Wilson, 95 %. */
  readonly interval: readonly [number, number];
  /** Rollouts spent to make the system, everything before it included. */
  readonly rollouts: number;
  readonly broken: number;
}

/** Two systems on the same tasks; `difference` is `of` minus `against`. p is not adjusted for their number. */
export interface Comparison extends Cell, PairedComparison {
  readonly of: string;
  readonly against: string;
}

/** Base and mixture on the tasks that need one capability, or so many of them. */
export interface Gain extends Cell, PairedComparison {
  /** The target's own name of the capability; or null where tasks are grouped by `needed`. */
  readonly capability: string | null;
  /** How many capabilities a task needs; null where tasks are grouped by capability. */
  readonly needed: number | null;
  readonly n: number;
  readonly base: number;
  readonly mixture: number;
}

/** What a system's failed attempts failed of. */
export interface ErrorKinds extends Cell {
  readonly name: string;
  readonly failed: number;
  /** What is lacking, or which checks failed, and endings such as `malformed`; an attempt can count in several. */
  readonly kinds: readonly { readonly kind: string; readonly attempts: number }[];
}

/** `evaluation.json`. */
export interface Evaluation {
  readonly target: string;
  readonly model: string;
  readonly seed: number;
  readonly settings: EvaluationOptions;
  readonly systems: readonly SystemResult[];
  readonly comparisons: readonly Comparison[];
  readonly gains: readonly Gain[];
  readonly errors: readonly ErrorKinds[];
  /** What the baselines were trained with, as their own summaries say. */
  readonly baselines: { readonly [name: string]: unknown };
}
