import { afterAll, beforeAll, expect, test } from 'vitest';
import { Random } from '../../../run/random.js';
import type { Datum, Loss } from '../../contract.js';
import type { ModelConfig } from '../model/config.js';
import { initializeGates } from '../model/gates.js';
import { concatenateAdapters, initializeAdapter, mergeAdapters } from '../model/lora.js';
import { hashParameters, initializeParameters, type Parameters, type Tensor } from '../model/parameters.js';
import { type Model, Trainer } from './trainer.js';

const config: ModelConfig = {
  vocabularySize: 19,
  hiddenSize: 8,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 8,
  intermediateSize: 12,
  ropeTheta: 100,
  rmsEps: 1e-6,
  tied: true,
  context: 32,
  eosTokenIds: [0],
};
const base = initializeParameters(config, 3, { embeddingScale: 0.5 });

let trainer: Trainer;
beforeAll(() => {
  trainer = new Trainer(config, base, { threads: 2, batchTokens: 32 });
});
afterAll(() => trainer.close());

/** Sequences of several lengths; about half of the positions have a weight. */
function someData(seed: number, count = 5): Datum[] {
  const random = new Random(seed);
  return Array.from({ length: count }, (_, i) => {
    const length = 3 + ((i * 5) % 11);
    const list = (draw: () => number) => Array.from({ length }, draw);
    return {
      tokens: list(() => random.int(config.vocabularySize)),
      targets: list(() => random.int(config.vocabularySize)),
      weights: list(() => (random.chance(0.5) ? random.float() : 0)),
      advantages: list(() => random.gaussian()),
      logprobs: list(() => -3 + 0.3 * random.gaussian()),
    };
  });
}

function perturbed(parameters: Parameters, seed: number, scale: number): Record<string, Tensor> {
  const random = new Random(seed);
  return Object.fromEntries(
    Object.entries(parameters).map(([name, { shape, data }]) => [
      name,
      { shape, data: data.map((x) => x + scale * random.gaussian()) },
    ]),
  );
}

/**
 * The gradient, read off one step of AdamW with β₁ = β₂ = 0 and ε → ∞-like: w −= lr·g/(|g| + ε) ≈ (lr/ε)·g.
 */
async function gradientOf(model: Model, data: readonly Datum[], loss: Loss): Promise<Parameters> {
  const before = await trainer.state(model);
  await trainer.forwardBackward(model, data, loss);
  const epsilon = 1e9;
  await trainer.optimStep(model, { learningRate: epsilon, beta1: 0, beta2: 0, epsilon });
  const after = await trainer.state(model);
  await trainer.setState(model, before);
  // The first moment is the gradient itself when β₁ = 0.
  return after.first;
}

/** Central differences along each tensor's own gradient; small tensors also element by element. */
async function checkAgainstDifferences(
  model: Model,
  data: readonly Datum[],
  loss: Loss,
  step = 1e-2,
  tolerance = 2e-2,
): Promise<void> {
  const gradient = await gradientOf(model, data, loss);
  const start = (await trainer.state(model)).parameters;
  const lossAt = async (name: string, direction: Float32Array, amount: number) => {
    const moved = { ...start };
    const { shape, data: values } = start[name] as Tensor;
    moved[name] = { shape, data: values.map((x, i) => x + amount * (direction[i] as number)) };
    await trainer.setParameters(model, moved);
    const { loss: value } = await trainer.forwardBackward(model, data, loss);
    return value;
  };
  for (const [name, { data: g }] of Object.entries(gradient)) {
    const norm = Math.hypot(...g);
    if (norm < 1e-6) continue;
    const direction = g.map((x) => x / norm);
    const numeric =
      ((await lossAt(name, direction, step)) - (await lossAt(name, direction, -step))) / (2 * step);
    expect(Math.abs(numeric - norm) / Math.max(norm, 0.05), `${name}: ${norm} vs ${numeric}`).toBeLessThan(
      tolerance,
    );
  }
  await trainer.setParameters(model, start);
  await trainer.optimStep(model, { learningRate: 0 });
}

test('full training: every parameter has the gradient of central differences', async () => {
  const model = await trainer.add({ kind: 'full' }, perturbed(base, 5, 0.1));
  await checkAgainstDifferences(model, someData(1), { name: 'cross_entropy' });
  const names = Object.keys(await gradientOf(model, someData(1), { name: 'cross_entropy' }));
  expect(names).toEqual(Object.keys(base));
  await trainer.release(model);
});

test('an adapter: A and B have the gradient of central differences under the policy losses', async () => {
  const adapter = initializeAdapter(config, 2, 4, 7);
  const model = await trainer.add(
    { kind: 'adapter', rank: 2, alpha: 4 },
    perturbed(adapter.parameters, 8, 0.2),
  );
  await checkAgainstDifferences(model, someData(2), { name: 'importance_sampling' });
  // Wide bounds: at a bound the loss has a kink, which differences cannot see.
  await checkAgainstDifferences(model, someData(2), { name: 'ppo', clipLow: 1e-6, clipHigh: 1e6 });
  await trainer.release(model);
});

test('log-probabilities: forward alone equals training, and the adapter in the graph equals the merged model', async () => {
  const adapter = initializeAdapter(config, 2, 4, 7);
  const parameters = perturbed(adapter.parameters, 8, 0.2);
  const model = await trainer.add({ kind: 'adapter', rank: 2, alpha: 4 }, parameters);
  const merged = mergeAdapters(config, base, [{ adapter: { rank: 2, alpha: 4, parameters }, weight: 1 }]);
  const whole = await trainer.add({ kind: 'full' }, merged, { trainable: false });
  const data = someData(3);
  const trained = await trainer.forwardBackward(model, data, { name: 'cross_entropy' });
  const alone = await trainer.forward(model, data);
  const asOne = await trainer.forward(whole, data);
  let loss = 0;
  data.forEach((datum, i) => {
    for (let t = 0; t < datum.tokens.length; t++) {
      const weight = datum.weights[t] as number;
      loss -= weight * (trained.logprobs[i]![t] as number);
      if (weight === 0) expect(trained.logprobs[i]![t]).toBe(0);
      else expect(trained.logprobs[i]![t]).toBeLessThan(0);
      expect(alone[i]![t]).toBeCloseTo(trained.logprobs[i]![t] as number, 5);
      expect(asOne[i]![t]).toBeCloseTo(trained.logprobs[i]![t] as number, 4);
    }
  });
  expect(trained.loss).toBeCloseTo(loss, 4);
  await expect(trainer.forwardBackward(whole, data, { name: 'cross_entropy' })).rejects.toThrow(/frozen/);
  await Promise.all([trainer.release(model), trainer.release(whole)]);
});

test('a sequence has the same log-probabilities alone as beside longer ones', async () => {
  const model = await trainer.add({ kind: 'full' }, base, { trainable: false });
  const data = someData(4, 7);
  const together = await trainer.forward(model, data);
  for (const [i, datum] of data.entries()) {
    const [alone] = await trainer.forward(model, [datum]);
    alone!.forEach((value, t) => {
      expect(value).toBeCloseTo(together[i]![t] as number, 5);
    });
  }
  await trainer.release(model);
});

test('causality: a later token changes nothing before it', async () => {
  const model = await trainer.add({ kind: 'full' }, base, { trainable: false });
  const datum = {
    ...someData(5, 1)[0]!,
    tokens: [1, 2, 3, 4, 5, 6],
    targets: [2, 3, 4, 5, 6, 7],
    weights: [1, 1, 1, 1, 1, 1],
  };
  const plain = { tokens: datum.tokens, targets: datum.targets, weights: datum.weights };
  const changed = { ...plain, tokens: [1, 2, 3, 4, 5, 11] };
  const [[a], [b]] = [await trainer.forward(model, [plain]), await trainer.forward(model, [changed])];
  expect([...a!.slice(0, 5)]).toEqual([...b!.slice(0, 5)]);
  expect(a![5]).not.toBe(b![5]);
  await trainer.release(model);
});

const mixture = () => {
  const adapters = [
    {
      ...initializeAdapter(config, 2, 4, 21),
      parameters: perturbed(initializeAdapter(config, 2, 4, 21).parameters, 22, 0.2),
    },
    {
      ...initializeAdapter(config, 3, 3, 23),
      parameters: perturbed(initializeAdapter(config, 3, 3, 23).parameters, 24, 0.2),
    },
  ];
  return {
    adapters,
    frozen: concatenateAdapters(config, adapters),
    mode: { kind: 'gates', ranks: [2, 3] } as const,
  };
};

test('gates at zero are the base; gates that always choose a slot are that adapter', async () => {
  const { adapters, frozen, mode } = mixture();
  const data = someData(6);
  const gates = initializeGates(config, 2);
  const model = await trainer.add(mode, gates, { frozen });
  for (const slot of [0, 1, 2]) {
    const chosen = Object.fromEntries(
      Object.entries(gates).map(([name, { shape, data: zeros }]) => [
        name,
        {
          shape,
          data: name.endsWith('bias') ? zeros.map((_, i) => (i === slot && slot > 0 ? 1 : 0)) : zeros,
        },
      ]),
    );
    await trainer.setParameters(model, chosen);
    const parts = slot === 0 ? [] : [{ adapter: adapters[slot - 1]!, weight: 1 }];
    const whole = await trainer.add({ kind: 'full' }, mergeAdapters(config, base, parts), {
      trainable: false,
    });
    const [mixed, merged] = [await trainer.forward(model, data), await trainer.forward(whole, data)];
    mixed.forEach((row, i) => {
      row.forEach((value, t) => {
        expect(value).toBeCloseTo(merged[i]![t] as number, 4);
      });
    });
    await trainer.release(whole);
  }
  await trainer.release(model);
});

test('gates learn straight through while base and adapters stay the same bytes', async () => {
  const { adapters, frozen, mode } = mixture();
  const gates = initializeGates(config, 2);
  const hashes = () => [
    hashParameters(base),
    hashParameters(frozen),
    ...adapters.map((a) => hashParameters(a.parameters)),
  ];
  const before = hashes();
  const model = await trainer.add(mode, gates, { frozen });
  // Text that adapter 2 finds likely: greedy targets of the model merged with it.
  const whole = await trainer.add(
    { kind: 'full' },
    mergeAdapters(config, base, [{ adapter: adapters[1]!, weight: 1 }]),
    {
      trainable: false,
    },
  );
  const random = new Random(31);
  const data: Datum[] = [];
  for (let i = 0; i < 12; i++) {
    const tokens = Array.from({ length: 6 }, () => random.int(config.vocabularySize));
    const weights = tokens.map(() => 1 / 72);
    let best: { targets: number[]; logp: Float32Array } | null = null;
    for (let target = 0; target < config.vocabularySize; target++) {
      const [logp] = await trainer.forward(whole, [{ tokens, targets: tokens.map(() => target), weights }]);
      best ??= { targets: tokens.map(() => 0), logp: Float32Array.from(logp!) };
      logp!.forEach((value, t) => {
        if (value > best!.logp[t]!) {
          best!.logp[t] = value;
          best!.targets[t] = target;
        }
      });
    }
    data.push({ tokens, targets: best!.targets, weights });
  }
  const losses: number[] = [];
  for (let step = 0; step < 25; step++) {
    losses.push((await trainer.forwardBackward(model, data, { name: 'cross_entropy' })).loss);
    await trainer.optimStep(model, { learningRate: 0.1, gradientClip: 1 });
  }
  const target = (await trainer.forward(whole, data)).reduce(
    (sum, row, i) => sum - row.reduce((s, value, t) => s + value * (data[i]!.weights[t] as number), 0),
    0,
  );
  // It starts at the base's loss and covers most of the way to the adapter's.
  expect(losses.at(-1)!).toBeLessThan(losses[0]! - 0.5 * (losses[0]! - target));
  expect(hashes()).toEqual(before);
  expect(hashParameters(model.parameters)).not.toBe(hashParameters(gates));
  await Promise.all([trainer.release(model), trainer.release(whole)]);
});

test('training is the same bytes again, and goes on to the same bytes from a saved state', async () => {
  const run = async (interrupt: boolean) => {
    const { parameters } = initializeAdapter(config, 2, 4, 7);
    const mode = { kind: 'adapter', rank: 2, alpha: 4 } as const;
    let model = await trainer.add(mode, parameters);
    for (let step = 0; step < 4; step++) {
      await trainer.forwardBackward(model, someData(step), { name: 'cross_entropy' });
      await trainer.optimStep(model, { learningRate: 0.01, weightDecay: 0.1, gradientClip: 0.5 });
      if (interrupt && step === 1) {
        const state = await trainer.state(model);
        await trainer.release(model);
        model = await trainer.add(mode, initializeAdapter(config, 2, 4, 99).parameters);
        await trainer.setState(model, state);
      }
    }
    const hash = hashParameters(model.parameters);
    await trainer.release(model);
    return hash;
  };
  const first = await run(false);
  expect(await run(false)).toBe(first);
  expect(await run(true)).toBe(first);
});

test('gradients of several calls add up; the norm is reported before clipping', async () => {
  const model = await trainer.add({ kind: 'full' }, base);
  const data = someData(9, 6);
  await trainer.forwardBackward(model, data, { name: 'cross_entropy' });
  const { gradientNorm: whole } = await trainer.optimStep(model, { learningRate: 0, gradientClip: 1e-3 });
  for (const datum of data) await trainer.forwardBackward(model, [datum], { name: 'cross_entropy' });
  const { gradientNorm: parts } = await trainer.optimStep(model, { learningRate: 0 });
  expect(parts).toBeCloseTo(whole, 4);
  const own = await gradientOf(model, data, { name: 'cross_entropy' });
  const norm = Math.sqrt(
    Object.values(own).reduce((sum, { data: g }) => sum + g.reduce((s, x) => s + x * x, 0), 0),
  );
  expect(whole).toBeCloseTo(norm, 4);
  await expect(trainer.optimStep(model, { learningRate: 1 })).rejects.toThrow(/forwardBackward first/);
  await trainer.release(model);
});

test('wrong data are refused by datum and field', async () => {
  const model = await trainer.add({ kind: 'full' }, base);
  const datum = { tokens: [1, 2], targets: [2, 3], weights: [1, 1] };
  const run = (data: Datum[], loss: Loss = { name: 'cross_entropy' }) =>
    trainer.forwardBackward(model, data, loss);
  await expect(run([datum, { ...datum, tokens: [1, 19] }])).rejects.toThrow(/datum 1: tokens\[1\] is 19/);
  await expect(run([{ ...datum, weights: [1] }])).rejects.toThrow(/datum 0: weights has 1/);
  await expect(run([datum], { name: 'importance_sampling' })).rejects.toThrow(/needs advantages/);
  const long = Array.from({ length: 33 }, () => 1);
  await expect(run([{ tokens: long, targets: long, weights: long }])).rejects.toThrow(/33 tokens/);
  // A refused call leaves the trainer usable.
  await run([datum]);
  await trainer.release(model);
});
