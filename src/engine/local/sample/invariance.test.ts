import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ModelConfig } from '../model/config.js';
import { initializeGates } from '../model/gates.js';
import { CompiledPolicy, MASKED } from './compiled-policy.js';
import { KvCache } from './kv-cache.js';
import type { PolicyWeights } from './policy.js';
import { tinyAdapter, tinyParameters, tinyPrompt } from './test-model.js';

/*
 * What batching, prefix sharing and recomputation rest on: a token's keys, values and probabilities are the same
 * bits however it is computed. The kernels choose their blocks by the sizes of the matrices, so this is asked at
 * the size of real work: blocks of the inner dimension, several capacities, many rows.
 */
const config: ModelConfig = {
  vocabularySize: 320,
  hiddenSize: 128,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 32,
  intermediateSize: 352,
  ropeTheta: 10000,
  rmsEps: 1e-6,
  tied: true,
  context: 512,
  eosTokenIds: [],
};
const LENGTH = 150;
const prompt = tinyPrompt(1, LENGTH, config);
const others = Array.from({ length: 70 }, (_, i) => tinyPrompt(2 + i, LENGTH, config));
const base = tinyParameters(config, 4);

/** Feeds the prompt in chunks as row `row` of `rows`, the other rows getting tokens of their own. */
async function feed(
  policy: CompiledPolicy,
  chunks: readonly number[],
  rows: number,
  row: number,
  capacity: number,
) {
  const cache = new KvCache(config);
  cache.resize(rows, capacity);
  const probabilities: Float32Array[] = [];
  let start = 0;
  for (const queries of chunks) {
    const texts = Array.from({ length: rows }, (_, r) => (r === row ? prompt : (others[r] ?? prompt)));
    const count = rows * queries;
    const positions = Int32Array.from({ length: count }, (_, i) => start + (i % queries));
    const mask = new Float32Array(count * capacity).fill(MASKED);
    positions.forEach((position, i) => {
      mask.fill(0, i * capacity, i * capacity + position + 1);
    });
    const output = await policy.step(cache, {
      firstRow: 0,
      rows,
      queries,
      tokens: Int32Array.from(texts.flatMap((text) => text.slice(start, start + queries))),
      positions,
      kept: new Uint8Array(count).fill(1),
      mask,
      wanted: new Array<number>(rows).fill(queries - 1),
    });
    start += queries;
    const size = config.vocabularySize;
    probabilities.push(output.probabilities.slice(row * size, (row + 1) * size));
  }
  // The row's keys and values in an order that does not depend on rows and capacity.
  cache.swapRows(0, row);
  cache.resize(1, LENGTH);
  return { last: probabilities.at(-1), keys: cache.keys, values: cache.values };
}

const split = (size: number): number[] =>
  Array.from({ length: Math.ceil(LENGTH / size) }, (_, i) => Math.min(size, LENGTH - i * size));

const mixture: PolicyWeights = {
  kind: 'mixture',
  adapters: [tinyAdapter(1, 8, 16, config), tinyAdapter(2, 8, 16, config)],
  gates: (() => {
    const gates = initializeGates(config, 2);
    const source = tinyAdapter(9, 8, 16, config).parameters['model.layers.0.mlp.up_proj.lora_A.weight'];
    for (const { data } of Object.values(gates)) {
      for (let i = 0; i < data.length; i++) data[i] = source?.data[i] ?? 0;
    }
    return gates;
  })(),
};
const policies = new Map<string, CompiledPolicy>();
beforeAll(async () => {
  for (const [name, weights] of [
    ['base', { kind: 'base' }],
    ['mixture', mixture],
  ] as const) {
    policies.set(name, await CompiledPolicy.compile(config, base, weights, config.context));
  }
});
afterAll(async () => {
  for (const policy of policies.values()) await policy.release();
});

test.each(['base', 'mixture'])('one token at a time, in chunks, in any batch: %s', async (name) => {
  const policy = policies.get(name) as CompiledPolicy;
  const alone = await feed(policy, split(1), 1, 0, 192);
  for (const [chunks, rows, row, capacity] of [
    [split(64), 1, 0, 192],
    [split(7), 1, 0, 256],
    [[96, 54], 1, 0, 512],
    [[149, 1], 1, 0, 320],
    [split(30), 3, 2, 192],
    [split(13), 8, 5, 384],
    [[100, 50], 70, 69, 192],
  ] as const) {
    const other = await feed(policy, chunks, rows, row, capacity);
    expect(other.last).toEqual(alone.last);
    expect(other.keys).toEqual(alone.keys);
    expect(other.values).toEqual(alone.values);
  }
});
