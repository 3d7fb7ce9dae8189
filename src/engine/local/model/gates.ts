import { add, matmul, multiply, straightThroughTop1, top1 } from '../graph/ops/index.js';
import type { Value } from '../graph/value.js';
import type { ModelConfig } from './config.js';
import { layerName, type Tensor } from './parameters.js';

/**
 * Token gates of a mixture: in every layer a linear map with bias from the block's normed input to slots 0 … k;
 * slot 0 is no adapter. `G.gate.weight` [hidden, k + 1] (files hold it transposed) and `G.gate.bias` [k + 1].
 */
export const gateWeight = (layer: number): string => `${layerName(layer)}.gate.weight`;
export const gateBias = (layer: number): string => `${layerName(layer)}.gate.bias`;

/** Names and shapes of the gates of a mixture of `adapters` adapters. */
export function gateShapes(config: ModelConfig, adapters: number): ReadonlyMap<string, readonly number[]> {
  const shapes = new Map<string, readonly number[]>();
  for (let layer = 0; layer < config.layers; layer++) {
    shapes.set(gateWeight(layer), [config.hiddenSize, adapters + 1]);
    shapes.set(gateBias(layer), [adapters + 1]);
  }
  return shapes;
}

/** Gates at zero: every token goes to slot 0, ties being broken downwards. */
export function initializeGates(config: ModelConfig, adapters: number): Record<string, Tensor> {
  const gates: Record<string, Tensor> = {};
  for (const [name, shape] of gateShapes(config, adapters))
    gates[name] = { shape, data: new Float32Array(shape.reduce((a, b) => a * b, 1)) };
  return gates;
}

/**
 * Slot of every token as one-hot rows [n, k + 1]. The block's input is detached: gates are trained through the
 * adapters they choose, and do not bend the hidden states.
 * @param trainable backward as if the choice were the softmax (straight-through).
 */
export function gateSlots(input: Value, weight: Value, bias: Value, trainable: boolean): Value {
  const logits = add(matmul(input.graph.detach(input), weight), bias);
  return trainable ? straightThroughTop1(logits) : top1(logits);
}

/** Spreads slots [n, k + 1] over the columns of concatenated adapters [n, Σ rank]; slot 0 has none. */
export function spreadSlots(slots: Value, ranks: readonly number[]): Value {
  const total = ranks.reduce((a, b) => a + b, 0);
  const spread = new Float32Array((ranks.length + 1) * total);
  let column = 0;
  ranks.forEach((rank, k) => {
    spread.fill(1, (k + 1) * total + column, (k + 1) * total + column + rank);
    column += rank;
  });
  return matmul(slots, slots.graph.constant(spread, [ranks.length + 1, total]));
}

/** x·W + ((x·A) ∘ columns)·B (+ plus) for concatenated A and B (`concatenateAdapters`) and `spreadSlots`' columns. */
export function gatedProjection(
  x: Value,
  weight: Value,
  a: Value,
  b: Value,
  columns: Value,
  plus?: Value,
): Value {
  return matmul(multiply(matmul(x, a), columns), b, {
    plus: matmul(x, weight, plus && { plus }),
  });
}
