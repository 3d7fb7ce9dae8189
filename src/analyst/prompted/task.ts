import type { RenderedPrompt } from '../prompts/render.js';

/** What of an answer is good, and what is wrong with it. */
export interface Checked<T> {
  /** The good part; null when nothing of it can be used. */
  readonly value: T | null;
  /** What is wrong, each one a sentence for whoever answers; empty when all is well. */
  readonly problems: readonly string[];
}

/** One question to whoever answers by prompts. */
export interface Task<T> {
  readonly purpose: 'discover' | 'merge' | 'label';
  /** Name of the question, unique in a diagnosis: `label-r02-0013`. */
  readonly id: string;
  /** Tells apart questions whose words may be the same but whose answers have to be given apart, such as raters'. */
  readonly salt: string;
  /** What is asked, at the first, second … try: another try may put the question otherwise. */
  prompt(attempt: number): RenderedPrompt;
  /** Judges an answer that was read as JSON. */
  check(answer: unknown): Checked<T>;
  /** Both good parts together, the earlier one first where they differ. */
  combine(earlier: T, later: T): T;
  /**
   * Whether a good part is enough once asking again did not mend the rest: a discovery can go without one of its
   * proposals, a labelling cannot go without a label.
   */
  isComplete(value: T): boolean;
}

/** What came of a question. */
export interface Reply<T> {
  /** The good part of what was answered, or null. */
  readonly value: T | null;
  /** What was wrong in the end; may hold something beside a complete value (proposals that were refused). */
  readonly problems: readonly string[];
}

/** Whoever answers: a language model, or a person or a coding agent by files. */
export interface Asker {
  readonly name: string;
  /** Questions that may be open at once. */
  readonly concurrency: number;
  ask<T>(task: Task<T>): Promise<Reply<T>>;
}
