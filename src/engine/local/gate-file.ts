import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeJsonWhole } from '../../run/files.js';
import { readSafetensors, type Tensor, type Tensors, writeSafetensors } from './folder/safetensors.js';

/** Gate of one layer: logits = weight · h + bias over the slots; slot 0 is no adapter. */
export interface LayerGate {
  /** [slots, hidden]. */
  readonly weight: Tensor;
  /** [slots]. */
  readonly bias: Tensor;
}

/** Token-level top-1 gates of a mixture, as `gate_config.json` and `gate.safetensors` hold them. */
export interface GateFile {
  /** Names of the adapters in slots 1, 2, …. */
  readonly adapters: readonly string[];
  readonly layers: readonly LayerGate[];
}

/** What the gates must fit. */
export interface GateShape {
  readonly layers: number;
  readonly hiddenSize: number;
}

const FORMAT = 'trace-gate';
const VERSION = 1;

/** Writes `gate_config.json` and `gate.safetensors` into the folder. */
export function writeGateFile(folder: string, gate: GateFile, shape: GateShape): void {
  const tensors: Tensors = new Map();
  gate.layers.forEach((layer, index) => {
    tensors.set(`layers.${index}.gate.weight`, layer.weight);
    tensors.set(`layers.${index}.gate.bias`, layer.bias);
  });
  writeSafetensors(join(folder, 'gate.safetensors'), tensors);
  writeJsonWhole(join(folder, 'gate_config.json'), {
    format: FORMAT,
    version: VERSION,
    routing: 'top-1',
    level: 'token',
    input: 'input_layernorm',
    layers: shape.layers,
    hidden_size: shape.hiddenSize,
    slots: ['none', ...gate.adapters],
  });
}

/**
 * Reads what `writeGateFile` wrote.
 * @throws Error naming file and field or tensor when it is malformed or does not fit the model.
 */
export function readGateFile(folder: string, shape: GateShape): GateFile {
  const adapters = readGateConfig(join(folder, 'gate_config.json'), shape);
  const file = join(folder, 'gate.safetensors');
  if (!existsSync(file)) throw new Error(`${file} is missing`);
  const { tensors } = readSafetensors(file);
  const slots = adapters.length + 1;
  const take = (name: string, wanted: readonly number[]): Tensor => {
    const tensor = tensors.get(name);
    if (tensor === undefined) throw new Error(`${file} lacks "${name}"`);
    if (tensor.shape.join() !== wanted.join()) {
      throw new Error(`${file}: "${name}" is [${tensor.shape.join(', ')}], expected [${wanted.join(', ')}]`);
    }
    return tensor;
  };
  const layers = Array.from({ length: shape.layers }, (_, layer) => ({
    weight: take(`layers.${layer}.gate.weight`, [slots, shape.hiddenSize]),
    bias: take(`layers.${layer}.gate.bias`, [slots]),
  }));
  if (tensors.size !== 2 * shape.layers) {
    throw new Error(`${file} holds ${tensors.size} tensors, expected ${2 * shape.layers}`);
  }
  return { adapters, layers };
}

function readGateConfig(file: string, shape: GateShape): string[] {
  if (!existsSync(file)) throw new Error(`${file} is missing: not a folder of gates`);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file} is not JSON: ${(error as Error).message}`);
  }
  const fields = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const expect = (key: string, wanted: unknown) => {
    if (fields[key] !== wanted) {
      throw new Error(
        `${file}: "${key}" is ${JSON.stringify(fields[key] ?? null)}, expected ${JSON.stringify(wanted)}`,
      );
    }
  };
  expect('format', FORMAT);
  expect('version', VERSION);
  expect('routing', 'top-1');
  expect('level', 'token');
  expect('input', 'input_layernorm');
  expect('layers', shape.layers);
  expect('hidden_size', shape.hiddenSize);
  const { slots } = fields;
  if (!Array.isArray(slots) || slots.length < 2 || !slots.every((slot) => typeof slot === 'string')) {
    throw new Error(`${file}: "slots" must list "none" and the adapters' names`);
  }
  if (slots[0] !== 'none') throw new Error(`${file}: slot 0 must be "none"`);
  return slots.slice(1) as string[];
}
