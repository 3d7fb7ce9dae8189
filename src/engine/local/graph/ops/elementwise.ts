import { broadcast, formatShape, type Shape, sameShape } from '../dims.js';
import type { Value } from '../value.js';

/** Shape of an elementwise result. @throws GraphError when the operands do not broadcast. */
function resultShape(op: string, a: Value, b: Value): Shape {
  const shape = broadcast(a.shape, b.shape);
  if (!shape)
    throw a.graph.error(op, `shapes ${formatShape(a.shape)} and ${formatShape(b.shape)} do not broadcast`);
  return shape;
}

/** Sums a gradient over the axes along which an operand was broadcast, so that it has the operand's shape. */
export function unbroadcast(gradient: Value, shape: Shape): Value {
  if (sameShape(gradient.shape, shape)) return gradient;
  const extra = gradient.rank - shape.length;
  const axes = gradient.shape.flatMap((dim, i) => (i < extra || shape[i - extra] !== dim ? [i] : []));
  const { graph } = gradient;
  const kept = gradient.shape.map((dim, i) => (axes.includes(i) ? 1 : dim));
  const sum = graph.emit('ReduceSum', [gradient, graph.integers(axes)], kept, { keepdims: { int: 1 } });
  return extra === 0 ? sum : graph.emit('Reshape', [sum, graph.shapeValue(shape)], shape);
}

/** a + b, broadcasting. Rule: the gradient goes to both. */
export function add(a: Value, b: Value): Value {
  const y = a.graph.emit('Add', [a, b], resultShape('Add', a, b));
  return a.graph.differentiable(y, [a, b], (dy) => [
    a.requiresGradient ? unbroadcast(dy, a.shape) : null,
    b.requiresGradient ? unbroadcast(dy, b.shape) : null,
  ]);
}

/** a − b, broadcasting. Rule: dy to a, −dy to b. */
export function subtract(a: Value, b: Value): Value {
  const y = a.graph.emit('Sub', [a, b], resultShape('Sub', a, b));
  return a.graph.differentiable(y, [a, b], (dy) => [
    a.requiresGradient ? unbroadcast(dy, a.shape) : null,
    b.requiresGradient ? unbroadcast(negate(dy), b.shape) : null,
  ]);
}

/** a · b, elementwise, broadcasting. Rule: dy·b to a, dy·a to b. */
export function multiply(a: Value, b: Value): Value {
  const y = a.graph.emit('Mul', [a, b], resultShape('Mul', a, b));
  return a.graph.differentiable(y, [a, b], (dy) => [
    a.requiresGradient ? unbroadcast(multiply(dy, b), a.shape) : null,
    b.requiresGradient ? unbroadcast(multiply(dy, a), b.shape) : null,
  ]);
}

/** −a. */
export function negate(a: Value): Value {
  const y = a.graph.emit('Neg', [a], a.shape);
  return a.graph.differentiable(y, [a], (dy) => [negate(dy)]);
}

/** factor · a for a number. */
export function scale(a: Value, factor: number): Value {
  return factor === 1 ? a : multiply(a, a.graph.scalar(factor));
}

/** e^a. Rule: dy·y. */
export function exp(a: Value): Value {
  const y = a.graph.emit('Exp', [a], a.shape);
  return a.graph.differentiable(y, [a], (dy) => [multiply(dy, y)]);
}

/** Sum of all elements, a scalar. Rule: the gradient is spread over the shape. */
export function sumAll(a: Value): Value {
  const y = a.graph.emit('ReduceSum', [a], [], { keepdims: { int: 0 } });
  return a.graph.differentiable(y, [a], (dy) => [
    a.graph.emit('Expand', [dy, a.graph.shapeValue(a.shape)], a.shape),
  ]);
}
