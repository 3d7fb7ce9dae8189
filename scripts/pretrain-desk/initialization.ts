import type { ModelConfig } from '../../src/engine/local/model/config.js';
import {
  EMBEDDING,
  FINAL_NORM,
  layerName,
  memoryShapes,
  type Tensor,
} from '../../src/engine/local/model/parameters.js';
import { Random } from '../../src/run/random.js';

/**
 * Random weights with the shape of an induction head (Olsson et al. 2022): without it, a million parameters need
 * far more tokens until recall by name forms than the rest of desk takes to learn. All numbers are random draws;
 * what is chosen is which of them belong together:
 *
 * - embeddings share a constant direction, which no other matrix but layer 0's q and k reads;
 * - q and k of layer 0 turn that direction into a head that looks at the previous token, by the fast rotary pairs;
 * - k of layer 1 reads what layer 0 wrote about the previous token, as q reads the token itself, so that a token
 *   looks for what followed it before;
 * - o is the transpose of v in layers 1 and up, so that what is looked at is what is said;
 * - q and k norms start large where attention has to be sharp (fast pairs in layer 0, slow ones in layer 1).
 */
export interface InitializationShape {
  /** Standard deviation of embeddings. */
  readonly embedding: number;
  /** Weight of the final norm: with tied embeddings of that size, logits start small. */
  readonly finalNorm: number;
  /** Rotary pairs that turn by more than this many radians a token are fast. */
  readonly fastRadians: number;
  /** q and k norm weights: of fast and slow pairs, in layer 0, layer 1 and above. */
  readonly gains: {
    readonly first: readonly [number, number];
    readonly second: readonly [number, number];
    readonly above: readonly [number, number];
  };
}

export const INDUCTION: InitializationShape = {
  embedding: 0.25,
  finalNorm: 0.2,
  fastRadians: 0.2,
  gains: { first: [2, 0.5], second: [0.3, 1.5], above: [1.2, 1.2] },
};

/** Parameters in memory's layout ([in, out]); a function of config, seed and shape alone. */
export function initializeForRecall(
  config: ModelConfig,
  seed: number,
  shape: InitializationShape = INDUCTION,
): Record<string, Tensor> {
  const { hiddenSize: D, heads, kvHeads, headDim, layers } = config;
  const root = new Random(seed).fork('initialization');
  const group = heads / kvHeads;
  const half = headDim / 2;
  const constant = unitVector(root.fork('constant'), D);
  const parameters: Record<string, Tensor> = {};
  for (const [name, dims] of memoryShapes(config)) {
    const data = new Float32Array(dims.reduce((a, b) => a * b, 1));
    const random = root.fork(name);
    if (dims.length === 1) data.fill(name === FINAL_NORM ? shape.finalNorm : 1);
    else if (name === EMBEDDING) fillEmbedding(data, random, constant, shape.embedding);
    else {
      const scale = name.includes('down_proj') ? 0.02 : 1;
      for (let i = 0; i < data.length; i++) data[i] = (random.gaussian() * scale) / Math.sqrt(dims[0]!);
      if (!/o_proj|down_proj/.test(name)) removeDirection(data, constant, dims[1]!);
    }
    parameters[name] = { shape: dims, data };
  }

  const turn = (i: number) => config.ropeTheta ** (-(i % half) / half);
  const fast = Array.from({ length: headDim }, (_, i) => turn(i) > shape.fastRadians);
  const matrix = (layer: number, name: string): Float32Array =>
    parameters[`${layerName(layer)}.self_attn.${name}.weight`]!.data;
  for (let layer = 0; layer < layers; layer++) {
    const [fastGain, slowGain] =
      layer === 0 ? shape.gains.first : layer === 1 ? shape.gains.second : shape.gains.above;
    for (const norm of ['q_norm', 'k_norm'])
      matrix(layer, norm).forEach((_, i, data) => {
        data[i] = fast[i] ? fastGain : slowGain;
      });
  }

  // Layer 0 looks at the previous token: k is a fixed vector on the fast pairs, q the same one turned back by one
  // position; a little of the token itself stays.
  const q0 = matrix(0, 'q_proj');
  const k0 = matrix(0, 'k_proj');
  for (let i = 0; i < q0.length; i++) q0[i]! *= 0.3;
  for (let i = 0; i < k0.length; i++) k0[i]! *= 0.3;
  for (let kv = 0; kv < kvHeads; kv++) {
    const random = root.fork('position', kv);
    const raw = fast.map((isFast) => (isFast ? random.gaussian() : 0));
    const length = Math.sqrt(raw.reduce((sum, x) => sum + x * x, 0));
    const key = raw.map((x) => (x / length) * Math.sqrt(headDim));
    const query = key.map((x, i) => {
      const angle = -turn(i);
      const other = key[i < half ? i + half : i - half]!;
      return i < half
        ? x * Math.cos(angle) - other * Math.sin(angle)
        : other * Math.sin(angle) + x * Math.cos(angle);
    });
    for (let row = 0; row < D; row++)
      for (let i = 0; i < headDim; i++) {
        k0[row * kvHeads * headDim + kv * headDim + i]! += constant[row]! * key[i]!;
        for (let h = kv * group; h < (kv + 1) * group; h++)
          q0[row * heads * headDim + h * headDim + i]! += constant[row]! * query[i]!;
      }
  }
  // Heads that share keys and values write alike; `copied` [D, D] is what layer 0 makes of the previous token.
  const v0 = matrix(0, 'v_proj');
  const o0 = matrix(0, 'o_proj');
  for (let h = 0; h < heads; h++) {
    const kv = Math.floor(h / group);
    for (let i = 0; i < headDim; i++)
      for (let column = 0; column < D; column++) {
        const shared = o0[(kv * group * headDim + i) * D + column]!;
        o0[(h * headDim + i) * D + column] = h % group === 0 ? shared * (shape.embedding / 0.25) : shared;
      }
  }
  const copied = new Float32Array(D * D);
  for (let row = 0; row < D; row++)
    for (let h = 0; h < heads; h++)
      for (let i = 0; i < headDim; i++) {
        const value = v0[row * kvHeads * headDim + Math.floor(h / group) * headDim + i]!;
        for (let column = 0; column < D; column++)
          copied[row * D + column]! += value * o0[(h * headDim + i) * D + column]!;
      }

  for (let layer = 1; layer < layers; layer++) {
    const q = matrix(layer, 'q_proj');
    const k = matrix(layer, 'k_proj');
    const v = matrix(layer, 'v_proj');
    const o = matrix(layer, 'o_proj');
    if (layer === 1) {
      for (let row = 0; row < D; row++)
        for (let h = 0; h < heads; h++) {
          const first = Math.floor(h / group) * group;
          for (let i = 0; i < headDim; i++)
            q[row * heads * headDim + h * headDim + i] = q[row * heads * headDim + first * headDim + i]!;
        }
      k.fill(0);
      for (let column = 0; column < D; column++)
        for (let kv = 0; kv < kvHeads; kv++)
          for (let i = 0; i < headDim; i++)
            for (let row = 0; row < D; row++)
              k[column * kvHeads * headDim + kv * headDim + i]! +=
                copied[row * D + column]! * q[row * heads * headDim + kv * group * headDim + i]!;
      const size = Math.sqrt(k.reduce((sum, x) => sum + x * x, 0) / (kvHeads * headDim));
      for (let i = 0; i < k.length; i++) k[i]! /= size;
      removeDirection(k, constant, kvHeads * headDim);
    }
    for (let h = 0; h < heads; h++)
      for (let i = 0; i < headDim; i++)
        for (let row = 0; row < D; row++)
          o[(h * headDim + i) * D + row] =
            v[row * kvHeads * headDim + Math.floor(h / group) * headDim + i]! * (shape.embedding / 0.25);
  }
  return parameters;
}

function unitVector(random: Random, length: number): Float32Array {
  const vector = Float32Array.from({ length }, () => random.gaussian());
  const norm = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));
  return vector.map((x) => x / norm);
}

/** Rows normal with the given deviation, their part along `constant` the same in all: as long as the rest. */
function fillEmbedding(data: Float32Array, random: Random, constant: Float32Array, deviation: number): void {
  const D = constant.length;
  for (let row = 0; row < data.length; row += D) {
    let along = 0;
    for (let i = 0; i < D; i++) {
      data[row + i] = random.gaussian() * deviation;
      along += data[row + i]! * constant[i]!;
    }
    for (let i = 0; i < D; i++) data[row + i]! += constant[i]! * (deviation * Math.sqrt(D) - along);
  }
}

/** Takes from a matrix [in, columns] what reads the given direction. */
function removeDirection(data: Float32Array, direction: Float32Array, columns: number): void {
  for (let column = 0; column < columns; column++) {
    let along = 0;
    for (let row = 0; row < direction.length; row++) along += direction[row]! * data[row * columns + column]!;
    for (let row = 0; row < direction.length; row++) data[row * columns + column]! -= direction[row]! * along;
  }
}
