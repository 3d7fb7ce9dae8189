import { InferenceSession, Tensor } from 'onnxruntime-node';
import { expect, test } from 'vitest';
import { Graph } from './graph.js';
import { multiply, reshape, softmax, straightThroughTop1, sumAll, top1 } from './ops/index.js';
import { GraphError, type Value } from './value.js';

const LOGITS = Float32Array.of(0, 0, 0, 1, 3, 2, -1, 0.5, 0.5, 2, -4, 2);
const PROBE = Float32Array.of(0.3, -1, 2, 0.7, 0.1, -0.4, 1.5, -0.2, 0.9, 0.6, 0.8, -1.1);

async function run(build: (logits: Value) => Value) {
  const graph = new Graph();
  const logits = graph.input('logits', ['n', 3], { trainable: true });
  const y = build(logits);
  const loss = sumAll(multiply(y, graph.input('probe', ['n', 3])));
  graph.output('y', y);
  if (y.requiresGradient) graph.output('gradient', graph.gradients(loss, [logits])[0]!);
  const session = await InferenceSession.create(graph.toModel(), { logSeverityLevel: 3 });
  const result = await session.run({
    logits: new Tensor('float32', LOGITS, [4, 3]),
    probe: new Tensor('float32', PROBE, [4, 3]),
  });
  await session.release();
  return {
    y: [...(result.y!.data as Float32Array)],
    gradient: result.gradient?.data as Float32Array | undefined,
  };
}

test('top-1 is one-hot and a tie goes to the lower slot', async () => {
  const { y, gradient } = await run(top1);
  expect(y).toEqual([1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0]);
  expect(gradient).toBeUndefined();
});

test('straight through: the value of top-1, the gradient of softmax', async () => {
  const hard = await run(straightThroughTop1);
  const soft = await run(softmax);
  expect(hard.y).toEqual([1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0]);
  expect(hard.gradient).toEqual(soft.gradient);
  expect(soft.gradient!.some((value) => Math.abs(value) > 0.1)).toBe(true);
});

test('shapes are checked when the graph is built, and the error names the node', () => {
  const graph = new Graph();
  const a = graph.input('a', ['rows', 4]);
  const b = graph.input('b', [3, 4]);
  expect(() => graph.scope('layer0', () => multiply(a, graph.input('c', [5])))).toThrow(GraphError);
  expect(() => graph.scope('layer0', () => multiply(a, b))).toThrow(
    /layer0\/Mul_0: shapes \[rows, 4\] and \[3, 4\]/,
  );
  expect(() => reshape(a, ['rows', 5])).toThrow(/Reshape_0/);
  expect(() => graph.gradients(a, [b])).toThrow(/must be a scalar/);
  expect(() => graph.input('a', [1])).toThrow(/input a exists already/);
});
