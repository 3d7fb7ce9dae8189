import { createHash } from 'node:crypto';
import { Random } from '../../../run/random.js';
import { type ModelConfig, type Projection, parameterShapes, projectionShape } from './config.js';

/**
 * Parameters in memory. Names are Hugging Face's (`model.layers.0.self_attn.q_proj.weight`). Every linear map is
 * held as [in, out], the layout in which y = x·W is a plain matrix product; files hold [out, in], so readers and
 * writers transpose (`transposeLinears`). Embeddings are [vocabulary, hidden] in both.
 */
export interface Tensor {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}
export type Parameters = Readonly<Record<string, Tensor>>;

export const EMBEDDING = 'model.embed_tokens.weight';
export const FINAL_NORM = 'model.norm.weight';
export const HEAD = 'lm_head.weight';

export const layerName = (layer: number): string => `model.layers.${layer}`;

/** Name of a projection's module, such as `model.layers.0.self_attn.q_proj`; the weight's name adds `.weight`. */
export function projectionName(layer: number, projection: Projection): string {
  return `${layerName(layer)}.${projection}`;
}

/** [in, out] of a projection: its shape in memory, the reverse of the file's. */
export function linearShape(config: ModelConfig, projection: Projection): readonly [number, number] {
  const [outputs, inputs] = projectionShape(config, projection);
  return [inputs, outputs];
}

/** True for the matrices that files hold transposed: every linear map, but not the embedding. */
export function isLinear(name: string, shape: readonly number[]): boolean {
  return shape.length === 2 && name !== EMBEDDING;
}

/** Name and shape in memory of every parameter of the base model, in a fixed order. */
export function memoryShapes(config: ModelConfig): ReadonlyMap<string, readonly number[]> {
  return new Map(
    [...parameterShapes(config)].map(([name, shape]) => [
      name,
      isLinear(name, shape) ? [...shape].reverse() : shape,
    ]),
  );
}

/** [rows, columns] → [columns, rows]; a copy. */
export function transposed({ shape, data }: Tensor): Tensor {
  const [rows, columns] = shape as readonly [number, number];
  const result = new Float32Array(data.length);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) result[j * rows + i] = data[i * columns + j] as number;
  }
  return { shape: [columns, rows], data: result };
}

/** A model's tensors between the file's layout and memory's; its own inverse. */
export function transposeLinears(tensors: Iterable<readonly [string, Tensor]>): Record<string, Tensor> {
  const result: Record<string, Tensor> = {};
  for (const [name, tensor] of tensors)
    result[name] = isLinear(name, tensor.shape) ? transposed(tensor) : tensor;
  return result;
}

export interface InitializationOptions {
  /** Standard deviation of the embedding; the head's too where it is a matrix of its own. Default 0.05. */
  readonly embeddingScale?: number;
}

/**
 * Random parameters: norms 1, biases 0; linear maps normal with deviation 1/√in, halved where they write to the residual
 * stream (o_proj, down_proj). The same seed gives the same bytes; every tensor has a stream of its own.
 */
export function initializeParameters(
  config: ModelConfig,
  seed: number,
  options: InitializationOptions = {},
): Record<string, Tensor> {
  const random = new Random(seed);
  const parameters: Record<string, Tensor> = {};
  for (const [name, shape] of memoryShapes(config)) {
    const data = new Float32Array(shape.reduce((a, b) => a * b, 1));
    if (shape.length === 1) data.fill(name.endsWith('.bias') ? 0 : 1);
    else {
      const residual = /\.(o_proj|down_proj)\.weight$/.test(name) ? 0.5 : 1;
      const linear = isLinear(name, shape) && name !== HEAD;
      const deviation = linear ? residual / Math.sqrt(shape[0] as number) : (options.embeddingScale ?? 0.05);
      const stream = random.fork(name);
      for (let i = 0; i < data.length; i++) data[i] = stream.gaussian() * deviation;
    }
    parameters[name] = { shape, data };
  }
  return parameters;
}

/** SHA-256 over names, shapes and bytes, names sorted. */
export function hashParameters(parameters: Parameters): string {
  const hash = createHash('sha256');
  for (const name of Object.keys(parameters).sort()) {
    const { shape, data } = parameters[name] as Tensor;
    hash.update(`${name}[${shape.join()}]`);
    hash.update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  }
  return hash.digest('hex');
}

export function countElements(shape: readonly number[]): number {
  return shape.reduce((a, b) => a * b, 1);
}

/** Parameters that no later training step changes. */
export function copied(parameters: Parameters): Parameters {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, { shape, data }]) => [
      name,
      { shape, data: Float32Array.from(data) },
    ]),
  );
}
