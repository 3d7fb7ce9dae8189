import { InferenceSession, Tensor } from 'onnxruntime-node';
import { describe, expect, test } from 'vitest';
import { Random } from '../../../run/random.js';
import type { Shape } from './dims.js';
import { Graph } from './graph.js';
import {
  adaptedMatmul,
  add,
  causalAttention,
  concat,
  exp,
  gatherRows,
  logProbability,
  matmul,
  multiply,
  negate,
  reshape,
  rmsNorm,
  rotary,
  rotaryAngles,
  scale,
  softmax,
  split,
  subtract,
  sumAll,
  swiglu,
  transpose,
} from './ops/index.js';
import type { Value } from './value.js';

/**
 * Checks a gradient rule against central differences. The result of `build` is contracted with fixed random
 * numbers to a scalar; the sum's derivative by every element of every input is compared with
 * (f(x + h) − f(x − h)) / 2h. In float32 with h = 1e-2 both errors stay near 1e-3 for values of order one.
 */
async function checkGradient(
  shapes: Readonly<Record<string, readonly number[]>>,
  build: (inputs: Record<string, Value>, graph: Graph) => Value,
  named: Readonly<Record<string, Shape>> = {},
): Promise<void> {
  const random = new Random(11);
  const graph = new Graph();
  const inputs: Record<string, Value> = {};
  const feeds: Record<string, Float32Array> = {};
  for (const [name, shape] of Object.entries(shapes)) {
    inputs[name] = graph.input(name, named[name] ?? shape, { trainable: true });
    feeds[name] = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => random.gaussian());
  }
  const y = build(inputs, graph);
  // Weights of the contraction: an input, so that y may have named sizes.
  const probe = graph.input('probe', y.shape);
  const loss = sumAll(multiply(y, probe));
  graph.output('y', y);
  graph.output('loss', loss);
  const names = Object.keys(shapes);
  graph
    .gradients(
      loss,
      names.map((name) => inputs[name] as Value),
    )
    .forEach((gradient, i) => {
      graph.output(`gradient/${names[i]}`, gradient);
    });
  const session = await InferenceSession.create(graph.toModel(), {
    intraOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  const tensors = () =>
    Object.fromEntries(
      names.map((name) => [
        name,
        new Tensor('float32', feeds[name] as Float32Array, shapes[name] as number[]),
      ]),
    );
  // The shape of y with every size bound: run once with a probe of the static shape.
  const bound = y.shape.map((dim) => (typeof dim === 'number' ? dim : bindings(shapes, named, dim)));
  const weights = Float32Array.from({ length: bound.reduce((a, b) => a * b, 1) }, () => random.gaussian());
  const run = async () => session.run({ ...tensors(), probe: new Tensor('float32', weights, bound) });
  const contract = async () => {
    const { y: output } = await run();
    // Contracted in double precision: float32 sums would drown small derivatives.
    return (output!.data as Float32Array).reduce(
      (total, value, i) => total + value * (weights[i] as number),
      0,
    );
  };
  const first = await run();
  const step = 1e-2;
  for (const name of names) {
    const analytic = first[`gradient/${name}`]!.data as Float32Array;
    const data = feeds[name] as Float32Array;
    for (let i = 0; i < data.length; i++) {
      const kept = data[i] as number;
      data[i] = kept + step;
      const above = data[i] as number;
      const up = await contract();
      data[i] = kept - step;
      const below = data[i] as number;
      const down = await contract();
      data[i] = kept;
      const numeric = (up - down) / (above - below);
      const tolerance = 5e-3 * Math.max(1, Math.abs(numeric));
      expect(
        Math.abs((analytic[i] as number) - numeric),
        `${name}[${i}]: ${analytic[i]} vs ${numeric}`,
      ).toBeLessThan(tolerance);
    }
  }
  await session.release();
}

function bindings(
  shapes: Readonly<Record<string, readonly number[]>>,
  named: Readonly<Record<string, Shape>>,
  dim: string,
): number {
  return dim.split('*').reduce((total, factor) => {
    if (Number.isInteger(Number(factor))) return total * Number(factor);
    for (const [name, shape] of Object.entries(named)) {
      const axis = shape.indexOf(factor);
      if (axis >= 0) return total * (shapes[name]![axis] as number);
    }
    throw new Error(`unbound ${factor}`);
  }, 1);
}

describe('gradient rules against central differences', () => {
  test('add, subtract, multiply with broadcasting on either side', async () => {
    await checkGradient({ a: [2, 3, 4], b: [3, 1] }, ({ a, b }) => add(a!, b!));
    await checkGradient({ a: [3, 1], b: [2, 3, 4] }, ({ a, b }) => subtract(a!, b!));
    await checkGradient({ a: [2, 1, 4], b: [3, 1] }, ({ a, b }) => multiply(a!, b!));
  });

  test('a value used twice collects both gradients', async () => {
    await checkGradient({ a: [2, 3] }, ({ a }) => multiply(add(a!, a!), a!));
  });

  test('negate, scale, exp, sumAll', async () => {
    await checkGradient({ a: [3] }, ({ a }) => scale(exp(negate(a!)), 0.3));
    await checkGradient({ a: [2, 2] }, ({ a }) => multiply(sumAll(a!), sumAll(a!)));
  });

  for (const transposeA of [false, true]) {
    for (const transposeB of [false, true]) {
      test(`matmul ${transposeA ? 'aᵀ' : 'a'}·${transposeB ? 'bᵀ' : 'b'}, matrices and stacks`, async () => {
        const a = transposeA ? [3, 2] : [2, 3];
        const b = transposeB ? [4, 3] : [3, 4];
        await checkGradient({ a, b }, (v) => matmul(v.a!, v.b!, { transposeA, transposeB, alpha: 0.7 }));
        await checkGradient({ a: [2, ...a], b: [2, ...b] }, (v) =>
          matmul(v.a!, v.b!, { transposeA, transposeB, alpha: 0.7 }),
        );
      });
    }
  }

  test('matmul with an addend', async () => {
    await checkGradient({ a: [2, 3], b: [3, 4], c: [2, 4] }, ({ a, b, c }) =>
      multiply(matmul(a!, b!, { plus: c!, alpha: 0.5 }), c!),
    );
  });

  test('adaptedMatmul', async () => {
    await checkGradient({ x: [3, 4], a: [4, 2], b: [2, 5] }, ({ x, a, b }, graph) => {
      const weight = graph.constant(
        Array.from({ length: 20 }, (_, i) => Math.sin(i)),
        [4, 5],
      );
      return adaptedMatmul(x!, weight, a!, b!, 1.5);
    });
  });

  test('reshape with numbers and with named sizes', async () => {
    await checkGradient({ a: [2, 6] }, ({ a }) => reshape(a!, [4, 3]));
    const shapes = { a: [2, 3, 4] };
    await checkGradient(shapes, ({ a }) => reshape(a!, ['length*rows', 4]), { a: ['rows', 'length', 4] });
    await checkGradient(
      { a: [6, 4], like: [2, 3] },
      ({ a, like }, graph) =>
        multiply(
          reshape(a!, ['rows', 'length', 2, 2]),
          reshape(like!, graph.detach(like!).shape.concat([1, 1])),
        ),
      { a: ['length*rows', 4], like: ['rows', 'length'] },
    );
  });

  test('transpose, concat, split', async () => {
    await checkGradient({ a: [2, 3, 2, 2] }, ({ a }) => transpose(a!, [2, 0, 3, 1]));
    await checkGradient({ a: [2, 3], b: [2, 1] }, ({ a, b }) => concat([a!, b!], 1));
    await checkGradient({ a: [2, 5] }, ({ a }) => {
      const [x, y] = split(a!, 1, [2, 3]) as [Value, Value];
      return concat([y, multiply(x, x)], 1);
    });
  });

  test('swiglu', async () => {
    await checkGradient({ gate: [3, 4], up: [3, 4] }, ({ gate, up }) => swiglu(gate!, up!));
  });

  test('softmax', async () => {
    await checkGradient({ a: [3, 4] }, ({ a }) => softmax(a!));
  });

  test('rmsNorm of matrices and of heads', async () => {
    await checkGradient({ x: [3, 4], w: [4] }, ({ x, w }) => rmsNorm(x!, w!, 1e-6));
    await checkGradient({ x: [2, 2, 1, 4], w: [4] }, ({ x, w }) => rmsNorm(x!, w!, 1e-2));
  });

  test('gatherRows adds up rows that are taken twice', async () => {
    await checkGradient({ a: [4, 3] }, ({ a }, graph) => gatherRows(a!, graph.integers([2, 0, 2])));
  });

  test('rotary', async () => {
    await checkGradient({ x: [1, 2, 3, 4] }, ({ x }, graph) => {
      const { cosine, sine } = rotaryAngles(8, 4, 100);
      return rotary(x!, graph.integers([2]), {
        cosine: graph.constant(cosine, [8, 2]),
        sine: graph.constant(sine, [8, 2]),
        minusSine: graph.constant(
          sine.map((v) => -v),
          [8, 2],
        ),
      });
    });
  });

  test('rotary of heads side by side', async () => {
    await checkGradient({ x: [2, 3, 8] }, ({ x }, graph) => {
      const { cosine, sine } = rotaryAngles(8, 4, 100);
      return rotary(x!, graph.integers([0]), {
        cosine: graph.constant(cosine, [8, 2]),
        sine: graph.constant(sine, [8, 2]),
        minusSine: graph.constant(
          sine.map((v) => -v),
          [8, 2],
        ),
      });
    });
  });

  test('causal attention, with grouped queries and named sizes', async () => {
    const heads = { query: 2, keyValue: 2 };
    await checkGradient({ q: [1, 3, 16], k: [1, 3, 16], v: [1, 3, 16] }, ({ q, k, v }) =>
      causalAttention(q!, k!, v!, heads),
    );
    await checkGradient(
      { q: [2, 3, 32], k: [2, 3, 16], v: [2, 3, 16] },
      ({ q, k, v }) => causalAttention(q!, k!, v!, { query: 4, keyValue: 2 }),
      { q: ['rows', 'length', 32], k: ['rows', 'length', 16], v: ['rows', 'length', 16] },
    );
  });

  test('logProbability', async () => {
    await checkGradient({ logits: [3, 5] }, ({ logits }, graph) =>
      logProbability(logits!, graph.integers([4, 0, 2])),
    );
  });
});
