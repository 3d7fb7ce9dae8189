/** Held-out slices of a target. */
export type EvaluationSplit = 'test' | 'shift';
/** `sample`: temperature 1; `greedy`: temperature 0. */
export type Decoding = 'sample' | 'greedy';

/** Settings of the evaluation; the defaults are those of the embedded target. */
export interface EvaluationOptions {
  /** Held-out tasks of every split. */
  readonly tasks: number;
  /** Tasks left out at the beginning of each split: for a measurement on tasks that no earlier one has seen. */
  readonly skip: number;
  readonly splits: readonly EvaluationSplit[];
  readonly decodings: readonly Decoding[];
  /** Whether the average and the sum of the adapters are evaluated too. */
  readonly merges: boolean;
  /** Most new tokens in one assistant turn. */
  readonly maxTurnTokens: number;
  /** Attempts in flight at once. */
  readonly concurrency: number;
}

export const EVALUATION_DEFAULTS: EvaluationOptions = {
  tasks: 512,
  skip: 0,
  splits: ['test', 'shift'],
  decodings: ['sample', 'greedy'],
  merges: true,
  maxTurnTokens: 64,
  concurrency: 128,
};

/** A smoke run: the intervals say how little it means. */
export const EVALUATION_FAST: EvaluationOptions = { ...EVALUATION_DEFAULTS, tasks: 64 };
