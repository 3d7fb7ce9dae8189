import { add, matmul, reshape, rmsNorm, swiglu } from '../graph/ops/index.js';
import type { Value } from '../graph/value.js';
import { BIASED, type ModelConfig, type Projection } from './config.js';
import { EMBEDDING, FINAL_NORM, HEAD, layerName, projectionName } from './parameters.js';

/**
 * What the training and the decoding graph do differently in the same decoder. `rows` × `length` are the
 * dimensions of the batch; hidden states are [rows·length, hidden], row by row.
 */
export interface DecoderParts {
  /** A parameter of the base model by name: an input of the graph or a constant. */
  readonly parameter: (name: string) => Value;
  /**
   * Attention of a layer: q [rows, length, heads, size], k and v [rows, length, kvHeads, size], normed but
   * not yet rotated → [rows·length, heads·size].
   */
  readonly attention: (layer: number, q: Value, k: Value, v: Value) => Value;
  /**
   * The linear maps of one input: `x`·W for each named projection. They come together (q, k, v; gate, up) so that
   * they may be fused. `plus`, the residual stream, is to be added to the single result of o and down.
   * Default: one product each with `parameter`.
   */
  readonly project?: (
    layer: number,
    x: Value,
    projections: readonly Projection[],
    plus?: Value,
  ) => readonly Value[];
  /** Called once a layer with the block's normed input [rows·length, hidden], before its projections. */
  readonly enterLayer?: (layer: number, x: Value) => void;
}

/**
 * The blocks and the final norm: embedded tokens [rows·length, hidden] → hidden states of the same shape.
 * @param batch the dimensions [rows, length].
 */
export function decoder(
  config: ModelConfig,
  embedded: Value,
  batch: readonly [number | string, number | string],
  parts: DecoderParts,
): Value {
  const { graph } = embedded;
  const { heads, kvHeads, headDim, rmsEps } = config;
  const project =
    parts.project ??
    ((layer: number, x: Value, projections: readonly Projection[], plus?: Value) =>
      projections.map((projection) =>
        matmul(x, parts.parameter(`${projectionName(layer, projection)}.weight`), plus && { plus }),
      ));
  const norm = (x: Value, name: string) => rmsNorm(x, parts.parameter(name), rmsEps);

  let x = embedded;
  for (let layer = 0; layer < config.layers; layer++) {
    x = graph.scope(`layer${layer}`, () => {
      const prefix = layerName(layer);
      const input = norm(x, `${prefix}.input_layernorm.weight`);
      parts.enterLayer?.(layer, input);
      const [q, k, v] = project(layer, input, BIASED).map((y, i) =>
        config.attentionBias
          ? add(y, parts.parameter(`${projectionName(layer, BIASED[i] as Projection)}.bias`))
          : y,
      ) as [Value, Value, Value];
      const split = (y: Value, count: number) => reshape(y, [...batch, count, headDim]);
      const normed = (y: Value, name: string) =>
        config.queryKeyNorm !== false ? norm(y, `${prefix}.self_attn.${name}.weight`) : y;
      const attended = parts.attention(
        layer,
        normed(split(q, heads), 'q_norm'),
        normed(split(k, kvHeads), 'k_norm'),
        split(v, kvHeads),
      );
      const afterAttention = project(layer, attended, ['self_attn.o_proj'], x)[0] as Value;
      const middle = norm(afterAttention, `${prefix}.post_attention_layernorm.weight`);
      const [gate, up] = project(layer, middle, ['mlp.gate_proj', 'mlp.up_proj']) as [Value, Value];
      return project(layer, swiglu(gate, up), ['mlp.down_proj'], afterAttention)[0] as Value;
    });
  }
  return graph.scope('final', () => norm(x, FINAL_NORM));
}

/** Logits [n, vocabulary] of hidden states [n, hidden]. */
export function head(config: ModelConfig, hidden: Value, parameter: (name: string) => Value): Value {
  return hidden.graph.scope('head', () =>
    config.tied
      ? matmul(hidden, parameter(EMBEDDING), { transposeB: true })
      : matmul(hidden, parameter(HEAD)),
  );
}
