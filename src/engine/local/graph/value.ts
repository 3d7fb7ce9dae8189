import { formatShape, type Shape } from './dims.js';
import type { Graph } from './graph.js';
import type { ElementType } from './onnx.js';

/** A tensor of a graph: its name, type and shape, known when the graph is built. */
export class Value {
  constructor(
    readonly graph: Graph,
    readonly name: string,
    readonly shape: Shape,
    readonly type: ElementType = 'float32',
    /** True when a trainable input flows into it. */
    readonly requiresGradient = false,
  ) {}

  get rank(): number {
    return this.shape.length;
  }

  toString(): string {
    return `${this.name}${formatShape(this.shape)}`;
  }
}

/** A graph that cannot be built: the message names the node and the shapes. */
export class GraphError extends Error {
  override readonly name = 'GraphError';
}
