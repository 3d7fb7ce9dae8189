import { Random } from '../../../run/random.js';
import type { ModelConfig } from '../model/config.js';
import { type Adapter, adapterShapes } from '../model/lora.js';
import { initializeParameters, type Parameters, type Tensor } from '../model/parameters.js';

/** Models for the sampler's tests: small, random, with every tensor mattering. */
export const tinyConfig: ModelConfig = {
  vocabularySize: 40,
  hiddenSize: 32,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 16,
  intermediateSize: 48,
  ropeTheta: 10000,
  rmsEps: 1e-6,
  tied: true,
  context: 200,
  eosTokenIds: [0],
};

/** Norms away from 1, so that an omitted one shows. */
export function tinyParameters(config: ModelConfig = tinyConfig, seed = 1): Parameters {
  const random = new Random(seed).fork('norms');
  const parameters: Record<string, Tensor> = {
    ...initializeParameters(config, seed, { embeddingScale: 0.4 }),
  };
  for (const { shape, data } of Object.values(parameters)) {
    if (shape.length === 1) for (let i = 0; i < data.length; i++) data[i] = 1 + 0.3 * random.gaussian();
  }
  return parameters;
}

/** An adapter whose B is not zero. */
export function tinyAdapter(seed: number, rank = 4, alpha = 8, config: ModelConfig = tinyConfig): Adapter {
  const random = new Random(seed).fork('adapter');
  const parameters: Record<string, Tensor> = {};
  for (const [name, shape] of adapterShapes(config, rank)) {
    const length = shape.reduce((a, b) => a * b, 1);
    parameters[name] = { shape, data: Float32Array.from({ length }, () => 0.15 * random.gaussian()) };
  }
  return { rank, alpha, parameters };
}

/** A random prompt. */
export function tinyPrompt(seed: number, length: number, config: ModelConfig = tinyConfig): number[] {
  const random = new Random(seed).fork('prompt');
  return Array.from({ length }, () => 1 + random.int(config.vocabularySize - 1));
}
