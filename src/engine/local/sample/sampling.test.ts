import { afterAll, describe, expect, test } from 'vitest';
import type { SampleResult } from '../../contract.js';
import type { ModelConfig } from '../model/config.js';
import { gateBias, gateWeight, initializeGates } from '../model/gates.js';
import { concatenateAdapters } from '../model/lora.js';
import type { Parameters } from '../model/parameters.js';
import { Trainer } from '../train/trainer.js';
import type { TrainingMode } from '../train/training-graph.js';
import { chooseToken } from './choose-token.js';
import type { Job } from './job.js';
import type { PolicyWeights } from './policy.js';
import { SamplingCore } from './sampling-core.js';
import { tinyAdapter, tinyConfig, tinyParameters, tinyPrompt } from './test-model.js';

const base = tinyParameters();
const trainer = new Trainer(tinyConfig, base, { threads: 1 });
afterAll(() => trainer.close());
let ids = 0;
function job(fields: Partial<Job> & { readonly prompt: readonly number[] }): Job {
  const { prompt, ...rest } = fields;
  return {
    id: ++ids,
    policy: 'base',
    tokens: Int32Array.from(prompt),
    maxTokens: 20,
    temperature: 1,
    seed: 1,
    stop: [0],
    sequence: null,
    routes: false,
    ...rest,
  };
}

function core(
  policies: Readonly<Record<string, PolicyWeights>> = {},
  options: { rows?: number; config?: ModelConfig; parameters?: Parameters } = {},
) {
  const { rows = 16, config = tinyConfig, parameters = base } = options;
  const made = new SamplingCore(config, parameters, { rows, context: config.context });
  made.addPolicy('base', { kind: 'base' });
  for (const [key, weights] of Object.entries(policies)) made.addPolicy(key, weights);
  return made;
}

/** Runs until nothing is left; results in the order of the jobs. */
async function run(sampling: SamplingCore, jobs: readonly Job[]): Promise<SampleResult[]> {
  const results = new Map<number, SampleResult>();
  for (const one of jobs) sampling.submit(one);
  while (sampling.busy) {
    const { completions, failure } = await sampling.step();
    if (failure) throw new Error(failure.message);
    for (const { id, result } of completions) results.set(id, result);
  }
  return jobs.map((one) => results.get(one.id) as SampleResult);
}

/** Log-probabilities of the completion in the training graph. */
async function trainingLogprobs(
  mode: TrainingMode,
  parameters: Parameters,
  prompt: readonly number[],
  completion: readonly number[],
  other: { config?: ModelConfig; base?: Parameters; frozen?: Parameters } = {},
): Promise<number[]> {
  const own =
    other.config === undefined ? null : new Trainer(other.config, other.base ?? base, { threads: 1 });
  try {
    const taking = own ?? trainer;
    const model = await taking.add(mode, parameters, other.frozen ? { frozen: other.frozen } : {});
    const all = [...prompt, ...completion];
    const weights = all.slice(1).map((_, i) => (i >= prompt.length - 1 ? 1 : 0));
    const data = [{ tokens: all.slice(0, -1), targets: all.slice(1), weights }];
    const [logprobs] = await taking.forward(model, data);
    return [...(logprobs as Float32Array)].slice(prompt.length - 1);
  } finally {
    await own?.close();
  }
}

function expectClose(actual: readonly number[], wanted: readonly number[], within = 1e-4): void {
  expect(actual).toHaveLength(wanted.length);
  for (const [i, value] of actual.entries())
    expect(Math.abs(value - (wanted[i] as number))).toBeLessThan(within);
}

describe('log-probabilities equal the training graph’s', () => {
  test.each([1, 2, 5, 70])('base, prompt of %i tokens', async (length) => {
    const prompt = tinyPrompt(length, length);
    const [result] = await run(core(), [job({ prompt, maxTokens: 40, temperature: 1.3, stop: [] })]);
    expect(result?.tokens).toHaveLength(40);
    const wanted = await trainingLogprobs({ kind: 'full' }, base, prompt, result?.tokens ?? []);
    expectClose(result?.logprobs ?? [], wanted);
  });

  test('a head of its own, no shared key heads, odd sizes', async () => {
    const config: ModelConfig = {
      ...tinyConfig,
      tied: false,
      heads: 3,
      kvHeads: 3,
      headDim: 8,
      hiddenSize: 21,
      intermediateSize: 33,
      vocabularySize: 37,
      layers: 1,
      ropeTheta: 500,
    };
    const parameters = tinyParameters(config, 3);
    const prompt = tinyPrompt(4, 7, config);
    const [result] = await run(core({}, { config, parameters }), [job({ prompt, stop: [] })]);
    const { tokens = [], logprobs = [] } = result ?? {};
    expectClose(
      logprobs,
      await trainingLogprobs({ kind: 'full' }, parameters, prompt, tokens, { config, base: parameters }),
    );
  });

  test('adapter', async () => {
    const adapter = tinyAdapter(7);
    const prompt = tinyPrompt(1, 9);
    const [result] = await run(core({ a: { kind: 'adapter', adapter } }), [
      job({ prompt, policy: 'a', stop: [] }),
    ]);
    const { tokens = [], logprobs = [] } = result ?? {};
    const mode: TrainingMode = { kind: 'adapter', rank: adapter.rank, alpha: adapter.alpha };
    expectClose(logprobs, await trainingLogprobs(mode, adapter.parameters, prompt, tokens));
    const other = await trainingLogprobs({ kind: 'full' }, base, prompt, tokens);
    expect(Math.max(...logprobs.map((x, i) => Math.abs(x - (other[i] as number))))).toBeGreaterThan(0.01);
  });
});

describe('the same request gives the same bits', () => {
  const requests = Array.from({ length: 12 }, (_, i) =>
    job({
      prompt: tinyPrompt(i, 1 + ((i * 17) % 90)),
      seed: i,
      maxTokens: 5 + 3 * i,
      temperature: i % 3 ? 1 : 0,
    }),
  );

  test('alone, in a crowd, in any order of arrival, through few rows or many', async () => {
    const alone: SampleResult[] = [];
    for (const request of requests) alone.push(...(await run(core(), [request])));
    expect(await run(core(), requests)).toEqual(alone);
    const backwards = [...requests].reverse();
    expect((await run(core({}, { rows: 3 }), backwards)).reverse()).toEqual(alone);
    const late = core({}, { rows: 5 });
    const results = new Map<number, SampleResult>();
    for (let turn = 0; turn < 12 || late.busy; turn++) {
      const request = requests[(turn * 5) % 12];
      if (turn < 12 && request) late.submit(request);
      for (const { id, result } of (await late.step()).completions) results.set(id, result);
    }
    expect(requests.map((request) => results.get(request.id))).toEqual(alone);
  });

  test('a continued sequence equals a fresh prefill, cached or evicted', async () => {
    const play = async (sampling: SamplingCore, name: (i: number) => string | null) => {
      const transcripts: number[][] = [0, 1, 2, 3].map((i) => tinyPrompt(i, 20 + i));
      const logprobs: number[] = [];
      for (let turn = 0; turn < 4; turn++) {
        const results = await run(
          sampling,
          transcripts.map((prompt, i) =>
            job({ prompt, seed: 10 * turn + i, maxTokens: 12, sequence: name(i) }),
          ),
        );
        results.forEach((result, i) => {
          logprobs.push(...result.logprobs);
          transcripts[i]?.push(...result.tokens, ...tinyPrompt(100 + 10 * turn + i, 3 + 5 * turn));
        });
      }
      return { transcripts, logprobs };
    };
    const fresh = await play(core(), () => null);
    expect(await play(core(), (i) => `s${i}`)).toEqual(fresh);
    expect(await play(core({}, { rows: 2 }), (i) => `s${i}`)).toEqual(fresh);
    expect(await play(core({}, { rows: 1 }), (i) => `s${i}`)).toEqual(fresh);
  });

  test('a sequence whose history was changed is computed anew from there', async () => {
    const sampling = core();
    const prompt = tinyPrompt(1, 40);
    await run(sampling, [job({ prompt, sequence: 's' })]);
    const changed = prompt.map((token, i) => (i === 25 ? (token % 39) + 1 : token));
    const [again] = await run(sampling, [job({ prompt: changed, sequence: 's' })]);
    const [fresh] = await run(core(), [job({ prompt: changed })]);
    expect(again).toEqual(fresh);
  });

  test('whatever policies are sampled at the same time', async () => {
    const policies: Record<string, PolicyWeights> = {};
    for (const k of [0, 1, 2, 3, 4, 5]) policies[`a${k}`] = { kind: 'adapter', adapter: tinyAdapter(k) };
    const jobs = Object.keys(policies).flatMap((policy, k) =>
      [0, 1].map((i) => job({ prompt: tinyPrompt(i, 10), policy, seed: k })),
    );
    const together = await run(core(policies), jobs);
    const apart: SampleResult[] = [];
    for (const one of jobs) apart.push(...(await run(core(policies), [one])));
    expect(together).toEqual(apart);
    expect(new Set(together.map((result) => JSON.stringify(result.logprobs))).size).toBe(12);
  });
});

describe('how a completion ends', () => {
  test('by a stop token, which it keeps; by length; by the context', async () => {
    const prompt = tinyPrompt(2, 10);
    const [free] = await run(core(), [job({ prompt, stop: [], maxTokens: 30 })]);
    const stop = free?.tokens[4] as number;
    const first = free?.tokens.indexOf(stop) as number;
    const [stopped] = await run(core(), [job({ prompt, stop: [stop], maxTokens: 30 })]);
    expect(stopped).toEqual({
      tokens: free?.tokens.slice(0, first + 1),
      logprobs: free?.logprobs.slice(0, first + 1),
      stopReason: 'stop',
    });
    expect(free?.stopReason).toBe('length');
    const long = tinyPrompt(3, tinyConfig.context - 3);
    const [full, none] = await run(core(), [
      job({ prompt: long, stop: [], maxTokens: 30 }),
      job({ prompt: [...long, 1, 1, 1] }),
    ]);
    expect(full?.stopReason).toBe('context');
    expect(full?.tokens).toHaveLength(3);
    expect(none).toEqual({ tokens: [], logprobs: [], stopReason: 'context' });
  });

  test('greedy takes the most probable token at every step', async () => {
    const prompt = tinyPrompt(5, 6);
    const [greedy] = await run(core(), [job({ prompt, temperature: 0, stop: [], maxTokens: 8 })]);
    const tokens = [...prompt];
    for (const token of greedy?.tokens ?? []) {
      const candidates = await run(
        core(),
        Array.from({ length: 150 }, (_, seed) => job({ prompt: tokens, seed, maxTokens: 1, temperature: 3 })),
      );
      const best = candidates.reduce((a, b) =>
        (a.logprobs[0] as number) >= (b.logprobs[0] as number) ? a : b,
      );
      expect(best.tokens[0]).toBe(token);
      tokens.push(token);
    }
  });
});

describe('drawing a token', () => {
  const probabilities = Float32Array.of(9, 0.5, 0, 0.25, 0.25, 9);
  test('walks the distribution by the uniform number', () => {
    const at = (u: number) => chooseToken(probabilities, 1, 4, 1, u);
    expect([0, 0.49, 0.5, 0.74, 0.75, 0.9999999].map(at)).toEqual([0, 0, 2, 2, 3, 3]);
  });
  test('sharpens by the temperature: weights p^(1/T)', () => {
    // T = 1/2: weights 1/4, 1/16, 1/16 → 2/3, 1/6, 1/6; T = 2: √½, ½, ½ → 0.414, 0.293, 0.293
    const at = (t: number) => (u: number) => chooseToken(probabilities, 1, 4, t, u);
    expect([0.66, 0.67, 0.83, 0.84].map(at(0.5))).toEqual([0, 2, 2, 3]);
    expect([0.41, 0.42, 0.7, 0.71].map(at(2))).toEqual([0, 2, 2, 3]);
  });
  test('greedy takes the lower id in a tie', () => {
    expect(chooseToken(Float32Array.of(0.2, 0.4, 0.4), 0, 3, 0, 0.99)).toBe(1);
  });
  test('frequencies follow the model’s probabilities at each temperature', async () => {
    const prompt = tinyPrompt(9, 5);
    const n = 4000;
    for (const temperature of [1, 0.5]) {
      const draws = await run(
        core(),
        Array.from({ length: n }, (_, seed) => job({ prompt, seed, maxTokens: 1, temperature })),
      );
      const logprob = new Map(draws.map((draw) => [draw.tokens[0] as number, draw.logprobs[0] as number]));
      const seen = new Map<number, number>();
      for (const { tokens } of draws) seen.set(tokens[0] as number, (seen.get(tokens[0] as number) ?? 0) + 1);
      const total = [...logprob.values()].reduce((sum, x) => sum + Math.exp(x / temperature), 0);
      for (const [token, count] of seen) {
        const p = Math.exp((logprob.get(token) as number) / temperature) / total;
        // Five standard deviations of a binomial count.
        expect(Math.abs(count - n * p)).toBeLessThan(5 * Math.sqrt(n * p * (1 - p)) + 2);
      }
    }
  });
});

describe('mixtures', () => {
  const adapters = [tinyAdapter(1), tinyAdapter(2, 2, 6), tinyAdapter(3)];
  const prompts = [0, 1, 2].map((i) => tinyPrompt(i, 8 + i));
  const jobs = (policy: string, routes = false) =>
    prompts.map((prompt, seed) => job({ prompt, seed, policy, routes, stop: [] }));
  const forced = (slot: number): PolicyWeights => {
    const gates = initializeGates(tinyConfig, 3);
    for (let layer = 0; layer < 2; layer++) (gates[gateBias(layer)] as { data: Float32Array }).data[slot] = 1;
    return { kind: 'mixture', adapters, gates };
  };

  test('gates at zero are the base', async () => {
    const gates = initializeGates(tinyConfig, 3);
    const sampling = core({ m: { kind: 'mixture', adapters, gates } });
    const mixed = await run(sampling, jobs('m', true));
    const plain = await run(sampling, jobs('base'));
    expect(mixed.map((result) => result.tokens)).toEqual(plain.map((result) => result.tokens));
    for (const [i, { logprobs }] of mixed.entries()) expectClose(logprobs, plain[i]?.logprobs ?? [], 1e-6);
    expect(mixed.every((result) => result.routes?.every((layers) => layers.join() === '0,0'))).toBe(true);
  });

  test.each([1, 2, 3])('gates forced to slot %i are that adapter', async (slot) => {
    const adapter = adapters[slot - 1];
    if (!adapter) throw new Error('no such adapter');
    const sampling = core({ m: forced(slot), a: { kind: 'adapter', adapter } });
    const mixed = await run(sampling, jobs('m', true));
    const plain = await run(sampling, jobs('a'));
    expect(mixed.map((result) => result.tokens)).toEqual(plain.map((result) => result.tokens));
    for (const [i, { logprobs }] of mixed.entries()) expectClose(logprobs, plain[i]?.logprobs ?? []);
    for (const { routes, tokens } of mixed) {
      expect(routes).toEqual(tokens.map(() => [slot, slot]));
    }
  });

  test('gates that choose by the token equal the training graph, and the routes are theirs', async () => {
    const gates = initializeGates(tinyConfig, 3);
    const random = tinyAdapter(50, 4).parameters;
    const source = Object.values(random)[0]?.data as Float32Array;
    for (let layer = 0; layer < 2; layer++) {
      const { data } = gates[gateWeight(layer)] as { data: Float32Array };
      for (let i = 0; i < data.length; i++) data[i] = source[(i + 37 * layer) % source.length] as number;
    }
    const results = await run(core({ m: { kind: 'mixture', adapters, gates } }), jobs('m', true));
    expect(new Set(results.flatMap((result) => result.routes?.flat() ?? [])).size).toBeGreaterThan(2);
    const mode: TrainingMode = { kind: 'gates', ranks: adapters.map((adapter) => adapter.rank) };
    const frozen = concatenateAdapters(tinyConfig, adapters);
    for (const [i, { tokens, logprobs }] of results.entries()) {
      expectClose(logprobs, await trainingLogprobs(mode, gates, prompts[i] ?? [], tokens, { frozen }));
    }
  });
});
