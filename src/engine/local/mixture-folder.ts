import { readGateFile, writeGateFile } from './gate-file.js';
import type { ModelConfig } from './model/config.js';
import { gateBias, gateWeight } from './model/gates.js';
import { type Parameters, type Tensor, transposed } from './model/parameters.js';

/** Writes a mixture's gates. @param names of the adapters in slots 1, 2, … */
export function writeGates(
  folder: string,
  names: readonly string[],
  gates: Parameters,
  config: ModelConfig,
): void {
  const layers = Array.from({ length: config.layers }, (_, layer) => ({
    weight: transposed(gates[gateWeight(layer)] as Tensor),
    bias: gates[gateBias(layer)] as Tensor,
  }));
  writeGateFile(folder, { adapters: names, layers }, config);
}

/** Reads gates into memory's layout. @throws Error naming the file and what does not fit the model. */
export function readGates(
  folder: string,
  config: ModelConfig,
): { readonly names: readonly string[]; readonly gates: Parameters } {
  const { adapters, layers } = readGateFile(folder, config);
  const gates: Record<string, Tensor> = {};
  layers.forEach(({ weight, bias }, layer) => {
    gates[gateWeight(layer)] = transposed(weight);
    gates[gateBias(layer)] = bias;
  });
  return { names: adapters, gates };
}
