import { Graph } from '../graph/graph.js';
import { add, gatherRows, multiply, rmsNorm, softmax } from '../graph/ops/index.js';
import type { Value } from '../graph/value.js';
import type { ModelConfig } from '../model/config.js';
import { gateSlots, spreadSlots } from '../model/gates.js';
import {
  EMBEDDING,
  FINAL_NORM,
  HEAD,
  type Parameters,
  type Tensor,
  transposed,
} from '../model/parameters.js';
import { modelAngles } from '../model/rope.js';
import { type GroupWeights, type LayerWeights, layerWeights, type PolicyWeights } from './policy.js';

/*
 * One forward step over the KV cache, cut where the cache is written: graph 0 embeds and makes the first layer's
 * q, k, v; graph l attends in layer l − 1, finishes it and makes layer l's q, k, v; the last graph ends in
 * probabilities. Between two graphs the caller puts k and v into the cache, so that the cache is updated in place
 * and a key stands at the slot of its position.
 *
 * Every query is multiplied with the keys on its own, never in a block with others. Its result then does not
 * depend on what is computed beside it: a token's keys, values and probabilities are the same bits in a prompt of
 * 64 tokens, in a decoding step alone and in one of 100 rows. Batching, prefix sharing and recomputation of an
 * evicted cache rest on this; `invariance.test.ts` checks it.
 */

/** Names of the graphs' inputs and outputs, with shapes. */
export const STEP = {
  /** int64 [tokens]: ids (graph 0). */
  tokens: 'tokens',
  /** int64 [tokens, 1]: position of each token (all but the last graph). */
  positions: 'positions',
  /** [tokens, hidden]: residual stream in. */
  hidden: 'hidden',
  /** [rows, queries, kvHeads, heads / kvHeads, 1, headDim]: rotated, scaled queries in. */
  query: 'query',
  /** [rows, 1, kvHeads, 1, headDim, capacity]: cached keys, transposed. */
  keys: 'keys',
  /** [rows, 1, kvHeads, 1, capacity, headDim]: cached values. */
  values: 'values',
  /** [rows, queries, 1, 1, 1, capacity]: 0 where a query may look, very negative elsewhere. */
  mask: 'mask',
  nextHidden: 'next_hidden',
  nextQuery: 'next_query',
  nextKey: 'next_key',
  nextValue: 'next_value',
  /** [tokens, vocabulary]. */
  probabilities: 'probabilities',
  /** [tokens, slots]: one-hot slot of every token in the layer whose q, k, v the graph makes (mixtures). */
  slots: 'slots',
} as const;

/** ONNX models of the `config.layers + 1` graphs of a policy. `context` bounds the positions. */
export function stepGraphs(
  config: ModelConfig,
  base: Parameters,
  policy: PolicyWeights,
  context: number,
): Uint8Array[] {
  const layer = layerWeights(config, base, policy);
  const ranks = policy.kind === 'mixture' ? policy.adapters.map((adapter) => adapter.rank) : [];
  const angles = modelAngles(config, context);
  const models: Uint8Array[] = [];
  for (let index = 0; index <= config.layers; index++) {
    const graph = new Graph();
    const builder = new StepBuilder(graph, config, angles, ranks);
    let hidden: Value;
    if (index === 0) {
      const tokens = graph.input(STEP.tokens, ['tokens'], { type: 'int64' });
      hidden = gatherRows(constant(graph, base[EMBEDDING] as Tensor), tokens);
    } else {
      hidden = builder.finishLayer(layer(index - 1));
    }
    if (index < config.layers) builder.beginLayer(layer(index), hidden);
    else graph.output(STEP.probabilities, softmax(builder.head(base, hidden)));
    models.push(graph.toModel());
  }
  return models;
}

const constant = (graph: Graph, { data, shape }: Tensor): Value => graph.constant(data, shape);

type Angles = ReturnType<typeof modelAngles>;

class StepBuilder {
  readonly #graph: Graph;
  readonly #config: ModelConfig;
  readonly #angles: Angles;
  readonly #ranks: readonly number[];

  constructor(graph: Graph, config: ModelConfig, angles: Angles, ranks: readonly number[]) {
    this.#graph = graph;
    this.#config = config;
    this.#angles = angles;
    this.#ranks = ranks;
  }

  /** Normed input → slots, q, k, v as outputs, and the residual stream. */
  beginLayer(weights: LayerWeights, hidden: Value): void {
    const graph = this.#graph;
    const { heads, kvHeads, headDim } = this.#config;
    const input = this.#norm(hidden, weights.inputNorm);
    const slots = this.#slots(weights, input);
    const product = this.#linear(input, weights.groups.attention, slots, 3);
    const { attentionBias: bias } = weights;
    const qkv = bias ? add(product, graph.constant(bias, [bias.length])) : product;
    const both = (heads + kvHeads) * headDim;
    const [queryKey, value] = this.#split(qkv, [both, kvHeads * headDim], 1) as [Value, Value];
    const rotated = this.#rotate(this.#normHeads(queryKey, weights), heads + kvHeads);
    const [query, key] = this.#split(rotated, [heads * headDim, kvHeads * headDim], 2) as [Value, Value];
    graph.output(STEP.nextHidden, hidden);
    graph.output(STEP.nextQuery, query);
    graph.output(STEP.nextKey, key);
    graph.output(STEP.nextValue, value);
    if (slots !== null) graph.output(STEP.slots, slots);
  }

  /** Attention over the cache and the MLP: the residual stream after the layer. */
  finishLayer(weights: LayerWeights): Value {
    const graph = this.#graph;
    const { hiddenSize, heads, kvHeads, headDim, intermediateSize } = this.#config;
    const shared = heads / kvHeads;
    const hidden = graph.input(STEP.hidden, ['tokens', hiddenSize]);
    const query = graph.input(STEP.query, ['rows', 'queries', kvHeads, shared, 1, headDim]);
    const keys = graph.input(STEP.keys, ['rows', 1, kvHeads, 1, headDim, 'capacity']);
    const values = graph.input(STEP.values, ['rows', 1, kvHeads, 1, 'capacity', headDim]);
    const mask = graph.input(STEP.mask, ['rows', 'queries', 1, 1, 1, 'capacity']);
    // The slot's columns of the layer's input, computed again rather than handed over: the product is small.
    const slots = weights.gate ? this.#slots(weights, this.#norm(hidden, weights.inputNorm)) : null;
    const square = ['rows', 'queries', kvHeads, shared, 1, 'capacity'];
    const scores = graph.emit('Add', [graph.emit('MatMul', [query, keys], square), mask], square);
    const attended = graph.emit('MatMul', [softmax(scores), values], query.shape);
    const joined = graph.emit(
      'Reshape',
      [attended, graph.integers([-1, heads * headDim])],
      ['tokens', heads * headDim],
    );
    const middle = add(hidden, this.#linear(joined, weights.groups.output, slots, 1));
    const normed = this.#norm(middle, weights.middleNorm);
    const [gate, up] = this.#split(
      this.#linear(normed, weights.groups.expand, slots, 2),
      [intermediateSize, intermediateSize],
      1,
    ) as [Value, Value];
    // QuickGelu with factor 1 is x·σ(x), SiLU, in one kernel.
    const activated = graph.emit(
      'QuickGelu',
      [gate],
      gate.shape,
      { alpha: { float: 1 } },
      { domain: 'com.microsoft' },
    );
    return add(middle, this.#linear(multiply(activated, up), weights.groups.contract, slots, 1));
  }

  /** Logits [tokens, vocabulary]. */
  head(base: Parameters, hidden: Value): Value {
    const { tied, vocabularySize } = this.#config;
    const weight = tied ? transposed(base[EMBEDDING] as Tensor) : (base[HEAD] as Tensor);
    const normed = this.#norm(hidden, (base[FINAL_NORM] as Tensor).data);
    return this.#product(normed, constant(this.#graph, weight), vocabularySize);
  }

  #slots(weights: LayerWeights, input: Value): Value | null {
    const { gate } = weights;
    if (gate === undefined) return null;
    return gateSlots(input, constant(this.#graph, gate.weight), constant(this.#graph, gate.bias), false);
  }

  /** x·W, plus ((x·A) ∘ columns)·B where tokens have slots. `copies` is the number of projections in the group. */
  #linear(x: Value, weights: GroupWeights, slots: Value | null, copies: number): Value {
    const graph = this.#graph;
    const { weight, a, b } = weights;
    const y = this.#product(x, constant(graph, weight), weight.shape[1] as number);
    if (slots === null || a === undefined || b === undefined) return y;
    const columns = Array.from({ length: copies }, () => this.#ranks).flat();
    const chosen = spreadSlotsOver(slots, this.#ranks, columns, copies);
    const inner = multiply(this.#product(x, constant(graph, a), a.shape[1] as number), chosen);
    return add(y, this.#product(inner, constant(graph, b), b.shape[1] as number));
  }

  /** MatMul, not Gemm: ONNX Runtime packs a constant right-hand side of it once, when the session is made. */
  #product(x: Value, weight: Value, columns: number): Value {
    return this.#graph.emit('MatMul', [x, weight], [x.shape[0] as string, columns]);
  }

  #norm(x: Value, weight: Float32Array): Value {
    return rmsNorm(x, this.#graph.constant(weight, [weight.length]), this.#config.rmsEps);
  }

  /** Query and key norms of all heads at once; the attention's 1 / √headDim is part of the query's weight. */
  #normHeads(queryKey: Value, weights: LayerWeights): Value {
    const graph = this.#graph;
    const { heads, kvHeads, headDim } = this.#config;
    const count = heads + kvHeads;
    const shape = ['tokens', count, headDim];
    const factors = new Float32Array(count * headDim);
    for (let head = 0; head < count; head++) {
      const norm = head < heads ? weights.queryNorm : weights.keyNorm;
      const scale = head < heads ? 1 / Math.sqrt(headDim) : 1;
      for (let i = 0; i < headDim; i++) factors[head * headDim + i] = scale * (norm?.[i] ?? 1);
    }
    const split = graph.emit('Reshape', [queryKey, graph.integers([-1, count, headDim])], shape);
    const normed = weights.queryNorm ? this.#norm(split, new Float32Array(headDim).fill(1)) : split;
    return multiply(normed, graph.constant(factors, [count, headDim]));
  }

  /** [tokens, heads, size] → rotary positions → [tokens, 1, heads·size]; each token is a batch row of length 1. */
  #rotate(x: Value, count: number): Value {
    const graph = this.#graph;
    const { headDim } = this.#config;
    const { cosine, sine } = this.#angles;
    const angles = [cosine.length / (headDim / 2), headDim / 2];
    const shape = ['tokens', 1, count * headDim];
    const flat = graph.emit('Reshape', [x, graph.integers([-1, 1, count * headDim])], shape);
    const positions = graph.input(STEP.positions, ['tokens', 1], { type: 'int64' });
    return graph.emit(
      'RotaryEmbedding',
      [flat, positions, graph.constant(cosine, angles), graph.constant(sine, angles)],
      shape,
      { interleaved: { int: 0 }, num_heads: { int: count } },
      { domain: 'com.microsoft' },
    );
  }

  #split(x: Value, sizes: readonly number[], axis: number): Value[] {
    const outputs = sizes.map((size) => ({ shape: x.shape.map((dim, i) => (i === axis ? size : dim)) }));
    return this.#graph.emitMany('Split', [x, this.#graph.integers(sizes)], outputs, { axis: { int: axis } });
  }
}

/** `spreadSlots` for several projections side by side: the same choice for each. */
function spreadSlotsOver(
  slots: Value,
  ranks: readonly number[],
  columns: readonly number[],
  copies: number,
): Value {
  if (copies === 1) return spreadSlots(slots, ranks);
  const total = columns.reduce((sum, rank) => sum + rank, 0);
  const spread = new Float32Array((ranks.length + 1) * total);
  let column = 0;
  columns.forEach((rank, index) => {
    const slot = (index % ranks.length) + 1;
    spread.fill(1, slot * total + column, slot * total + column + rank);
    column += rank;
  });
  const weight = slots.graph.constant(spread, [ranks.length + 1, total]);
  return slots.graph.emit('MatMul', [slots, weight], [slots.shape[0] as string, total]);
}
