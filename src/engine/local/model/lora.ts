import { Random } from '../../../run/random.js';
import { type ModelConfig, PROJECTIONS } from './config.js';
import { linearShape, type Parameters, projectionName, type Tensor } from './parameters.js';

/**
 * A LoRA adapter in memory: for every projection module P `P.lora_A.weight` [in, rank] and `P.lora_B.weight`
 * [rank, out] (files hold both transposed, as PEFT does). Its delta is (alpha / rank)·A·B.
 */
export interface Adapter {
  readonly rank: number;
  readonly alpha: number;
  readonly parameters: Parameters;
}

export const loraA = (module: string): string => `${module}.lora_A.weight`;
export const loraB = (module: string): string => `${module}.lora_B.weight`;

/** Names and shapes (in memory) of an adapter's parameters, in a fixed order. */
export function adapterShapes(config: ModelConfig, rank: number): ReadonlyMap<string, readonly number[]> {
  if (!Number.isInteger(rank) || rank <= 0)
    throw new RangeError(`adapter rank must be a positive integer, got ${rank}`);
  const shapes = new Map<string, readonly number[]>();
  for (let layer = 0; layer < config.layers; layer++) {
    for (const projection of PROJECTIONS) {
      const [inputs, outputs] = linearShape(config, projection);
      const module = projectionName(layer, projection);
      shapes.set(loraA(module), [inputs, rank]);
      shapes.set(loraB(module), [rank, outputs]);
    }
  }
  return shapes;
}

/** A new adapter: A normal with deviation 1/√in, B zero, so that its delta is zero. */
export function initializeAdapter(config: ModelConfig, rank: number, alpha: number, seed: number): Adapter {
  const random = new Random(seed);
  const parameters: Record<string, Tensor> = {};
  for (const [name, shape] of adapterShapes(config, rank)) {
    const data = new Float32Array((shape[0] as number) * (shape[1] as number));
    if (name.endsWith('.lora_A.weight')) {
      const stream = random.fork(name);
      const deviation = 1 / Math.sqrt(shape[0] as number);
      for (let i = 0; i < data.length; i++) data[i] = stream.gaussian() * deviation;
    }
    parameters[name] = { shape, data };
  }
  return { rank, alpha, parameters };
}

/**
 * Base parameters with Σ weight·delta(adapter) added to the projections; tensors that no adapter touches are
 * shared with `base`, not copied.
 */
export function mergeAdapters(
  config: ModelConfig,
  base: Parameters,
  parts: readonly { readonly adapter: Adapter; readonly weight: number }[],
): Record<string, Tensor> {
  const merged: Record<string, Tensor> = { ...base };
  for (let layer = 0; layer < config.layers; layer++) {
    for (const projection of PROJECTIONS) {
      const module = projectionName(layer, projection);
      const { shape, data } = base[`${module}.weight`] as Tensor;
      const sum = new Float32Array(data);
      for (const { adapter, weight } of parts) {
        const a = (adapter.parameters[loraA(module)] as Tensor).data;
        const b = (adapter.parameters[loraB(module)] as Tensor).data;
        addProduct(
          sum,
          a,
          b,
          shape as readonly [number, number],
          adapter.rank,
          (weight * adapter.alpha) / adapter.rank,
        );
      }
      merged[`${module}.weight`] = { shape, data: sum };
    }
  }
  return merged;
}

/** target += factor · a · b with a [rows, inner], b [inner, columns]. */
function addProduct(
  target: Float32Array,
  a: Float32Array,
  b: Float32Array,
  [rows, columns]: readonly [number, number],
  inner: number,
  factor: number,
): void {
  for (let i = 0; i < rows; i++) {
    for (let k = 0; k < inner; k++) {
      const scaled = factor * (a[i * inner + k] as number);
      if (scaled === 0) continue;
      const to = i * columns;
      const from = k * columns;
      for (let j = 0; j < columns; j++) target[to + j]! += scaled * (b[from + j] as number);
    }
  }
}

/**
 * Several adapters side by side: A [in, Σ rank] and B [Σ rank, out] of every module. Each B carries its adapter's
 * alpha / rank, so that adapters of different rank and alpha may stand together.
 */
export function concatenateAdapters(
  config: ModelConfig,
  adapters: readonly Adapter[],
): Record<string, Tensor> {
  const total = adapters.reduce((sum, adapter) => sum + adapter.rank, 0);
  const parameters: Record<string, Tensor> = {};
  for (let layer = 0; layer < config.layers; layer++) {
    for (const projection of PROJECTIONS) {
      const module = projectionName(layer, projection);
      const [inputs, outputs] = linearShape(config, projection);
      const a = new Float32Array(inputs * total);
      const b = new Float32Array(total * outputs);
      let column = 0;
      for (const { rank, alpha, parameters: own } of adapters) {
        const ownA = (own[loraA(module)] as Tensor).data;
        const ownB = (own[loraB(module)] as Tensor).data;
        for (let i = 0; i < inputs; i++) a.set(ownA.subarray(i * rank, (i + 1) * rank), i * total + column);
        for (let i = 0; i < ownB.length; i++) b[column * outputs + i] = (ownB[i] as number) * (alpha / rank);
        column += rank;
      }
      parameters[loraA(module)] = { shape: [inputs, total], data: a };
      parameters[loraB(module)] = { shape: [total, outputs], data: b };
    }
  }
  return parameters;
}

/** The adapters that `concatenateAdapters` put side by side; `forms` are their ranks and alphas, in order. */
export function splitAdapters(
  config: ModelConfig,
  concatenated: Parameters,
  forms: readonly Pick<Adapter, 'rank' | 'alpha'>[],
): Adapter[] {
  let column = 0;
  return forms.map(({ rank, alpha }) => {
    const parameters: Record<string, Tensor> = {};
    for (const [name, shape] of adapterShapes(config, rank)) {
      const { data: all, shape: wide } = concatenated[name] as Tensor;
      const [rows, columns] = shape as readonly [number, number];
      const data = new Float32Array(rows * columns);
      if (name.endsWith('.lora_A.weight')) {
        const total = wide[1] as number;
        for (let i = 0; i < rows; i++)
          data.set(all.subarray(i * total + column, i * total + column + rank), i * rank);
      } else
        for (let i = 0; i < data.length; i++)
          data[i] = (all[column * columns + i] as number) / (alpha / rank);
      parameters[name] = { shape, data };
    }
    column += rank;
    return { rank, alpha, parameters };
  });
}

/** One adapter whose delta is Σ weight·delta(part): the parts side by side, so its rank is the sum of theirs. */
export function combineAdapters(
  config: ModelConfig,
  parts: readonly { readonly adapter: Adapter; readonly weight: number }[],
): Adapter {
  const weighted = parts.map(({ adapter, weight }) => ({ ...adapter, alpha: adapter.alpha * weight }));
  const rank = parts.reduce((sum, { adapter }) => sum + adapter.rank, 0);
  // alpha = rank: the scale of every part is in its B already.
  return { rank, alpha: rank, parameters: concatenateAdapters(config, weighted) };
}
