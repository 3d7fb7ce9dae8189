import type { SampleResult } from '../../contract.js';

/** A request as a worker takes it. */
export interface Job {
  readonly id: number;
  /** Key of a policy the worker was given. */
  readonly policy: string;
  readonly tokens: Int32Array;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly seed: number;
  readonly stop: readonly number[];
  readonly sequence: string | null;
  readonly routes: boolean;
}

export interface Completion {
  readonly id: number;
  readonly result: SampleResult;
}
