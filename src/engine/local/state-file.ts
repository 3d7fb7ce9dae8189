import { readSafetensors, type Tensors, writeSafetensors } from './folder/safetensors.js';
import type { Parameters, Tensor } from './model/parameters.js';
import type { OptimizerState } from './train/trainer.js';

const FORMAT = 'trace-training-state';
const PARTS = ['parameters', 'first', 'second'] as const;

/** Writes parameters, AdamW's moments and the step count as one safetensors file. */
export function writeStateFile(file: string, state: OptimizerState): void {
  const tensors: Tensors = new Map();
  for (const part of PARTS) {
    for (const [name, tensor] of Object.entries(state[part])) tensors.set(`${part}/${name}`, tensor);
  }
  writeSafetensors(file, tensors, { format: FORMAT, step: String(state.step) });
}

/** Reads what `writeStateFile` wrote. @throws Error naming the file when it is something else. */
export function readStateFile(file: string): OptimizerState {
  const { tensors, metadata } = readSafetensors(file);
  const step = Number(metadata.step);
  if (metadata.format !== FORMAT || !Number.isSafeInteger(step) || step < 0)
    throw new Error(`${file} is no training state`);
  const parts: Record<(typeof PARTS)[number], Record<string, Tensor>> = {
    parameters: {},
    first: {},
    second: {},
  };
  for (const [key, tensor] of tensors) {
    const cut = key.indexOf('/');
    const part = parts[key.slice(0, cut) as (typeof PARTS)[number]];
    if (!part) throw new Error(`${file}: unexpected tensor "${key}"`);
    part[key.slice(cut + 1)] = tensor;
  }
  return { ...(parts as Record<(typeof PARTS)[number], Parameters>), step };
}
