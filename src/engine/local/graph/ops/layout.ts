import { type Dim, formatShape, product, type Shape, sum } from '../dims.js';
import type { Value } from '../value.js';

/**
 * The same elements in another shape. Rule: the gradient is reshaped back.
 * @throws GraphError when the numbers of elements differ.
 */
export function reshape(a: Value, shape: Shape): Value {
  const { graph } = a;
  if (product(...a.shape) !== product(...shape))
    throw graph.error('Reshape', `${formatShape(a.shape)} has other elements than ${formatShape(shape)}`);
  const y = graph.emit('Reshape', [a, reshapeTarget(a, shape)], shape, {}, { type: a.type });
  return graph.differentiable(y, [a], (dy) => [reshape(dy, a.shape)]);
}

/** ONNX's shape operand: 0 copies the input's size at the same place, one −1 is inferred; else sizes are read at run time. */
function reshapeTarget(a: Value, shape: Shape): Value {
  let inferred = false;
  const target = shape.map((dim, i) => {
    if (typeof dim === 'number') return dim;
    if (a.shape[i] === dim) return 0;
    if (inferred) return null;
    inferred = true;
    return -1;
  });
  if (target.every((dim) => dim !== null)) return a.graph.integers(target);
  return a.graph.shapeValue(shape);
}

/** Permutes the axes: axis i of the result is axis permutation[i] of `a`. Rule: the inverse permutation. */
export function transpose(a: Value, permutation: readonly number[]): Value {
  const { graph } = a;
  if ([...permutation].sort((x, y) => x - y).join() !== a.shape.map((_, i) => i).join())
    throw graph.error(
      'Transpose',
      `[${permutation}] is no permutation of the axes of ${formatShape(a.shape)}`,
    );
  const shape = permutation.map((axis) => a.shape[axis] as Dim);
  const y = graph.emit('Transpose', [a], shape, { perm: { ints: permutation } }, { type: a.type });
  const inverse = permutation.map((_, axis) => permutation.indexOf(axis));
  return graph.differentiable(y, [a], (dy) => [transpose(dy, inverse)]);
}

/** Joins values along an axis. Rule: the gradient is split. */
export function concat(values: readonly Value[], axis: number): Value {
  const first = values[0] as Value;
  const { graph } = first;
  const rest = (shape: Shape) => formatShape(shape.filter((_, i) => i !== axis));
  for (const value of values) {
    if (value.rank !== first.rank || rest(value.shape) !== rest(first.shape))
      throw graph.error('Concat', `${first} and ${value} differ outside axis ${axis}`);
  }
  const sizes = values.map((value) => value.shape[axis] as Dim);
  const shape = first.shape.map((dim, i) => (i === axis ? sum(...sizes) : dim));
  const y = graph.emit('Concat', values, shape, { axis: { int: axis } });
  return graph.differentiable(y, values, (dy) => split(dy, axis, sizes as readonly number[]));
}

/** Cuts a value along an axis into parts of the given sizes. Rule: the gradients are joined; all parts must be used. */
export function split(a: Value, axis: number, sizes: readonly number[]): Value[] {
  const { graph } = a;
  if (a.shape[axis] !== sum(...sizes))
    throw graph.error('Split', `sizes [${sizes}] do not add up to axis ${axis} of ${formatShape(a.shape)}`);
  const starts = sizes.map((_, i) => sizes.slice(0, i).reduce((x, y) => x + y, 0));
  const parts = graph.emitMany(
    'Split',
    [a, graph.integers(sizes)],
    sizes.map((size) => ({ shape: a.shape.map((dim, i) => (i === axis ? size : dim)) })),
    { axis: { int: axis } },
  );
  if (!a.requiresGradient) return parts;
  // Each part hands back its own gradient padded with zeros; ONNX joins them in one Concat where all are there.
  return parts.map((part, k) =>
    graph.differentiable(part, [a], (dy) => {
      const before = a.shape.map((_, i) => (i === axis ? (starts[k] as number) : 0));
      const after = a.shape.map((_, i) =>
        i === axis ? (a.shape[axis] as number) - (starts[k] as number) - (sizes[k] as number) : 0,
      );
      return [graph.emit('Pad', [dy, graph.integers([...before, ...after])], a.shape)];
    }),
  );
}
