import { expect, test } from 'vitest';
import { Random } from '../../../run/random.js';
import type { ModelConfig } from './config.js';
import {
  type Adapter,
  adapterShapes,
  combineAdapters,
  initializeAdapter,
  loraA,
  loraB,
  mergeAdapters,
} from './lora.js';
import { initializeParameters, projectionName, type Tensor, transposeLinears } from './parameters.js';

const config: ModelConfig = {
  vocabularySize: 11,
  hiddenSize: 6,
  layers: 2,
  heads: 2,
  kvHeads: 1,
  headDim: 8,
  intermediateSize: 5,
  ropeTheta: 100,
  rmsEps: 1e-6,
  tied: false,
  context: 16,
  eosTokenIds: [],
};
const base = initializeParameters(config, 1);
const MODULE = projectionName(1, 'mlp.gate_proj');

function randomAdapter(rank: number, alpha: number, seed: number): Adapter {
  const random = new Random(seed);
  const parameters: Record<string, Tensor> = {};
  for (const [name, shape] of adapterShapes(config, rank))
    parameters[name] = {
      shape,
      data: Float32Array.from({ length: shape[0]! * shape[1]! }, () => random.gaussian()),
    };
  return { rank, alpha, parameters };
}

/** (alpha / rank) Σ_k A[i, k] B[k, j], element by element. */
function delta({ rank, alpha, parameters }: Adapter, i: number, j: number): number {
  const a = parameters[loraA(MODULE)]!;
  const b = parameters[loraB(MODULE)]!;
  let sum = 0;
  for (let k = 0; k < rank; k++) sum += a.data[i * rank + k]! * b.data[k * b.shape[1]! + j]!;
  return (alpha / rank) * sum;
}

test('merging adds alpha / rank · A · B, weighted, and shares what no adapter touches', () => {
  const x = randomAdapter(2, 4, 5);
  const y = randomAdapter(3, 3, 6);
  const merged = mergeAdapters(config, base, [
    { adapter: x, weight: 0.5 },
    { adapter: y, weight: -2 },
  ]);
  const before = base[`${MODULE}.weight`]!;
  const after = merged[`${MODULE}.weight`]!;
  for (let i = 0; i < 6; i++) {
    for (let j = 0; j < 5; j++) {
      const expected = before.data[i * 5 + j]! + 0.5 * delta(x, i, j) - 2 * delta(y, i, j);
      expect(after.data[i * 5 + j]).toBeCloseTo(expected, 4);
    }
  }
  expect(merged['model.norm.weight']).toBe(base['model.norm.weight']);
});

test('a combination is one adapter with the weighted sum of the deltas', () => {
  const x = randomAdapter(2, 4, 5);
  const y = randomAdapter(3, 3, 6);
  const combined = combineAdapters(config, [
    { adapter: x, weight: 0.5 },
    { adapter: y, weight: 0.25 },
  ]);
  expect(combined.rank).toBe(5);
  for (let i = 0; i < 6; i++) {
    for (let j = 0; j < 5; j++)
      expect(delta(combined, i, j)).toBeCloseTo(0.5 * delta(x, i, j) + 0.25 * delta(y, i, j), 4);
  }
});

test('a new adapter is the base: B is zero; A is normal with deviation 1/√in and fixed by the seed', () => {
  const { parameters } = initializeAdapter(config, 4, 8, 3);
  expect(parameters[loraB(MODULE)]!.data.every((value) => value === 0)).toBe(true);
  const all = Object.entries(parameters)
    .filter(([name]) => name.endsWith('lora_A.weight'))
    .flatMap(([, { shape, data }]) => Array.from(data, (value) => value * Math.sqrt(shape[0]!)));
  const variance = all.reduce((sum, value) => sum + value * value, 0) / all.length;
  // Variance of the estimate is 2/n; five deviations.
  expect(Math.abs(variance - 1)).toBeLessThan(5 * Math.sqrt(2 / all.length));
  expect(initializeAdapter(config, 4, 8, 3)).toEqual({ rank: 4, alpha: 8, parameters });
  expect(() => adapterShapes(config, 0)).toThrow(/rank/);
});

test('file and memory layouts: every linear map is transposed, embeddings and norms are not', () => {
  const file = transposeLinears(Object.entries(base));
  expect(file['model.layers.0.self_attn.q_proj.weight']!.shape).toEqual([16, 6]);
  expect(file['lm_head.weight']!.shape).toEqual([11, 6]);
  expect(file['model.embed_tokens.weight']!.shape).toEqual([11, 6]);
  const q = base['model.layers.0.self_attn.q_proj.weight']!;
  expect(file['model.layers.0.self_attn.q_proj.weight']!.data[3 * 6 + 2]).toBe(q.data[2 * 16 + 3]);
  expect(transposeLinears(Object.entries(file))).toEqual(base);
});
