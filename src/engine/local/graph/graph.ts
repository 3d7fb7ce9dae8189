import { type Dim, formatShape, product, type Shape, sameShape } from './dims.js';
import {
  type Attributes,
  type ConstantDescription,
  type ElementType,
  encodeModel,
  type NodeDescription,
  type ValueDescription,
} from './onnx.js';
import { GraphError, Value } from './value.js';

/** Gradients of the inputs given the gradient of the output; null where an input needs none. */
export type GradientRule = (gradient: Value) => readonly (Value | null)[];

interface TapeEntry {
  readonly output: Value;
  readonly inputs: readonly Value[];
  readonly rule: GradientRule;
}

/**
 * A typed graph with reverse-mode differentiation that emits ONNX. Operators (`ops/`) append nodes and, where they
 * are differentiable, a gradient rule; `gradients` appends the backward pass to the same graph, so that forward,
 * loss and backward run in one call of ONNX Runtime.
 *
 * Shapes are checked when a node is added. A size may be a name (`rows`, `length`): it is bound when the graph
 * runs, and one session then serves every batch shape.
 *
 * @example
 * const graph = new Graph();
 * const x = graph.input('x', ['rows', 3]);
 * const w = graph.input('w', [3, 2], { trainable: true });
 * const loss = sumAll(matmul(x, w));
 * graph.output('loss', loss);
 * graph.output('dw', graph.gradients(loss, [w])[0]!);
 * const model = graph.toModel();
 */
export class Graph {
  readonly #nodes: NodeDescription[] = [];
  readonly #inputs: ValueDescription[] = [];
  readonly #outputs: ValueDescription[] = [];
  readonly #constants: ConstantDescription[] = [];
  readonly #constantByContent = new Map<string, Value>();
  readonly #values = new Map<string, ValueDescription>();
  readonly #tape: TapeEntry[] = [];
  /** Where the size of a named dimension can be read: an input and its axis. */
  readonly #dimSources = new Map<string, { readonly input: Value; readonly axis: number }>();
  readonly #dimValues = new Map<string, Value>();
  #recording = true;
  #scope = '';
  #count = 0;

  /** Declares an input of the graph. @throws GraphError when the name is taken. */
  input(
    name: string,
    shape: Shape,
    options: { readonly type?: ElementType; readonly trainable?: boolean } = {},
  ): Value {
    if (this.#inputs.some((input) => input.name === name))
      throw new GraphError(`input ${name} exists already`);
    const type = options.type ?? 'float32';
    const value = new Value(this, name, shape, type, options.trainable ?? false);
    this.#inputs.push({ name, shape, type });
    shape.forEach((dim, axis) => {
      if (typeof dim === 'string' && !this.#dimSources.has(dim))
        this.#dimSources.set(dim, { input: value, axis });
    });
    return value;
  }

  /** A constant. Small ones with equal content are shared; large data is referenced, not copied, until `toModel`. */
  constant(data: Float32Array | readonly number[], shape: readonly number[]): Value {
    const floats = data instanceof Float32Array ? data : Float32Array.from(data);
    return this.#constant('float32', floats, shape);
  }

  /** A constant of 64-bit integers, one-dimensional unless a shape is given. */
  integers(values: readonly number[], shape: readonly number[] = [values.length]): Value {
    return this.#constant('int64', BigInt64Array.from(values.map(BigInt)), shape);
  }

  scalar(value: number): Value {
    return this.constant([value], []);
  }

  #constant(
    type: ElementType,
    data: Float32Array | BigInt64Array | Int32Array,
    shape: readonly number[],
  ): Value {
    if (product(...shape) !== data.length)
      throw new GraphError(`constant ${formatShape(shape)} has ${data.length} elements`);
    const key = data.length <= 64 ? `${type}${formatShape(shape)}${data.join()}` : null;
    const known = key === null ? undefined : this.#constantByContent.get(key);
    if (known) return known;
    const name = `constant_${this.#count++}`;
    this.#constants.push({ name, type, shape, data });
    const value = new Value(this, name, shape, type);
    if (key !== null) this.#constantByContent.set(key, value);
    return value;
  }

  /** Names the nodes that `build` adds `scope/…`, so that errors and profiles say where they belong. */
  scope<T>(name: string, build: () => T): T {
    const outer = this.#scope;
    this.#scope = outer ? `${outer}/${name}` : name;
    try {
      return build();
    } finally {
      this.#scope = outer;
    }
  }

  /** An error that names the node being added. */
  error(op: string, problem: string): GraphError {
    return new GraphError(`${this.#nodeName(op)}: ${problem}`);
  }

  #nodeName(op: string): string {
    return `${this.#scope ? `${this.#scope}/` : ''}${op}_${this.#count}`;
  }

  /** Adds a node with one output. The caller states the output's shape; `inputs` may hold null for an absent optional. */
  emit(
    op: string,
    inputs: readonly (Value | null)[],
    shape: Shape,
    attributes: Attributes = {},
    options: { readonly domain?: string; readonly type?: ElementType } = {},
  ): Value {
    return this.emitMany(op, inputs, [{ shape, type: options.type }], attributes, options.domain)[0] as Value;
  }

  /** Adds a node with several outputs. */
  emitMany(
    op: string,
    inputs: readonly (Value | null)[],
    outputs: readonly { readonly shape: Shape; readonly type?: ElementType | undefined }[],
    attributes: Attributes = {},
    domain = '',
  ): Value[] {
    const name = this.#nodeName(op);
    this.#count++;
    for (const input of inputs) {
      if (input && input.graph !== this) throw new GraphError(`${name}: ${input} belongs to another graph`);
    }
    const requiresGradient = this.#recording && inputs.some((input) => input?.requiresGradient);
    const values = outputs.map(({ shape, type }, i) => {
      const value = new Value(
        this,
        i === 0 ? name : `${name}.${i}`,
        shape,
        type ?? 'float32',
        requiresGradient,
      );
      this.#values.set(value.name, { name: value.name, shape, type: value.type });
      return value;
    });
    this.#nodes.push({
      name,
      op,
      domain,
      inputs: inputs.map((input) => input?.name ?? ''),
      outputs: values.map((value) => value.name),
      attributes,
    });
    return values;
  }

  /** Records the gradient rule of `output`. `inputs` are those the rule answers for, in its order. */
  differentiable(output: Value, inputs: readonly Value[], rule: GradientRule): Value {
    if (this.#recording && inputs.some((input) => input.requiresGradient))
      this.#tape.push({ output, inputs, rule });
    return output;
  }

  /** The same values with no gradient flowing back. */
  detach(value: Value): Value {
    return new Value(this, value.name, value.shape, value.type, false);
  }

  /** A value treated as depending on trainable inputs though its nodes do not: for rules that bypass them. */
  asTrainable(value: Value): Value {
    return new Value(this, value.name, value.shape, value.type, true);
  }

  /** A one-dimensional int64 value that holds a shape, read from the inputs where sizes are named. */
  shapeValue(shape: Shape): Value {
    if (shape.every((dim) => typeof dim === 'number')) return this.integers(shape as readonly number[]);
    const parts = shape.map((dim) => (typeof dim === 'number' ? this.integers([dim]) : this.#dimValue(dim)));
    if (parts.length === 1) return parts[0] as Value;
    return this.emit('Concat', parts, [parts.length], { axis: { int: 0 } }, { type: 'int64' });
  }

  #dimValue(dim: string): Value {
    const known = this.#dimValues.get(dim);
    if (known) return known;
    const source = this.#dimSources.get(dim);
    let value: Value;
    if (source) {
      const attributes = { start: { int: source.axis }, end: { int: source.axis + 1 } };
      value = this.emit('Shape', [source.input], [1], attributes, { type: 'int64' });
    } else {
      const factors: Dim[] = dim
        .split('*')
        .map((factor) => (Number.isInteger(Number(factor)) ? Number(factor) : factor));
      if (factors.length === 1) throw this.error('Shape', `no input of the graph has a dimension ${dim}`);
      value = factors
        .map((factor) => (typeof factor === 'number' ? this.integers([factor]) : this.#dimValue(factor)))
        .reduce((a, b) => this.emit('Mul', [a, b], [1], {}, { type: 'int64' }));
    }
    this.#dimValues.set(dim, value);
    return value;
  }

  /** Makes `value` an output of the graph under `name`. */
  output(name: string, value: Value): void {
    if (this.#outputs.some((output) => output.name === name))
      throw new GraphError(`output ${name} exists already`);
    this.#nodes.push({
      name: `output/${name}`,
      op: 'Identity',
      domain: '',
      inputs: [value.name],
      outputs: [name],
      attributes: {},
    });
    this.#outputs.push({ name, type: value.type, shape: value.shape });
  }

  get inputNames(): string[] {
    return this.#inputs.map((input) => input.name);
  }

  get outputNames(): string[] {
    return this.#outputs.map((output) => output.name);
  }

  /**
   * Appends the backward pass of a scalar and returns its gradient by each of `parameters`, in their order.
   * @throws GraphError when `loss` is no scalar, or does not depend on one of the parameters.
   */
  gradients(loss: Value, parameters: readonly Value[]): Value[] {
    if (loss.rank !== 0) throw this.error('gradients', `the loss must be a scalar, got ${loss}`);
    const gradients = new Map<string, Value>([[loss.name, this.scalar(1)]]);
    this.#recording = false;
    const outer = this.#scope;
    try {
      for (const { output, inputs, rule } of [...this.#tape].reverse()) {
        const gradient = gradients.get(output.name);
        if (!gradient) continue;
        this.#scope = `gradient/${output.name}`;
        const parts = rule(gradient);
        inputs.forEach((input, i) => {
          const part = parts[i];
          if (!input.requiresGradient || !part) return;
          if (!sameShape(part.shape, input.shape))
            throw this.error('gradient', `rule gives ${formatShape(part.shape)} for ${input}`);
          const known = gradients.get(input.name);
          gradients.set(input.name, known ? this.emit('Add', [known, part], input.shape) : part);
        });
      }
    } finally {
      this.#recording = true;
      this.#scope = outer;
    }
    return parameters.map((parameter) => {
      const gradient = gradients.get(parameter.name);
      if (!gradient) throw this.error('gradients', `${loss} does not depend on ${parameter}`);
      return gradient;
    });
  }

  /** Bytes of the ONNX model, without the nodes and constants that no output needs. */
  toModel(): Uint8Array {
    const needed = new Set(this.#outputs.map((output) => output.name));
    const nodes: NodeDescription[] = [];
    for (const node of [...this.#nodes].reverse()) {
      if (!node.outputs.some((name) => needed.has(name))) continue;
      nodes.push(node);
      for (const name of node.inputs) needed.add(name);
    }
    return encodeModel(
      nodes.reverse(),
      this.#inputs,
      this.#outputs,
      this.#constants.filter((constant) => needed.has(constant.name)),
      [...this.#values.values()].filter((value) => needed.has(value.name)),
    );
  }
}
