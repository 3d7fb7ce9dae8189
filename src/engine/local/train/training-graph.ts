import { type Dim, product } from '../graph/dims.js';
import { Graph } from '../graph/graph.js';
import {
  adaptedMatmul,
  causalAttention,
  gatherRows,
  logProbability,
  matmul,
  reshape,
  rotary,
} from '../graph/ops/index.js';
import type { Value } from '../graph/value.js';
import type { ModelConfig, Projection } from '../model/config.js';
import { decoder, head } from '../model/decoder.js';
import { gateBias, gatedProjection, gateShapes, gateSlots, gateWeight, spreadSlots } from '../model/gates.js';
import { adapterShapes, loraA, loraB } from '../model/lora.js';
import {
  EMBEDDING,
  memoryShapes,
  type Parameters,
  projectionName,
  type Tensor,
} from '../model/parameters.js';
import { modelAngles } from '../model/rope.js';
import { type LossName, lossByName } from './losses.js';

/** What a training graph trains. */
export type TrainingMode =
  /** Every parameter of the base model. */
  | { readonly kind: 'full' }
  /** One adapter on the frozen base. */
  | { readonly kind: 'adapter'; readonly rank: number; readonly alpha: number }
  /** The gates of a mixture; base and (concatenated) adapters are frozen. */
  | { readonly kind: 'gates'; readonly ranks: readonly number[] }
  /** The (concatenated) adapters of a mixture, each by the tokens that go to it; base and gates are frozen. */
  | { readonly kind: 'experts'; readonly ranks: readonly number[] };

export interface TrainingGraph {
  readonly model: Uint8Array;
  /** Names and shapes of what is trained: inputs of these names, gradients as outputs `gradient/NAME`. */
  readonly trainable: ReadonlyMap<string, readonly number[]>;
}

/** Sizes that are bound when the graph runs: sequences, tokens of each, positions that have a weight. */
const ROWS = 'rows';
const LENGTH = 'length';
const SELECTED = 'selected';

/**
 * Forward pass, loss and (unless `loss` is null) backward pass as one ONNX graph.
 *
 * Inputs: `tokens` int64 [rows, length], right-padded; `positions` int64 [selected], flat indices (row·length + t)
 * of the positions whose next token matters: only they pay for the head; `targets` int64 [selected]; `weights`
 * [selected]; what the loss needs; every trainable parameter by name; of a mixture also its frozen half, the
 * concatenated adapters' A and B or the gates.
 * Outputs: `logprobs` [selected], `loss` [], `gradient/NAME`.
 *
 * @param base parameters of the base model. They are constants of the graph, unless `mode` trains them.
 */
export function trainingGraph(
  config: ModelConfig,
  base: Parameters,
  mode: TrainingMode,
  loss: LossName | null,
  dims: { readonly rows?: Dim; readonly length?: Dim; readonly selected?: Dim } = {},
): TrainingGraph {
  const { rows = ROWS, length = LENGTH, selected = SELECTED } = dims;
  const graph = new Graph();
  const trainable = trainableShapes(config, mode);
  const inputs = new Map<string, Value>();
  for (const [name, shape] of trainable)
    inputs.set(name, graph.input(name, shape, { trainable: loss !== null }));

  for (const [name, shape] of frozenShapes(config, mode)) inputs.set(name, graph.input(name, shape));

  const constants = new Map<string, Value>();
  const constant = (name: string): Value => {
    const known = constants.get(name);
    if (known) return known;
    const { data, shape } = base[name] as Tensor;
    const value = graph.constant(data, shape);
    constants.set(name, value);
    return value;
  };
  const parameter = (name: string): Value => inputs.get(name) ?? constant(name);

  const tokens = graph.input('tokens', [rows, length], { type: 'int64' });
  const angles = modelAngles(config, config.context);
  const anglesShape = [config.context, config.headDim / 2];
  const rotation = {
    cosine: graph.constant(angles.cosine, anglesShape),
    sine: graph.constant(angles.sine, anglesShape),
    minusSine: graph.constant(
      angles.sine.map((x) => -x),
      anglesShape,
    ),
  };
  const firstPosition = graph.integers([0]);

  let columns: Value | null = null;
  const project = (layer: number, x: Value, projections: readonly Projection[], plus?: Value): Value[] =>
    projections.map((projection) => {
      const module = projectionName(layer, projection);
      const weight = parameter(`${module}.weight`);
      if (mode.kind === 'full') return matmul(x, weight, plus && { plus });
      const a = parameter(loraA(module));
      const b = parameter(loraB(module));
      if (mode.kind === 'adapter') return adaptedMatmul(x, weight, a, b, mode.alpha / mode.rank, plus);
      return gatedProjection(x, weight, a, b, columns as Value, plus);
    });
  const heads = { query: config.heads, keyValue: config.kvHeads };
  const hidden = decoder(
    config,
    gatherRows(parameter(EMBEDDING), reshape(tokens, [product(rows, length)])),
    [rows, length],
    {
      parameter,
      project,
      enterLayer: (layer, x) => {
        if (mode.kind !== 'gates' && mode.kind !== 'experts') return;
        const trained = mode.kind === 'gates' && loss !== null;
        const slots = gateSlots(x, parameter(gateWeight(layer)), parameter(gateBias(layer)), trained);
        columns = spreadSlots(slots, mode.ranks);
      },
      attention: (_layer, q, k, v) => {
        const flat = (x: Value, count: number) => reshape(x, [rows, length, count * config.headDim]);
        const turned = (x: Value, count: number) => rotary(flat(x, count), firstPosition, rotation);
        const o = causalAttention(
          turned(q, heads.query),
          turned(k, heads.keyValue),
          flat(v, heads.keyValue),
          heads,
        );
        return reshape(o, [product(rows, length), heads.query * config.headDim]);
      },
    },
  );

  const positions = graph.input('positions', [selected], { type: 'int64' });
  const targets = graph.input('targets', [selected], { type: 'int64' });
  const logp = logProbability(head(config, gatherRows(hidden, positions), parameter), targets);
  graph.output('logprobs', logp);
  if (loss !== null) {
    const weights = graph.input('weights', [selected]);
    const total = graph.scope('loss', () => lossByName(loss, logp, weights));
    graph.output('loss', total);
    const names = [...trainable.keys()];
    const gradients = graph.gradients(
      total,
      names.map((name) => inputs.get(name) as Value),
    );
    for (const [i, name] of names.entries()) graph.output(`gradient/${name}`, gradients[i] as Value);
  }
  return { model: graph.toModel(), trainable };
}

/** Names and shapes in memory of what a mode trains. */
export function trainableShapes(
  config: ModelConfig,
  mode: TrainingMode,
): ReadonlyMap<string, readonly number[]> {
  switch (mode.kind) {
    case 'full':
      return memoryShapes(config);
    case 'adapter':
      return adapterShapes(config, mode.rank);
    case 'gates':
      return gateShapes(config, mode.ranks.length);
    case 'experts':
      return adapterShapes(config, sum(mode.ranks));
  }
}

/** Names and shapes in memory of what a mode's graph takes as inputs beside what it trains. */
function frozenShapes(config: ModelConfig, mode: TrainingMode): ReadonlyMap<string, readonly number[]> {
  switch (mode.kind) {
    case 'gates':
      return adapterShapes(config, sum(mode.ranks));
    case 'experts':
      return gateShapes(config, mode.ranks.length);
    default:
      return new Map();
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
