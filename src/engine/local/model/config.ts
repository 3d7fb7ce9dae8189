/**
 * Shape of a decoder: RMSNorm, rotary positions, grouped-query attention, SwiGLU, head tied to the embedding or not.
 * Families differ in two flags: Qwen3 normalises queries and keys, Qwen2 has biases on q, k and v, Llama neither.
 */
export interface ModelConfig {
  readonly vocabularySize: number;
  readonly hiddenSize: number;
  readonly layers: number;
  /** Query heads; a multiple of `kvHeads`. */
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly intermediateSize: number;
  readonly ropeTheta: number;
  /** Absent: plain rotary positions. */
  readonly ropeScaling?: RopeScaling;
  /** Epsilon inside the square root of RMSNorm. */
  readonly rmsEps: number;
  /** The head is the embedding's transpose; there is no `lm_head.weight`. */
  readonly tied: boolean;
  /** False for models without query and key norms (Llama's); Qwen3, the default, has them. */
  readonly queryKeyNorm?: boolean;
  /** True for models whose q, k and v have a bias (Qwen2's); absent: none. */
  readonly attentionBias?: boolean;
  /** Most tokens of prompt and completion together. */
  readonly context: number;
  readonly eosTokenIds: readonly number[];
}

/** Llama 3's stretching of rotary positions: slow frequencies are divided by `factor`, fast ones kept. */
export interface RopeScaling {
  readonly factor: number;
  readonly lowFrequencyFactor: number;
  readonly highFrequencyFactor: number;
  /** Context before stretching. */
  readonly originalContext: number;
}

/** The projections that have a bias where a model has biases. */
export const BIASED: readonly Projection[] = ['self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj'];

/** The linear layers that LoRA adapts, in the order of a forward pass, by their Hugging Face names. */
export const PROJECTIONS = [
  'self_attn.q_proj',
  'self_attn.k_proj',
  'self_attn.v_proj',
  'self_attn.o_proj',
  'mlp.gate_proj',
  'mlp.up_proj',
  'mlp.down_proj',
] as const;
export type Projection = (typeof PROJECTIONS)[number];

/** [out, in] of a projection's weight as Hugging Face stores it. */
export function projectionShape(config: ModelConfig, projection: Projection): readonly [number, number] {
  const { hiddenSize, intermediateSize, headDim } = config;
  const query = config.heads * headDim;
  const keyValue = config.kvHeads * headDim;
  switch (projection) {
    case 'self_attn.q_proj':
      return [query, hiddenSize];
    case 'self_attn.k_proj':
    case 'self_attn.v_proj':
      return [keyValue, hiddenSize];
    case 'self_attn.o_proj':
      return [hiddenSize, query];
    case 'mlp.gate_proj':
    case 'mlp.up_proj':
      return [intermediateSize, hiddenSize];
    case 'mlp.down_proj':
      return [hiddenSize, intermediateSize];
  }
}

/** Every parameter of the model by its Hugging Face name, with its shape; matrices are [out, in]. */
export function parameterShapes(config: ModelConfig): Map<string, readonly number[]> {
  const shapes = new Map<string, readonly number[]>();
  shapes.set('model.embed_tokens.weight', [config.vocabularySize, config.hiddenSize]);
  for (let layer = 0; layer < config.layers; layer++) {
    const prefix = `model.layers.${layer}`;
    shapes.set(`${prefix}.input_layernorm.weight`, [config.hiddenSize]);
    for (const projection of PROJECTIONS) {
      const shape = projectionShape(config, projection);
      shapes.set(`${prefix}.${projection}.weight`, shape);
      if (config.attentionBias && BIASED.includes(projection))
        shapes.set(`${prefix}.${projection}.bias`, [shape[0]]);
    }
    if (config.queryKeyNorm !== false) {
      shapes.set(`${prefix}.self_attn.q_norm.weight`, [config.headDim]);
      shapes.set(`${prefix}.self_attn.k_norm.weight`, [config.headDim]);
    }
    shapes.set(`${prefix}.post_attention_layernorm.weight`, [config.hiddenSize]);
  }
  shapes.set('model.norm.weight', [config.hiddenSize]);
  if (!config.tied) shapes.set('lm_head.weight', [config.vocabularySize, config.hiddenSize]);
  return shapes;
}

/** Number of parameters; a tied head counts once. */
export function countParameters(config: ModelConfig): number {
  let count = 0;
  for (const shape of parameterShapes(config).values()) count += shape.reduce((a, b) => a * b, 1);
  return count;
}
