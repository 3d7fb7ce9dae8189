import { formatShape } from '../dims.js';
import type { Value } from '../value.js';

/**
 * Rows of a matrix by index: an embedding lookup, or a choice of positions. a [n, d], indices [m] (int64) → [m, d].
 * Rule: the gradient's rows are added up where their index says.
 */
export function gatherRows(a: Value, indices: Value): Value {
  const { graph } = a;
  if (a.rank !== 2 || indices.rank !== 1 || indices.type !== 'int64')
    throw graph.error(
      'Gather',
      `needs a matrix and int64 indices, got ${formatShape(a.shape)} and ${indices.type}${formatShape(indices.shape)}`,
    );
  const count = indices.shape[0]!;
  const y = graph.emit('Gather', [a, indices], [count, a.shape[1]!], { axis: { int: 0 } });
  return graph.differentiable(y, [a], (dy) => {
    const zeros = graph.emit('ConstantOfShape', [graph.shapeValue(a.shape)], a.shape);
    const column = graph.emit('Unsqueeze', [indices, graph.integers([1])], [count, 1], {}, { type: 'int64' });
    return [graph.emit('ScatterND', [zeros, column, dy], a.shape, { reduction: { string: 'add' } })];
  });
}
