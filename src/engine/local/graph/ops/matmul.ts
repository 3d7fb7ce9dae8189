import { formatShape, type Shape, sameShape } from '../dims.js';
import type { Attributes } from '../onnx.js';
import type { Value } from '../value.js';

export interface MatmulOptions {
  readonly transposeA?: boolean;
  readonly transposeB?: boolean;
  /** Factor of the product. */
  readonly alpha?: number;
  /** Added to the product (matrices only): a value of the result's shape. Saves the pass of an `add`. */
  readonly plus?: Value;
}

/**
 * alpha · op(a) · op(b) + plus of two matrices, or of two stacks of matrices with equal leading dimensions; op transposes
 * the last two axes. Rule for y = α·a·b: da = α·dy·bᵀ, db = α·aᵀ·dy, and the transposed forms of these; plus gets dy.
 */
export function matmul(a: Value, b: Value, options: MatmulOptions = {}): Value {
  const { transposeA: ta = false, transposeB: tb = false, alpha = 1, plus } = options;
  const { graph } = a;
  const flat = a.rank === 2 && b.rank === 2;
  const op = flat ? 'Gemm' : 'FusedMatMul';
  const describe = () => `${formatShape(a.shape)}${ta ? 'ᵀ' : ''} · ${formatShape(b.shape)}${tb ? 'ᵀ' : ''}`;
  if (a.rank < 2 || a.rank !== b.rank || !sameShape(a.shape.slice(0, -2), b.shape.slice(0, -2)))
    throw graph.error(op, `cannot multiply ${describe()}`);
  const [m, inner] = ta ? [a.shape.at(-1)!, a.shape.at(-2)!] : [a.shape.at(-2)!, a.shape.at(-1)!];
  const [innerB, n] = tb ? [b.shape.at(-1)!, b.shape.at(-2)!] : [b.shape.at(-2)!, b.shape.at(-1)!];
  if (inner !== innerB) throw graph.error(op, `inner sizes ${inner} and ${innerB} differ in ${describe()}`);

  const attributes: Attributes = {
    ...(ta ? { transA: { int: 1 } } : {}),
    ...(tb ? { transB: { int: 1 } } : {}),
    ...(alpha !== 1 ? { alpha: { float: alpha } } : {}),
  };
  const shape = [...a.shape.slice(0, -2), m, n];
  if (plus && !(flat && sameShape(plus.shape, shape)))
    throw graph.error(op, `cannot add ${formatShape(plus.shape)} to ${describe()}`);
  const y = graph.emit(op, plus ? [a, b, plus] : [a, b], shape, attributes, {
    domain: flat ? '' : 'com.microsoft',
  });
  const product = (x: Value, transposeA: boolean, z: Value, transposeB: boolean) =>
    matmul(x, z, { transposeA, transposeB, alpha });
  return graph.differentiable(y, plus ? [a, b, plus] : [a, b], (dy) => [
    a.requiresGradient ? (ta ? product(b, tb, dy, true) : product(dy, false, b, !tb)) : null,
    b.requiresGradient ? (tb ? product(dy, true, a, ta) : weightGradient(a, dy, options)) : null,
    dy,
  ]);
}

/**
 * aᵀ·dy (or a·dy when a was transposed), the gradient of b. The left operand is walked along its columns and the
 * right one is repacked, so the wider one stands on the left; the small result is transposed back.
 */
function weightGradient(a: Value, dy: Value, { transposeA = false, alpha = 1 }: MatmulOptions): Value {
  const inner = a.shape.at(-1);
  const columns = dy.shape.at(-1);
  const swap = a.rank === 2 && !transposeA && typeof inner === 'number' && typeof columns === 'number';
  if (!swap || columns <= inner) return matmul(a, dy, { transposeA: !transposeA, alpha });
  return transposed(matmul(dy, a, { transposeA: true, alpha }), [inner, columns]);
}

function transposed(matrix: Value, shape: Shape): Value {
  return matrix.graph.emit('Transpose', [matrix], shape, { perm: { ints: [1, 0] } });
}

/**
 * x·(W + scale·A·B) (+ plus): a linear map with a low-rank addition, x [n, in], W [in, out] frozen, A [in, rank],
 * B [rank, out]. Forward merges the weight, which is small beside x, and multiplies once.
 * Rule: dx = dy·(W + scale·A·B)ᵀ; dB = scale·(x·A)ᵀ·dy; dA = scale·xᵀ·(dy·Bᵀ). The products with A and B are
 * narrow, so the full gradient of the weight is never formed.
 */
export function adaptedMatmul(
  x: Value,
  weight: Value,
  a: Value,
  b: Value,
  scale: number,
  plus?: Value,
): Value {
  const { graph } = x;
  const [inputs, rank] = a.shape;
  const [rankB, outputs] = b.shape;
  if (rank !== rankB || !sameShape(weight.shape, [inputs!, outputs!]) || weight.requiresGradient)
    throw graph.error(
      'adaptedMatmul',
      `A ${formatShape(a.shape)} and B ${formatShape(b.shape)} do not fit the frozen ${formatShape(weight.shape)}`,
    );
  const merged = graph.emit(
    'Add',
    [weight, matmul(graph.detach(a), graph.detach(b), { alpha: scale })],
    weight.shape,
  );
  const y = matmul(graph.detach(x), merged, plus && { plus: graph.detach(plus) });
  return graph.differentiable(graph.asTrainable(y), plus ? [x, a, b, plus] : [x, a, b], (dy) => {
    const narrow = matmul(dy, b, { transposeB: true, alpha: scale });
    return [
      x.requiresGradient ? matmul(dy, merged, { transposeB: true }) : null,
      a.requiresGradient ? transposed(matmul(narrow, x, { transposeA: true }), a.shape) : null,
      b.requiresGradient ? matmul(matmul(x, a), dy, { transposeA: true, alpha: scale }) : null,
      dy,
    ];
  });
}
