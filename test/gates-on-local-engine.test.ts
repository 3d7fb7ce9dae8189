import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GateExample } from '../src/composition/examples.js';
import { toData } from '../src/composition/examples.js';
import { fitGates } from '../src/composition/fit.js';
import type { AdapterHandle, PolicyRef } from '../src/engine/contract.js';
import { type LocalEngine, openLocalEngine } from '../src/engine/local/engine.js';
import { writeModelFolder } from '../src/engine/local/folder/model-folder.js';
import { transposeLinears } from '../src/engine/local/model/parameters.js';
import { tinyConfig, tinyParameters, tinyPrompt } from '../src/engine/local/sample/test-model.js';
import { Random } from '../src/run/random.js';

let folder: string;
let engine: LocalEngine;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trace-gates-'));
  const vocab = Object.fromEntries(Array.from({ length: tinyConfig.vocabularySize }, (_, i) => [`w${i}`, i]));
  const parameters = new Map(Object.entries(transposeLinears(Object.entries(tinyParameters()))));
  writeModelFolder(join(folder, 'model'), tinyConfig, parameters, {
    tokenizer: {
      version: '1.0',
      added_tokens: [],
      normalizer: null,
      pre_tokenizer: { type: 'Whitespace' },
      post_processor: null,
      decoder: null,
      model: { type: 'WordLevel', vocab, unk_token: 'w0' },
    },
    tokenizerConfig: { tokenizer_class: 'PreTrainedTokenizerFast' },
    chatTemplate: '{{ messages }}',
  });
  engine = await openLocalEngine({ model: join(folder, 'model') });
});
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Random words, a cue, and the answer that belongs to the cue: three times over. */
function episodes(cue: number, answer: number, seed: number, count: number): GateExample[] {
  return Array.from({ length: count }, (_, i) => {
    const tokens: number[] = [];
    const spans: [number, number][] = [];
    for (let turn = 0; turn < 3; turn++) {
      tokens.push(...tinyPrompt(seed * 1000 + i * 10 + turn, 4 + turn), cue);
      spans.push([tokens.length, tokens.length + 1]);
      tokens.push(answer);
    }
    return { tokens, spans };
  });
}

/** Mean negative log-likelihood of the answers. */
async function nll(policy: PolicyRef, examples: readonly GateExample[]): Promise<number> {
  const logprobs = await engine.logprobs(
    policy,
    examples.map((example) => example.tokens),
  );
  const values = examples.flatMap(({ spans }, i) => spans.map(([start]) => -logprobs[i]![start - 1]!));
  return values.reduce((a, b) => a + b, 0) / values.length;
}

async function expert(name: string, cue: number, answer: number): Promise<AdapterHandle> {
  const adapter = await engine.createAdapter({ name, rank: 4, alpha: 8, seed: cue });
  for (let step = 0; step < 30; step++) {
    await engine.forwardBackward(adapter, toData(episodes(cue, answer, step, 8)), { name: 'cross_entropy' });
    await engine.optimStep(adapter, { learningRate: 0.02, gradientClip: 1 });
  }
  return adapter;
}

test('gates fitted to the episodes of two experts beat each expert and the base, and move nothing else', async () => {
  const adapters = [await expert('first', 5, 7), await expert('second', 6, 8)];
  const data = [...episodes(5, 7, 101, 24), ...episodes(6, 8, 102, 24)];
  const held = [...episodes(5, 7, 201, 12), ...episodes(6, 8, 202, 12)];
  const frozen = () =>
    Promise.all(([{ kind: 'base' }, ...adapters] as PolicyRef[]).map((policy) => engine.hash(policy)));
  const before = await frozen();

  const fitted = async () => {
    const mixture = await engine.gates.createMixture({ name: 'mixture', adapters });
    const options = { epochs: 4, learningRate: 0.02, warmupSteps: 5, batchTokens: 128 };
    return { mixture, result: await fitGates(engine, mixture, data, options, new Random(1)) };
  };
  const { mixture, result } = await fitted();
  // Two layers, hidden size 32, three slots.
  expect(engine.gates.parameterCount(mixture)).toBe(2 * (32 * 3 + 3));
  expect(result.epochLoss.at(-1)!).toBeLessThan(result.epochLoss[0]!);
  const mixed = await nll(mixture, held);
  const alone = [await nll({ kind: 'base' }, held)];
  for (const adapter of adapters) alone.push(await nll(adapter, held));
  expect(mixed).toBeLessThan(Math.min(...alone) / 2);

  expect(await frozen()).toEqual(before);
  const again = await fitted();
  expect(await engine.hash(again.mixture)).toBe(await engine.hash(mixture));
});
