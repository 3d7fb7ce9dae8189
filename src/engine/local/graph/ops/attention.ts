import { type Dim, formatShape, product, type Shape, sameShape } from '../dims.js';
import type { Attributes } from '../onnx.js';
import type { Value } from '../value.js';
import { reshape, transpose } from './layout.js';

/**
 * Rotary position embedding (halves rotated against each other) of x [rows, length, heads·size] or
 * [rows, heads, length, size]. `positions` is int64 [1] (the first position) or [rows, length]; `cosine` and `sine`
 * are [context, size / 2]. Rule: the rotation by the opposite angle.
 */
export function rotary(
  x: Value,
  positions: Value,
  angles: { readonly cosine: Value; readonly sine: Value; readonly minusSine: Value },
): Value {
  const { graph } = x;
  const { cosine, sine, minusSine } = angles;
  const half = cosine.shape[1];
  const last = x.shape.at(-1);
  const fits =
    typeof half === 'number' &&
    typeof last === 'number' &&
    (x.rank === 4 ? last === 2 * half : x.rank === 3 && last % (2 * half) === 0);
  if (!fits)
    throw graph.error(
      'RotaryEmbedding',
      `${formatShape(x.shape)} does not fit angles ${formatShape(cosine.shape)}`,
    );
  const y = graph.emit(
    'RotaryEmbedding',
    [x, positions, cosine, sine],
    x.shape,
    { interleaved: { int: 0 } },
    { domain: 'com.microsoft' },
  );
  return graph.differentiable(y, [x], (dy) => [
    rotary(dy, positions, { cosine, sine: minusSine, minusSine: sine }),
  ]);
}

/** Stretches a rotary frequency (radians a position); `undefined` leaves all as they are. */
export type FrequencyScaling = ((frequency: number) => number) | undefined;

/** cos and sin of position · theta^(−2i/size), each [context × size/2] row by row. */
export function rotaryAngles(context: number, size: number, theta: number, scaling?: FrequencyScaling) {
  const half = size / 2;
  const cosine = new Float32Array(context * half);
  const sine = new Float32Array(context * half);
  for (let position = 0; position < context; position++) {
    for (let i = 0; i < half; i++) {
      const angle = scaling
        ? position * scaling(1 / theta ** ((2 * i) / size))
        : position / theta ** ((2 * i) / size);
      cosine[position * half + i] = Math.cos(angle);
      sine[position * half + i] = Math.sin(angle);
    }
  }
  return { cosine, sine };
}

/**
 * Causal attention with grouped queries: q [rows, length, heads·size], k and v [rows, length, kvHeads·size] →
 * [rows, length, heads·size]; query head h reads key head ⌊h · kvHeads / heads⌋ and every position itself and
 * the ones before. The size of a head must be a multiple of 8.
 *
 * Forward is ONNX Runtime's GroupQueryAttention, whose softmax runs over the allowed positions alone: masking by a
 * large negative number would fill half of the weights with denormal numbers, which are many times slower.
 * Rule, head by head, with P the softmax and o the result: dv = Pᵀ·do; dS = P·(do·vᵀ − Σ do·o); dq = dS·k/√size;
 * dk = dSᵀ·q/√size. (Σ_j P·(do·vᵀ) equals Σ do·o, which is far smaller.)
 */
export function causalAttention(
  q: Value,
  k: Value,
  v: Value,
  heads: { readonly query: number; readonly keyValue: number },
): Value {
  const { graph } = q;
  const [rows, length, width] = q.shape as [Dim, Dim, Dim];
  const size = typeof width === 'number' ? width / heads.query : Number.NaN;
  if (
    q.rank !== 3 ||
    size % 8 !== 0 ||
    heads.query % heads.keyValue !== 0 ||
    !sameShape(k.shape, [rows, length, size * heads.keyValue]) ||
    !sameShape(v.shape, k.shape)
  )
    throw graph.error(
      'GroupQueryAttention',
      `q ${formatShape(q.shape)}, k ${formatShape(k.shape)}, v ${formatShape(v.shape)} do not fit ` +
        `${heads.query} and ${heads.keyValue} heads`,
    );
  const alpha = 1 / Math.sqrt(size);
  const keyShape = [rows, heads.keyValue, length, size];
  const [o, keys, values, weights] = graph.emitMany(
    'GroupQueryAttention',
    [q, k, v, null, null, ...lengths(q)],
    [
      { shape: q.shape },
      { shape: keyShape },
      { shape: keyShape },
      { shape: [rows, heads.query, length, length] },
    ],
    {
      num_heads: { int: heads.query },
      kv_num_heads: { int: heads.keyValue },
      scale: { float: alpha },
      // Hand out the softmax.
      qk_output: { int: 2 },
    },
    'com.microsoft',
  ) as [Value, Value, Value, Value];

  return graph.differentiable(o, [q, k, v], (dO) => {
    // Query heads that share a key head stand below each other: [rows, kvHeads, group·length, …].
    const stacked = product(heads.query / heads.keyValue, length);
    const queryShape = [rows, heads.keyValue, stacked, size];
    const square = [rows, heads.keyValue, stacked, length];
    const byHead = (x: Value) =>
      reshape(transpose(reshape(x, [rows, length, heads.query, size]), [0, 2, 1, 3]), queryShape);
    const byToken = (x: Value, count: number) =>
      reshape(transpose(reshape(x, [rows, count, length, size]), [0, 2, 1, 3]), [rows, length, count * size]);

    const perHead = [rows, length, heads.query, size];
    const product4 = graph.emit('Mul', [reshape(dO, perHead), reshape(o, perHead)], perHead);
    const dot = transpose(
      graph.emit('ReduceSum', [product4, graph.integers([3])], [rows, length, heads.query, 1], {
        keepdims: { int: 1 },
      }),
      [0, 2, 1, 3],
    );
    const softmax = reshape(weights, square);
    const dOut = byHead(dO);
    const dWeights = stack(dOut, values, square, { transB: true });
    const centred = graph.emit('Sub', [dWeights, reshape(dot, [rows, heads.keyValue, stacked, 1])], square);
    const dScores = graph.emit('Mul', [softmax, centred], square);
    return [
      q.requiresGradient ? byToken(stack(dScores, keys, queryShape, { alpha }), heads.query) : null,
      k.requiresGradient
        ? byToken(stack(dScores, byHead(q), keyShape, { transA: true, alpha }), heads.keyValue)
        : null,
      v.requiresGradient ? byToken(stack(softmax, dOut, keyShape, { transA: true }), heads.keyValue) : null,
    ];
  });
}

/** GroupQueryAttention's int32 operands: the last position of every row, and the length. */
function lengths(q: Value): [Value, Value] {
  const { graph } = q;
  const [rows, length] = q.shape as [Dim, Dim];
  const int32: Attributes = { to: { int: 6 } };
  const total = graph.emit('Cast', [graph.shapeValue([length])], [1], int32, { type: 'int32' });
  const last = graph.emit(
    'Sub',
    [graph.shapeValue([length]), graph.integers([1])],
    [1],
    {},
    { type: 'int64' },
  );
  const perRow = graph.emit('Expand', [last, graph.shapeValue([rows])], [rows], {}, { type: 'int64' });
  return [graph.emit('Cast', [perRow], [rows], int32, { type: 'int32' }), total];
}

/** Products of two stacks of matrices. */
function stack(
  a: Value,
  b: Value,
  shape: Shape,
  options: { readonly transA?: boolean; readonly transB?: boolean; readonly alpha?: number },
): Value {
  const attributes: Attributes = {
    ...(options.transA ? { transA: { int: 1 } } : {}),
    ...(options.transB ? { transB: { int: 1 } } : {}),
    ...(options.alpha === undefined ? {} : { alpha: { float: options.alpha } }),
  };
  return a.graph.emit('FusedMatMul', [a, b], shape, attributes, { domain: 'com.microsoft' });
}
