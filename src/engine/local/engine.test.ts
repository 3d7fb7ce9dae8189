import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AdapterHandle, Datum, PolicyRef } from '../contract.js';
import { type LocalEngine, openLocalEngine } from './engine.js';
import { writeModelFolder } from './folder/model-folder.js';
import { transposeLinears } from './model/parameters.js';
import { tinyConfig, tinyParameters, tinyPrompt } from './sample/test-model.js';

let folder: string;
let engine: LocalEngine;

/** A word-level tokenizer of as many words as the tiny model has tokens. */
const tokenizer = {
  version: '1.0',
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: { type: 'Whitespace' },
  post_processor: null,
  decoder: null,
  model: {
    type: 'WordLevel',
    vocab: Object.fromEntries(Array.from({ length: tinyConfig.vocabularySize }, (_, i) => [`w${i}`, i])),
    unk_token: 'w0',
  },
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trace-engine-'));
  const parameters = new Map(Object.entries(transposeLinears(Object.entries(tinyParameters()))));
  writeModelFolder(join(folder, 'model'), tinyConfig, parameters, {
    tokenizer,
    tokenizerConfig: { tokenizer_class: 'PreTrainedTokenizerFast' },
    chatTemplate: '{{ messages }}',
  });
  engine = await openLocalEngine({ model: join(folder, 'model') });
});
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

const BASE: PolicyRef = { kind: 'base' };

function data(seed: number, count = 4): Datum[] {
  return Array.from({ length: count }, (_, i) => {
    const tokens = tinyPrompt(seed * 100 + i, 9 + i);
    return {
      tokens: tokens.slice(0, -1),
      targets: tokens.slice(1),
      weights: tokens.slice(1).map(() => 0.02),
    };
  });
}

async function trained(name: string, seed: number): Promise<AdapterHandle> {
  const adapter = await engine.createAdapter({ name, rank: 4, alpha: 8, seed });
  for (let step = 0; step < 5; step++) {
    await engine.forwardBackward(adapter, data(seed), { name: 'cross_entropy' });
    await engine.optimStep(adapter, { learningRate: 0.03, gradientClip: 1 });
  }
  return adapter;
}

/** Samples, and compares the log-probabilities with those of the whole sequence in one pass. */
async function expectConsistent(policy: PolicyRef): Promise<void> {
  const prompt = tinyPrompt(5, 12);
  const { tokens, logprobs } = await engine.sample({
    policy,
    tokens: prompt,
    maxTokens: 16,
    temperature: 1,
    seed: 3,
    stop: [],
  });
  expect(tokens).toHaveLength(16);
  const [whole] = await engine.logprobs(policy, [[...prompt, ...tokens]]);
  expect(whole).toHaveLength(prompt.length + 15);
  logprobs.forEach((value, i) => {
    expect(Math.abs(value - whole![prompt.length - 1 + i]!)).toBeLessThan(1e-4);
  });
}

test('info, tokenizer and template come from the folder', () => {
  expect(engine.info).toMatchObject({
    model: 'model',
    context: 200,
    hiddenSize: 32,
    layers: 2,
    vocabulary: 40,
  });
  expect(engine.tokenizer.encode('w3 w7')).toEqual([3, 7]);
  expect(engine.chatTemplate).toBe('{{ messages }}');
});

test('sampled log-probabilities are those of the training graph: base, adapter, merge, mixture', async () => {
  await expectConsistent(BASE);
  const a = await trained('a', 1);
  const b = await trained('b', 2);
  await expectConsistent(a);
  await expectConsistent(
    await engine.mergeAdapters('average', [
      { adapter: a, weight: 0.5 },
      { adapter: b, weight: 0.5 },
    ]),
  );
  const mixture = await engine.gates.createMixture({ name: 'mixture', adapters: [a, b] });
  for (let step = 0; step < 8; step++) {
    await engine.forwardBackward(mixture, data(2), { name: 'cross_entropy' });
    await engine.optimStep(mixture, { learningRate: 0.1 });
  }
  await expectConsistent(mixture);
});

test('a new adapter and a new mixture are the base; training moves only what is trained', async () => {
  const sequences = [tinyPrompt(7, 20)];
  const base = await engine.hash(BASE);
  const [plain] = await engine.logprobs(BASE, sequences);
  const fresh = await engine.createAdapter({ name: 'fresh', rank: 2, alpha: 2, seed: 1 });
  const [same] = await engine.logprobs(fresh, sequences);
  const a = await trained('a', 3);
  const hash = await engine.hash(a);
  const mixture = await engine.gates.createMixture({ name: 'mixture', adapters: [a, fresh] });
  const [unrouted] = await engine.logprobs(mixture, sequences);
  plain!.forEach((value, t) => {
    expect(same![t]).toBeCloseTo(value, 5);
    expect(unrouted![t]).toBeCloseTo(value, 5);
  });
  const gates = await engine.hash(mixture);
  await engine.forwardBackward(mixture, data(3), { name: 'cross_entropy' });
  await engine.optimStep(mixture, { learningRate: 0.1 });
  expect(await engine.hash(mixture)).not.toBe(gates);
  expect(await engine.hash(a)).toBe(hash);
  expect(await engine.hash(BASE)).toBe(base);
  // layers × (hidden × (k + 1) + (k + 1))
  expect(engine.gates.parameterCount(mixture)).toBe(2 * (32 * 3 + 3));
});

test('the adapters of a mixture can be trained under gates that stay', async () => {
  const a = await trained('a', 3);
  const b = await trained('b', 4);
  const made = await engine.gates.createMixture({ name: 'mixture', adapters: [a, b] });
  for (let step = 0; step < 8; step++) {
    await engine.forwardBackward(made, data(3), { name: 'cross_entropy' });
    await engine.optimStep(made, { learningRate: 0.1 });
  }
  const fitted = join(folder, 'fitted');
  await engine.gates.saveMixture(made, fitted);
  const mixture = await engine.gates.loadMixture(fitted, [a, b], 'adapters');
  const sequences = [tinyPrompt(9, 20)];
  const [before] = await engine.logprobs(made, sequences);
  const [same] = await engine.logprobs(mixture, sequences);
  before!.forEach((value, t) => {
    expect(same![t]).toBeCloseTo(value, 5);
  });
  const untouched = await engine.gates.adaptersOf(mixture);
  expect(await engine.hash(untouched[0]!)).toBe(await engine.hash(a));
  expect(await engine.hash(untouched[1]!)).toBe(await engine.hash(b));

  const losses: number[] = [];
  for (let step = 0; step < 6; step++) {
    losses.push((await engine.forwardBackward(mixture, data(11), { name: 'cross_entropy' })).loss);
    await engine.optimStep(mixture, { learningRate: 0.01, gradientClip: 1 });
  }
  expect(losses.at(-1)).toBeLessThan(losses[0]! * 0.98);
  await expectConsistent(mixture);
  const adapters = await engine.gates.adaptersOf(mixture);
  expect(await engine.hash(adapters[0]!)).not.toBe(await engine.hash(a));
  // Put together again from their own folders, they are the mixture that was trained.
  await engine.gates.saveMixture(mixture, join(folder, 'further'));
  expect(readFileSync(join(folder, 'further', 'gate.safetensors'))).toEqual(
    readFileSync(join(fitted, 'gate.safetensors')),
  );
  const again = await engine.gates.loadMixture(join(folder, 'further'), adapters);
  const [moved] = await engine.logprobs(mixture, sequences);
  const [reloaded] = await engine.logprobs(again, sequences);
  expect([...moved!]).not.toEqual([...same!]);
  moved!.forEach((value, t) => {
    expect(reloaded![t]).toBeCloseTo(value, 5);
  });
});

test('merges: the sum of one adapter is itself, weights that cancel are the base', async () => {
  const a = await trained('a', 4);
  const sequences = [tinyPrompt(8, 15)];
  const [own] = await engine.logprobs(a, sequences);
  const [plain] = await engine.logprobs(BASE, sequences);
  const [sum] = await engine.logprobs(
    await engine.mergeAdapters('sum', [{ adapter: a, weight: 1 }]),
    sequences,
  );
  const none = await engine.mergeAdapters('none', [
    { adapter: a, weight: 0.7 },
    { adapter: a, weight: -0.7 },
  ]);
  const [cancelled] = await engine.logprobs(none, sequences);
  own!.forEach((value, t) => {
    expect(sum![t]).toBeCloseTo(value, 4);
    expect(cancelled![t]).toBeCloseTo(plain![t]!, 4);
  });
  expect([...own!]).not.toEqual([...plain!]);
});

test('folders: an adapter, a mixture and a training state come back as the same bytes', async () => {
  const a = await trained('a', 5);
  await engine.saveAdapter(a, join(folder, 'adapters', 'a'));
  expect(readdirSync(join(folder, 'adapters', 'a')).sort()).toEqual([
    'adapter_config.json',
    'adapter_model.safetensors',
  ]);
  const loaded = await engine.loadAdapter(join(folder, 'adapters', 'a'));
  expect(loaded.id).toMatch(/^a~/);
  expect(await engine.hash(loaded)).toBe(await engine.hash(a));

  const mixture = await engine.gates.createMixture({ name: 'm', adapters: [a, loaded] });
  await engine.forwardBackward(mixture, data(5), { name: 'cross_entropy' });
  await engine.optimStep(mixture, { learningRate: 0.1 });
  await engine.gates.saveMixture(mixture, join(folder, 'composed'));
  const again = await engine.gates.loadMixture(join(folder, 'composed'), [a, loaded]);
  expect(await engine.hash(again)).toBe(await engine.hash(mixture));
  await expect(engine.gates.loadMixture(join(folder, 'composed'), [a])).rejects.toThrow(/2 adapters/);

  const file = join(folder, 'state.safetensors');
  await engine.saveState(a, file);
  const resumed = await engine.createAdapter({ name: 'resumed', rank: 4, alpha: 8, seed: 99 });
  await engine.loadState(resumed, file);
  for (const adapter of [a, resumed]) {
    await engine.forwardBackward(adapter, data(6), { name: 'cross_entropy' });
    await engine.optimStep(adapter, { learningRate: 0.01 });
  }
  expect(await engine.hash(resumed)).toBe(await engine.hash(a));
  await engine.saveState(a, file);
  const bytes = readFileSync(file);
  await engine.saveState(resumed, file);
  expect(readFileSync(file).equals(bytes)).toBe(true);
});

test('a trained adapter is sampled with its newest weights', async () => {
  const adapter = await engine.createAdapter({ name: 'moving', rank: 4, alpha: 8, seed: 6 });
  const greedy = async () => {
    const request = { policy: adapter, tokens: [1, 2, 3], maxTokens: 1, temperature: 0, seed: 0, stop: [] };
    return engine.sample(request);
  };
  const before = await greedy();
  const wanted = (before.tokens[0]! + 1) % tinyConfig.vocabularySize;
  for (let step = 0; step < 30; step++) {
    await engine.forwardBackward(
      adapter,
      [{ tokens: [1, 2, 3], targets: [0, 0, wanted], weights: [0, 0, 1] }],
      {
        name: 'cross_entropy',
      },
    );
    await engine.optimStep(adapter, { learningRate: 0.02 });
  }
  expect((await greedy()).tokens).toEqual([wanted]);
});

test('released handles and a closed engine are refused', async () => {
  const adapter = await engine.createAdapter({ name: 'gone', rank: 1, alpha: 1, seed: 1 });
  await engine.release(adapter);
  await expect(engine.hash(adapter)).rejects.toThrow(/holds no adapter "gone"/);
  const other = await openLocalEngine({ model: join(folder, 'model') });
  await other.close();
  await expect(other.createAdapter({ name: 'x', rank: 1, alpha: 1, seed: 1 })).rejects.toThrow(/closed/);
  await expect(openLocalEngine({ model: join(folder, 'nowhere') })).rejects.toThrow(/nowhere is missing/);
});
