import type { ModelConfig } from '../model/config.js';
import type { AdamSettings } from './adamw.js';
import type { Batch } from './batches.js';
import type { Segment } from './flat.js';
import type { LossName } from './losses.js';
import type { TrainingMode } from './training-graph.js';

/** What the trainer and its threads say to each other. Large arrays are shared memory, sent once. */
export interface ThreadData {
  readonly config: ModelConfig;
  readonly base: SharedTensors;
  /** Index of this thread among the trainer's. */
  readonly index: number;
}

/** A flat array of tensors in shared memory. */
export interface SharedTensors {
  readonly segments: readonly Segment[];
  readonly data: Float32Array;
}

/** Something that can be run and, when it has gradients, trained. */
export interface Registration {
  readonly id: number;
  readonly mode: TrainingMode;
  readonly parameters: SharedTensors;
  /** Frozen tensors that the graph takes as inputs: a mixture's adapters. */
  readonly frozen: SharedTensors | null;
  readonly training: {
    /** One gradient sum a thread. */
    readonly gradients: readonly Float32Array[];
    readonly first: Float32Array;
    readonly second: Float32Array;
  } | null;
}

export interface RunRequest {
  readonly id: number;
  /** Changes whenever the parameters do. */
  readonly version: number;
  /** null: forward only. */
  readonly loss: LossName | null;
  readonly clip: readonly [low: number, high: number];
  readonly batches: readonly Batch[];
  /** The thread's gradient sum starts anew. */
  readonly reset: boolean;
}

export interface RunReply {
  readonly losses: readonly number[];
  /** Of the selected positions of each batch. */
  readonly logprobs: readonly Float32Array[];
}

export interface SumRequest {
  readonly id: number;
  /** Threads whose gradients count, ascending. */
  readonly threads: readonly number[];
  readonly begin: number;
  readonly end: number;
}

/** Sums of squares of consecutive chunks of the summed gradient. */
export type SumReply = readonly number[];

export interface UpdateRequest {
  readonly id: number;
  readonly begin: number;
  readonly end: number;
  readonly settings: AdamSettings;
  readonly step: number;
  readonly factor: number;
}
