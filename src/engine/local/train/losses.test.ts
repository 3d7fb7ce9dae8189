import { InferenceSession, Tensor } from 'onnxruntime-node';
import { expect, test } from 'vitest';
import { Graph } from '../graph/graph.js';
import { type LossName, lossByName } from './losses.js';

/** Two tokens: new log-probabilities −1 and −2, old −1.2 and −1.5, advantages 1 and −1, weights 1. */
const NEW = [-1, -2];
const INPUTS = { weights: [1, 1], advantages: [1, -1], old: [-1.2, -1.5] };

/** Loss and its gradient by the new log-probabilities. */
async function evaluate(
  name: LossName,
  values: { weights: number[]; advantages: number[]; old: number[] },
  logp = NEW,
) {
  const graph = new Graph();
  const count = logp.length;
  const input = graph.input('logp', [count], { trainable: true });
  const loss = lossByName(name, input, graph.input('weights', [count]));
  graph.output('loss', loss);
  graph.output('gradient', graph.gradients(loss, [input])[0]!);
  const session = await InferenceSession.create(graph.toModel(), { logSeverityLevel: 3 });
  const floats = (data: number[]) => new Tensor('float32', Float32Array.from(data), [data.length]);
  const feeds: Record<string, Tensor> = { logp: floats(logp), weights: floats(values.weights) };
  if (name !== 'cross_entropy')
    Object.assign(feeds, { advantages: floats(values.advantages), old: floats(values.old) });
  if (name === 'ppo')
    Object.assign(feeds, {
      clip_low: new Tensor('float32', Float32Array.of(0.8), []),
      clip_high: new Tensor('float32', Float32Array.of(1.2), []),
    });
  const result = await session.run(feeds);
  await session.release();
  return {
    loss: (result.loss!.data as Float32Array)[0],
    gradient: [...(result.gradient!.data as Float32Array)],
  };
}

function expectClose(actual: readonly number[], expected: readonly number[]): void {
  expect(actual).toHaveLength(expected.length);
  actual.forEach((value, i) => {
    expect(value).toBeCloseTo(expected[i] as number, 5);
  });
}

test('cross-entropy is the weighted negative log-likelihood, its gradient −w', async () => {
  const { loss, gradient } = await evaluate('cross_entropy', { ...INPUTS, weights: [0.5, 2] });
  expect(loss).toBeCloseTo(4.5, 5);
  expectClose(gradient, [-0.5, -2]);
});

test('importance sampling: ratios e^0.2 and e^−0.5', async () => {
  const { loss, gradient } = await evaluate('importance_sampling', INPUTS);
  expect(loss).toBeCloseTo(-0.614872, 5);
  expectClose(gradient, [-1.221403, 0.606531]);
});

test('ppo clips both tokens: loss −(1.2 − 0.8), no gradient', async () => {
  const { loss, gradient } = await evaluate('ppo', INPUTS);
  expect(loss).toBeCloseTo(-0.4, 5);
  expectClose(gradient, [0, 0]);
});

test('ppo lets gradients through inside the bounds and where clipping would raise the objective', async () => {
  // Ratios e^0.1 = 1.105171 (inside), e^0.5 = 1.648721 with A = −1 and e^−1 = 0.367879 with A = 1: in the last two
  // min() takes the unclipped term. Weights scale both.
  const { loss, gradient } = await evaluate(
    'ppo',
    { weights: [1, 0.5, 2], advantages: [1, -1, 1], old: [-1.1, -1.5, -1] },
    [-1, -1, -2],
  );
  expect(loss).toBeCloseTo(-(1.105171 - 0.5 * 1.648721 + 2 * 0.367879), 5);
  expectClose(gradient, [-1.105171, 0.5 * 1.648721, -2 * 0.367879]);
});
