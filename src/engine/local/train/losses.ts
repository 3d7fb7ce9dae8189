import type { Loss } from '../../contract.js';
import { formatShape, sameShape } from '../graph/dims.js';
import { exp, multiply, negate, subtract, sumAll } from '../graph/ops/index.js';
import type { Value } from '../graph/value.js';

/**
 * Losses over the selected positions of a batch, all [n]: `logp` log-probabilities under the current parameters,
 * `weights` the caller's weights. Sums, never means: normalisation is in the weights.
 */

/** −Σ w·log p. */
export function crossEntropy(logp: Value, weights: Value): Value {
  return negate(sumAll(multiply(logp, weights)));
}

/** −Σ w·A·ρ with ρ = exp(log p − old). */
export function importanceSampling(logp: Value, weights: Value, advantages: Value, old: Value): Value {
  return negate(sumAll(multiply(exp(subtract(logp, old)), multiply(weights, advantages))));
}

/**
 * −Σ w·min(ρA, clip(ρ, low, high)·A); the bounds are absolute ratios.
 * Rule: d log p = −w·A·ρ where the unclipped term is the smaller one (or equal), else 0.
 */
export function ppo(
  logp: Value,
  weights: Value,
  advantages: Value,
  old: Value,
  bounds: { readonly low: Value; readonly high: Value },
): Value {
  const { graph, shape } = logp;
  if (![weights, advantages, old].every((value) => sameShape(value.shape, shape)))
    throw graph.error('ppo', `weights, advantages and old must be ${formatShape(shape)}`);
  const ratio = graph.emit('Exp', [graph.emit('Sub', [logp, old], shape)], shape);
  const clipped = graph.emit('Clip', [ratio, bounds.low, bounds.high], shape);
  const straight = graph.emit('Mul', [ratio, advantages], shape);
  const bounded = graph.emit('Mul', [clipped, advantages], shape);
  const least = graph.emit('Min', [straight, bounded], shape);
  const total = graph.emit('ReduceSum', [graph.emit('Mul', [least, weights], shape)], [], {
    keepdims: { int: 0 },
  });
  return graph.differentiable(graph.emit('Neg', [total], []), [logp], (dy) => {
    const unclipped = graph.emit('LessOrEqual', [straight, bounded], shape, {}, { type: 'bool' });
    const active = graph.emit('Cast', [unclipped], shape, { to: { int: 1 } });
    const slope = graph.emit('Mul', [graph.emit('Mul', [active, straight], shape), weights], shape);
    return [graph.emit('Mul', [graph.emit('Neg', [slope], shape), dy], shape)];
  });
}

export type LossName = Loss['name'];

/** The loss by its name; declares the inputs `advantages`, `old`, `clip_low`, `clip_high` that it needs. */
export function lossByName(name: LossName, logp: Value, weights: Value): Value {
  const { graph, shape } = logp;
  if (name === 'cross_entropy') return crossEntropy(logp, weights);
  const advantages = graph.input('advantages', shape);
  const old = graph.input('old', shape);
  if (name === 'importance_sampling') return importanceSampling(logp, weights, advantages, old);
  return ppo(logp, weights, advantages, old, {
    low: graph.input('clip_low', []),
    high: graph.input('clip_high', []),
  });
}
