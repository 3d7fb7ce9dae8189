import { formatShape } from '../dims.js';
import type { Value } from '../value.js';

/**
 * Natural log-probability of each row's target: logits [n, vocabulary], targets int64 [n] → [n].
 * Rule: d logits = dy · (onehot(target) − softmax(logits)), row by row.
 */
export function logProbability(logits: Value, targets: Value): Value {
  const { graph, shape } = logits;
  const rows = shape[0]!;
  if (logits.rank !== 2 || targets.rank !== 1 || targets.shape[0] !== rows || targets.type !== 'int64')
    throw graph.error(
      'logProbability',
      `logits ${formatShape(shape)} and targets ${targets.type}${formatShape(targets.shape)} do not fit`,
    );
  const column = graph.emit('Unsqueeze', [targets, graph.integers([1])], [rows, 1], {}, { type: 'int64' });
  const logs = graph.emit('LogSoftmax', [logits], shape, { axis: { int: -1 } });
  const chosen = graph.emit('GatherElements', [logs, column], [rows, 1], { axis: { int: 1 } });
  const y = graph.emit('Reshape', [chosen, graph.integers([-1])], [rows]);
  return graph.differentiable(y, [logits], (dy) => {
    const weight = graph.emit('Unsqueeze', [dy, graph.integers([1])], [rows, 1]);
    const minus = graph.emit('Neg', [weight], [rows, 1]);
    const spread = graph.emit('Mul', [graph.emit('Exp', [logs], shape), minus], shape);
    return [
      graph.emit('ScatterElements', [spread, column, weight], shape, {
        axis: { int: 1 },
        reduction: { string: 'add' },
      }),
    ];
  });
}
