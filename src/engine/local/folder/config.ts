import type { ModelConfig } from '../model/config.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * `config.json` of a Hugging Face folder → the model's shape. Takes the old keys (`rope_theta`, `torch_dtype`)
 * and those of transformers 5 (`rope_parameters`, `dtype`); defaults are transformers' own (Qwen3Config).
 * @param source names the file in errors.
 * @throws Error naming the field when the architecture or one of its options is not supported: loading would
 *   give another model than the folder means.
 */
export function parseModelConfig(value: unknown, source: string): ModelConfig {
  if (!isFields(value)) throw new Error(`${source} must be a JSON object`);
  const type = value.model_type ?? firstArchitecture(value);
  if (type !== 'qwen3' && type !== 'Qwen3ForCausalLM') {
    throw new Error(`${source}: "model_type" is ${JSON.stringify(type ?? null)}; supported: "qwen3"`);
  }
  rejectUnsupported(value, source);
  const count = (key: string, fallback?: number): number => {
    const found = value[key] ?? fallback;
    if (!isPositiveInteger(found)) {
      throw new Error(`${source}: "${key}" must be a positive integer, got ${JSON.stringify(found)}`);
    }
    return found;
  };
  const heads = count('num_attention_heads');
  const kvHeads = count('num_key_value_heads', heads);
  if (heads % kvHeads !== 0) {
    throw new Error(`${source}: ${heads} attention heads are not a multiple of ${kvHeads} key/value heads`);
  }
  const headDim = count('head_dim', 128);
  if (headDim % 2 !== 0)
    throw new Error(`${source}: "head_dim" must be even for rotary positions, got ${headDim}`);
  const rmsEps = value.rms_norm_eps ?? 1e-6;
  if (typeof rmsEps !== 'number' || !(rmsEps > 0)) {
    throw new Error(`${source}: "rms_norm_eps" must be a positive number, got ${JSON.stringify(rmsEps)}`);
  }
  return {
    vocabularySize: count('vocab_size'),
    hiddenSize: count('hidden_size'),
    layers: count('num_hidden_layers'),
    heads,
    kvHeads,
    headDim,
    intermediateSize: count('intermediate_size'),
    ropeTheta: ropeTheta(value, source),
    rmsEps,
    tied: value.tie_word_embeddings === true,
    context: count('max_position_embeddings', 32768),
    eosTokenIds: parseTokenIds(value.eos_token_id, `${source}: "eos_token_id"`),
  };
}

/** The `config.json` that transformers and older readers both load to this model. */
export function formatModelConfig(config: ModelConfig): Record<string, unknown> {
  return {
    architectures: ['Qwen3ForCausalLM'],
    attention_bias: false,
    attention_dropout: 0,
    bos_token_id: null,
    dtype: 'float32',
    eos_token_id: config.eosTokenIds.length === 1 ? config.eosTokenIds[0] : [...config.eosTokenIds],
    head_dim: config.headDim,
    hidden_act: 'silu',
    hidden_size: config.hiddenSize,
    initializer_range: 0.02,
    intermediate_size: config.intermediateSize,
    layer_types: Array.from({ length: config.layers }, () => 'full_attention'),
    max_position_embeddings: config.context,
    max_window_layers: config.layers,
    model_type: 'qwen3',
    num_attention_heads: config.heads,
    num_hidden_layers: config.layers,
    num_key_value_heads: config.kvHeads,
    pad_token_id: null,
    rms_norm_eps: config.rmsEps,
    rope_parameters: { rope_theta: config.ropeTheta, rope_type: 'default' },
    rope_theta: config.ropeTheta,
    sliding_window: null,
    tie_word_embeddings: config.tied,
    use_cache: true,
    use_sliding_window: false,
    vocab_size: config.vocabularySize,
  };
}

/** A token id or a list of them; null and undefined are none. @throws Error naming `where` otherwise. */
export function parseTokenIds(value: unknown, where: string): number[] {
  if (value === null || value === undefined) return [];
  const list: unknown[] = Array.isArray(value) ? value : [value];
  for (const id of list) {
    if (!Number.isSafeInteger(id) || (id as number) < 0) {
      throw new Error(`${where} must be a token id or a list of them, got ${JSON.stringify(value)}`);
    }
  }
  return list as number[];
}

/** Options that change the computation and that the decoder does not have. */
function rejectUnsupported(config: Fields, source: string): void {
  const refuse = (key: string, wanted: string): never => {
    throw new Error(`${source}: "${key}" is ${JSON.stringify(config[key])}; supported: ${wanted}`);
  };
  if (config.hidden_act !== undefined && config.hidden_act !== 'silu') refuse('hidden_act', '"silu"');
  if (config.attention_bias === true) refuse('attention_bias', 'false');
  if (config.use_sliding_window === true) refuse('use_sliding_window', 'false');
  if (isFields(config.quantization_config)) refuse('quantization_config', 'none (f32, f16 or bf16 weights)');
  const layers = config.layer_types;
  if (Array.isArray(layers) && layers.some((layer) => layer !== 'full_attention')) {
    refuse('layer_types', '"full_attention" in every layer');
  }
}

function ropeTheta(config: Fields, source: string): number {
  const parameters = config.rope_parameters;
  const scaling = config.rope_scaling;
  for (const [key, rope] of [
    ['rope_parameters', parameters],
    ['rope_scaling', scaling],
  ] as const) {
    if (rope === null || rope === undefined) continue;
    if (!isFields(rope)) throw new Error(`${source}: "${key}" must be an object`);
    const type = rope.rope_type ?? rope.type ?? 'default';
    if (type !== 'default') {
      throw new Error(`${source}: "${key}" has rope type ${JSON.stringify(type)}; supported: "default"`);
    }
  }
  const theta = (isFields(parameters) ? parameters.rope_theta : undefined) ?? config.rope_theta ?? 10000;
  if (typeof theta !== 'number' || !(theta > 0)) {
    throw new Error(`${source}: "rope_theta" must be a positive number, got ${JSON.stringify(theta)}`);
  }
  return theta;
}

const firstArchitecture = (config: Fields): unknown =>
  Array.isArray(config.architectures) ? config.architectures[0] : undefined;
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isPositiveInteger = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) > 0;
