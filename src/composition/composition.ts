import type { FitResult } from './fit.js';
import type { CompositionOptions } from './options.js';

/** The mixture's result in an environment of two capabilities: a hole in an environment shows as a low rate. */
export interface PairResult {
  readonly pair: readonly [string, string];
  readonly attempts: number;
  readonly passed: number;
  readonly rate: number;
}

/** What `composed/composition.json` says. */
export interface Composition {
  /** Digest of everything the composition was made from. */
  readonly key: string;
  /** Capability of each slot from 1; slot 0 is no adapter. */
  readonly slots: readonly string[];
  readonly gateParameters: number;
  /** SHA-256 of the parameters that stayed as they were, before and after. */
  readonly frozen: { readonly base: string; readonly adapters: { readonly [capability: string]: string } };
  readonly gates: string;
  /** Episodes sampled for the gates, by environment. */
  readonly sources: readonly {
    readonly environment: string;
    readonly player: 'adapter' | 'mixture';
    readonly attempts: number;
    readonly passed: number;
  }[];
  readonly fits: readonly FitResult[];
  /** Episodes sampled by this step in all. */
  readonly rollouts: number;
  readonly settings: CompositionOptions;
}
