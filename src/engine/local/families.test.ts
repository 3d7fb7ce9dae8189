import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeTinyModel } from '../../../test/support/tiny-model.js';
import type { AdapterHandle, Datum, PolicyRef } from '../contract.js';
import { type LocalEngine, openLocalEngine } from './engine.js';
import { readModelFolder } from './folder/model-folder.js';
import type { ModelConfig } from './model/config.js';
import { tinyConfig, tinyParameters, tinyPrompt } from './sample/test-model.js';
import { Trainer } from './train/trainer.js';

/** What other families do otherwise than Qwen3, through folder, training graph and sampler. */
const families: Record<string, ModelConfig> = {
  qwen2: { ...tinyConfig, queryKeyNorm: false, attentionBias: true },
  llama: {
    ...tinyConfig,
    queryKeyNorm: false,
    tied: false,
    ropeScaling: { factor: 8, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalContext: 64 },
  },
};

describe.each(Object.entries(families))('%s', (name, config) => {
  let folder: string;
  let engine: LocalEngine;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'trace-family-'));
    writeTinyModel(folder, config);
    engine = await openLocalEngine({ model: folder, threads: 1 });
  });
  afterAll(async () => {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('a folder that was written reads back', () => {
    const { config: read, parameters } = readModelFolder(folder);
    expect(read).toEqual(config);
    expect(parameters.has('model.layers.1.self_attn.k_proj.bias')).toBe(name === 'qwen2');
    expect(parameters.has('lm_head.weight')).toBe(name === 'llama');
  });

  test('sampled log-probabilities are those of the training graph: base, adapter, mixture', async () => {
    const trained = async (seed: number): Promise<AdapterHandle> => {
      const adapter = await engine.createAdapter({ name: `a${seed}`, rank: 4, alpha: 8, seed });
      const tokens = tinyPrompt(seed, 12);
      const datum: Datum = {
        tokens: tokens.slice(0, -1),
        targets: tokens.slice(1),
        weights: tokens.slice(1).map(() => 0.1),
      };
      for (let step = 0; step < 4; step++) {
        await engine.forwardBackward(adapter, [datum], { name: 'cross_entropy' });
        await engine.optimStep(adapter, { learningRate: 0.03 });
      }
      return adapter;
    };
    const adapters = [await trained(1), await trained(2)];
    const mixture = await engine.gates.createMixture({ name: 'mixture', adapters });
    const policies: PolicyRef[] = [{ kind: 'base' }, adapters[0]!, mixture];
    for (const policy of policies) {
      const prompt = tinyPrompt(5, 70);
      const request = { policy, tokens: prompt, maxTokens: 12, temperature: 1, seed: 3, stop: [] };
      const { tokens, logprobs } = await engine.sample(request);
      const [whole] = await engine.logprobs(policy, [[...prompt, ...tokens]]);
      logprobs.forEach((value, i) => {
        expect(Math.abs(value - whole![prompt.length - 1 + i]!)).toBeLessThan(1e-4);
      });
    }
  });
});

test('biases have the gradient of central differences', async () => {
  const config = families.qwen2!;
  const base = tinyParameters(config);
  const trainer = new Trainer(config, base, { threads: 1 });
  const model = await trainer.add({ kind: 'full' }, base);
  const tokens = tinyPrompt(9, 10);
  const data = [
    { tokens: tokens.slice(0, -1), targets: tokens.slice(1), weights: tokens.slice(1).map(() => 1) },
  ];
  const loss = async () => (await trainer.forwardBackward(model, data, { name: 'cross_entropy' })).loss;
  await loss();
  // With β₁ = 0 the first moment is the gradient; with a learning rate of 0 nothing moves.
  await trainer.optimStep(model, { learningRate: 0, beta1: 0, beta2: 0 });
  const { first: gradient } = await trainer.state(model);
  for (const projection of ['q_proj', 'v_proj']) {
    const name = `model.layers.0.self_attn.${projection}.bias`;
    const { shape, data: g } = gradient[name]!;
    const norm = Math.hypot(...g);
    expect(norm).toBeGreaterThan(0);
    const along = async (amount: number) => {
      const moved = base[name]!.data.map((x, i) => x + (amount * g[i]!) / norm);
      await trainer.setParameters(model, { ...base, [name]: { shape, data: moved } });
      return loss();
    };
    const numeric = ((await along(1e-2)) - (await along(-1e-2))) / 2e-2;
    expect(Math.abs(numeric - norm) / Math.max(norm, 0.05), `${name}: ${norm} and ${numeric}`).toBeLessThan(
      2e-2,
    );
  }
  await trainer.close();
});
