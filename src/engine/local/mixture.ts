import type { MixturePart } from '../contract.js';
import type { ModelConfig } from './model/config.js';
import { type Adapter, concatenateAdapters, splitAdapters } from './model/lora.js';
import { copied, type Parameters } from './model/parameters.js';
import type { Model } from './train/trainer.js';
import type { TrainingMode } from './train/training-graph.js';

/** What the engine keeps of a mixture. */
export interface HeldMixture {
  /** Of the adapters, in the order of the slots from 1. */
  readonly names: readonly string[];
  /** As they are now: those given when it was made, unless they are the part that is trained. */
  readonly adapters: () => readonly Adapter[];
  readonly gates: () => Parameters;
}

/**
 * Parts a mixture into what the trainer trains and what it holds frozen. The adapters are copied: the mixture keeps
 * them as they are now, whatever becomes of them.
 */
export function mixtureParts(
  config: ModelConfig,
  names: readonly string[],
  given: readonly Adapter[],
  gates: Parameters,
  trained: MixturePart,
): {
  readonly mode: TrainingMode;
  readonly parameters: Parameters;
  readonly frozen: Parameters;
  readonly held: (model: Model) => HeldMixture;
} {
  const adapters = given.map((adapter): Adapter => ({ ...adapter, parameters: copied(adapter.parameters) }));
  const concatenated = concatenateAdapters(config, adapters);
  const ranks = adapters.map((adapter) => adapter.rank);
  if (trained === 'gates')
    return {
      mode: { kind: 'gates', ranks },
      parameters: gates,
      frozen: concatenated,
      held: (model) => ({ names, adapters: () => adapters, gates: () => model.parameters }),
    };
  return {
    mode: { kind: 'experts', ranks },
    parameters: concatenated,
    frozen: gates,
    held: (model) => ({
      names,
      adapters: () => splitAdapters(config, model.parameters, adapters),
      gates: () => gates,
    }),
  };
}
