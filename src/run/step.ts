import type { EventSink } from './events.js';

/** What every step is handed: where to work, whom to tell, when to stop. */
export interface StepContext {
  /** The run's folder, absolute; steps meet only in its files (see `paths.ts`). */
  readonly folder: string;
  readonly emit: EventSink;
  /** Aborted on Ctrl-C; a step stops at the next safe point and throws `signal.reason`. */
  readonly signal: AbortSignal;
  readonly seed: number;
}
