import { formatShape, type Shape, sameShape } from '../dims.js';
import type { Value } from '../value.js';

/**
 * Rotary position embedding of x [rows, heads, length, size] (halves rotated against each other).
 * `positions` is int64 [1] (the first position) or [rows, length]; `cosine` and `sine` are [context, size / 2].
 * Rule: the rotation by the opposite angle.
 */
export function rotary(
  x: Value,
  positions: Value,
  angles: { readonly cosine: Value; readonly sine: Value; readonly minusSine: Value },
): Value {
  const { graph } = x;
  const { cosine, sine, minusSine } = angles;
  const half = cosine.shape[1];
  if (x.rank !== 4 || typeof half !== 'number' || x.shape[3] !== 2 * half)
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

/** cos and sin of position · theta^(−2i/size), each [context × size/2] row by row. */
export function rotaryAngles(context: number, size: number, theta: number) {
  const half = size / 2;
  const cosine = new Float32Array(context * half);
  const sine = new Float32Array(context * half);
  for (let position = 0; position < context; position++) {
    for (let i = 0; i < half; i++) {
      const angle = position / theta ** ((2 * i) / size);
      cosine[position * half + i] = Math.cos(angle);
      sine[position * half + i] = Math.sin(angle);
    }
  }
  return { cosine, sine };
}

/**
 * Masked attention: softmax(q·kᵀ/√size + mask)·v for stacks of matrices with equal leading dimensions;
 * q [..., queries, size], k and v [..., keys, size], mask broadcast to [..., queries, keys] (0 or −∞-like).
 * Rule, with P the softmax and o the result: dv = Pᵀ·do; dS = P·(do·vᵀ − Σ do·o); dq = dS·k/√size; dk = dSᵀ·q/√size.
 * (Σ_j P·(do·vᵀ) equals Σ do·o, which is far smaller.)
 */
export function attention(q: Value, k: Value, v: Value, mask: Value): Value {
  const { graph } = q;
  const size = q.shape.at(-1);
  const lead = (shape: Shape) => shape.slice(0, -2);
  if (
    typeof size !== 'number' ||
    !sameShape(lead(q.shape), lead(k.shape)) ||
    !sameShape(k.shape, v.shape) ||
    k.shape.at(-1) !== size
  )
    throw graph.error(
      'attention',
      `q ${formatShape(q.shape)}, k ${formatShape(k.shape)}, v ${formatShape(v.shape)} do not fit`,
    );
  const alpha = 1 / Math.sqrt(size);
  const batched = (a: Value, b: Value, shape: Shape, transA: boolean, transB: boolean, factor = 1) =>
    graph.emit(
      'FusedMatMul',
      [a, b],
      shape,
      {
        ...(transA ? { transA: { int: 1 } } : {}),
        ...(transB ? { transB: { int: 1 } } : {}),
        ...(factor !== 1 ? { alpha: { float: factor } } : {}),
      },
      { domain: 'com.microsoft' },
    );
  const square = [...q.shape.slice(0, -1), k.shape.at(-2)!];
  const scores = graph.emit('Add', [batched(q, k, square, false, true, alpha), mask], square);
  const weights = graph.emit('Softmax', [scores], square, { axis: { int: -1 } });
  const o = batched(weights, v, q.shape, false, false);
  return graph.differentiable(o, [q, k, v], (dO) => {
    const dot = graph.emit(
      'ReduceSum',
      [graph.emit('Mul', [dO, o], q.shape), graph.integers([q.rank - 1])],
      [...q.shape.slice(0, -1), 1],
      { keepdims: { int: 1 } },
    );
    const dWeights = batched(dO, v, square, false, true);
    const dScores = graph.emit('Mul', [weights, graph.emit('Sub', [dWeights, dot], square)], square);
    return [
      q.requiresGradient ? batched(dScores, k, q.shape, false, false, alpha) : null,
      k.requiresGradient ? batched(dScores, q, k.shape, true, false, alpha) : null,
      v.requiresGradient ? batched(weights, dO, v.shape, true, false) : null,
    ];
  });
}
