import { formatShape, product } from '../dims.js';
import type { Value } from '../value.js';

/**
 * Root-mean-square norm over the last axis: y = x · inv · weight with inv = 1/√(mean x² + ε).
 * Rule, with p = dy·x elementwise and n the axis' size: dx = dy·weight·inv − x · (p·weight summed)·inv³/n;
 * dweight = Σ p·inv over all rows.
 */
export function rmsNorm(x: Value, weight: Value, epsilon: number): Value {
  const { graph, shape } = x;
  const size = shape.at(-1);
  if (weight.rank !== 1 || weight.shape[0] !== size || typeof size !== 'number')
    throw graph.error('RMSNorm', `weight ${formatShape(weight.shape)} does not fit ${formatShape(shape)}`);
  const rowShape = [...shape.slice(0, -1), 1];
  const [y, inv] = graph.emitMany(
    'SimplifiedLayerNormalization',
    [x, weight],
    [{ shape }, { shape: rowShape }],
    { axis: { int: -1 }, epsilon: { float: epsilon }, stash_type: { int: 1 } },
  ) as [Value, Value];
  return graph.differentiable(y, [x, weight], (dy) => {
    const rows = product(...shape.slice(0, -1));
    const p = graph.emit('Mul', [dy, x], shape);
    let dx: Value | null = null;
    if (x.requiresGradient) {
      const column = graph.emit('Reshape', [weight, graph.integers([size, 1])], [size, 1]);
      const dot = graph.emit('MatMul', [p, column], rowShape);
      const cube = graph.emit('Mul', [graph.emit('Mul', [inv, inv], rowShape), inv], rowShape);
      const factor = graph.emit(
        'Mul',
        [graph.emit('Mul', [dot, cube], rowShape), graph.scalar(1 / size)],
        rowShape,
      );
      const straight = graph.emit('Mul', [graph.emit('Mul', [dy, weight], shape), inv], shape);
      dx = graph.emit('Sub', [straight, graph.emit('Mul', [x, factor], shape)], shape);
    }
    let dWeight: Value | null = null;
    if (weight.requiresGradient) {
      const flatInv = graph.emit('Reshape', [inv, graph.integers([1, -1])], [1, rows]);
      const flatP = graph.emit('Reshape', [p, graph.integers([-1, size])], [rows, size]);
      const row = graph.emit('Gemm', [flatInv, flatP], [1, size]);
      dWeight = graph.emit('Reshape', [row, graph.integers([size])], [size]);
    }
    return [dx, dWeight];
  });
}
