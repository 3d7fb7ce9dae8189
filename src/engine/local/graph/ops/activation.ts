import { formatShape, sameShape } from '../dims.js';
import type { Value } from '../value.js';

/**
 * SwiGLU's elementwise part: silu(gate) · up with silu(z) = z·σ(z).
 * Rule, with s = σ(gate), y the result: d up = dy·gate·s; d gate = s·(dy·up − dy·y) + dy·y.
 */
export function swiglu(gate: Value, up: Value): Value {
  const { graph, shape } = gate;
  if (!sameShape(shape, up.shape))
    throw graph.error('SwiGLU', `${formatShape(shape)} and ${formatShape(up.shape)} differ`);
  const mul = (a: Value, b: Value) => graph.emit('Mul', [a, b], shape);
  const sigmoid = graph.emit('Sigmoid', [gate], shape);
  const activated = mul(gate, sigmoid);
  const y = mul(activated, up);
  return graph.differentiable(y, [gate, up], (dy) => {
    const throughValue = mul(dy, y);
    const throughSlope = graph.emit('Sub', [mul(dy, up), throughValue], shape);
    const dGate = graph.emit('Add', [mul(sigmoid, throughSlope), throughValue], shape);
    return [dGate, up.requiresGradient ? mul(dy, activated) : null];
  });
}

/** Softmax over the last axis. Rule: y·(dy − Σ dy·y). */
export function softmax(a: Value): Value {
  const { graph, shape } = a;
  const y = graph.emit('Softmax', [a], shape, { axis: { int: -1 } });
  return graph.differentiable(y, [a], (dy) => {
    const rows = [...shape.slice(0, -1), 1];
    const dot = graph.emit(
      'ReduceSum',
      [graph.emit('Mul', [dy, y], shape), graph.integers([shape.length - 1])],
      rows,
      { keepdims: { int: 1 } },
    );
    return [graph.emit('Mul', [y, graph.emit('Sub', [dy, dot], shape)], shape)];
  });
}
