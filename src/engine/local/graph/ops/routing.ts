import { formatShape } from '../dims.js';
import type { Value } from '../value.js';
import { softmax } from './activation.js';

/** One-hot of the largest logit in each row, the lower index in a tie: [n, slots] → [n, slots]. No gradient. */
export function top1(logits: Value): Value {
  const { graph, shape } = logits;
  const slots = shape[1];
  if (logits.rank !== 2 || typeof slots !== 'number')
    throw graph.error('top1', `needs [n, slots] with known slots, got ${formatShape(shape)}`);
  const detached = graph.detach(logits);
  const best = graph.emit(
    'ArgMax',
    [detached],
    [shape[0]!, 1],
    { axis: { int: 1 }, keepdims: { int: 1 }, select_last_index: { int: 0 } },
    { type: 'int64' },
  );
  const indices = graph.integers(
    Array.from({ length: slots }, (_, i) => i),
    [1, slots],
  );
  const chosen = graph.emit('Equal', [best, indices], shape, {}, { type: 'bool' });
  return graph.emit('Cast', [chosen], shape, { to: { int: 1 } });
}

/**
 * Straight-through top-1: forward the one-hot of `top1`, backward the gradient of softmax(logits), as if the
 * forward had been the softmax.
 */
export function straightThroughTop1(logits: Value): Value {
  const hard = top1(logits);
  if (!logits.requiresGradient) return hard;
  const { graph } = logits;
  return graph.differentiable(graph.asTrainable(hard), [softmax(logits)], (dy) => [dy]);
}
