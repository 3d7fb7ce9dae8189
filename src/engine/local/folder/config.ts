import type { ModelConfig, RopeScaling } from '../model/config.js';

type Fields = Readonly<Record<string, unknown>>;

/** What a family means where `config.json` is silent (transformers' own defaults), and how it differs. */
interface Family {
  readonly architecture: string;
  readonly queryKeyNorm: boolean;
  readonly attentionBias: boolean;
  /** Size of a head; null: hidden size over heads. */
  readonly headDim: number | null;
  readonly context: number;
}

const FAMILIES: Readonly<Record<string, Family>> = {
  qwen3: {
    architecture: 'Qwen3ForCausalLM',
    queryKeyNorm: true,
    attentionBias: false,
    headDim: 128,
    context: 32768,
  },
  qwen2: {
    architecture: 'Qwen2ForCausalLM',
    queryKeyNorm: false,
    attentionBias: true,
    headDim: null,
    context: 32768,
  },
  llama: {
    architecture: 'LlamaForCausalLM',
    queryKeyNorm: false,
    attentionBias: false,
    headDim: null,
    context: 2048,
  },
};

/** What the engine runs, in words, for errors. */
export const SUPPORTED_ARCHITECTURES = Object.entries(FAMILIES)
  .map(([type, { architecture }]) => `${architecture} ("${type}")`)
  .join(', ');

/**
 * `config.json` of a Hugging Face folder → the model's shape. Takes the old keys (`rope_theta`, `rope_scaling`,
 * `torch_dtype`) and those of transformers 5 (`rope_parameters`, `dtype`); defaults are transformers' own.
 * @param source names the file in errors.
 * @throws Error naming the field when the architecture or one of its options is not supported: loading would
 *   give another model than the folder means.
 */
export function parseModelConfig(value: unknown, source: string): ModelConfig {
  if (!isFields(value)) throw new Error(`${source} must be a JSON object`);
  const family = familyOf(value, source);
  rejectUnsupported(value, source);
  const count = (key: string, fallback?: number): number => {
    const found = value[key] ?? fallback;
    if (!isPositiveInteger(found)) {
      throw new Error(`${source}: "${key}" must be a positive integer, got ${JSON.stringify(found)}`);
    }
    return found;
  };
  const hiddenSize = count('hidden_size');
  const heads = count('num_attention_heads');
  const kvHeads = count('num_key_value_heads', heads);
  if (heads % kvHeads !== 0) {
    throw new Error(`${source}: ${heads} attention heads are not a multiple of ${kvHeads} key/value heads`);
  }
  const headDim = count('head_dim', family.headDim ?? hiddenSize / heads);
  if (headDim % 2 !== 0)
    throw new Error(`${source}: "head_dim" must be even for rotary positions, got ${headDim}`);
  const rmsEps = value.rms_norm_eps ?? 1e-6;
  if (typeof rmsEps !== 'number' || !(rmsEps > 0)) {
    throw new Error(`${source}: "rms_norm_eps" must be a positive number, got ${JSON.stringify(rmsEps)}`);
  }
  const context = count('max_position_embeddings', family.context);
  const { theta, scaling } = parseRope(value, context, source);
  return {
    vocabularySize: count('vocab_size'),
    hiddenSize,
    layers: count('num_hidden_layers'),
    heads,
    kvHeads,
    headDim,
    intermediateSize: count('intermediate_size'),
    ropeTheta: theta,
    ...(scaling ? { ropeScaling: scaling } : {}),
    rmsEps,
    tied: value.tie_word_embeddings === true,
    ...(family.queryKeyNorm ? {} : { queryKeyNorm: false }),
    ...(family.attentionBias ? { attentionBias: true } : {}),
    context,
    eosTokenIds: parseTokenIds(value.eos_token_id, `${source}: "eos_token_id"`),
  };
}

/**
 * The `config.json` that transformers and older readers both load to this model.
 * @throws Error when no supported family has these features together.
 */
export function formatModelConfig(config: ModelConfig): Record<string, unknown> {
  const type = Object.keys(FAMILIES).find(
    (key) =>
      FAMILIES[key]!.queryKeyNorm === (config.queryKeyNorm !== false) &&
      FAMILIES[key]!.attentionBias === (config.attentionBias ?? false),
  );
  if (type === undefined)
    throw new Error(`no model has query and key norms beside attention biases: ${SUPPORTED_ARCHITECTURES}`);
  const scaling = config.ropeScaling && {
    factor: config.ropeScaling.factor,
    high_freq_factor: config.ropeScaling.highFrequencyFactor,
    low_freq_factor: config.ropeScaling.lowFrequencyFactor,
    original_max_position_embeddings: config.ropeScaling.originalContext,
    rope_type: 'llama3',
  };
  const qwen = type === 'qwen3' || type === 'qwen2';
  return {
    architectures: [FAMILIES[type]!.architecture],
    ...(type === 'qwen2' ? {} : { attention_bias: false }),
    attention_dropout: 0,
    bos_token_id: null,
    dtype: 'float32',
    eos_token_id: config.eosTokenIds.length === 1 ? config.eosTokenIds[0] : [...config.eosTokenIds],
    head_dim: config.headDim,
    hidden_act: 'silu',
    hidden_size: config.hiddenSize,
    initializer_range: 0.02,
    intermediate_size: config.intermediateSize,
    ...(qwen ? { layer_types: Array.from({ length: config.layers }, () => 'full_attention') } : {}),
    max_position_embeddings: config.context,
    ...(qwen ? { max_window_layers: config.layers } : {}),
    model_type: type,
    num_attention_heads: config.heads,
    num_hidden_layers: config.layers,
    num_key_value_heads: config.kvHeads,
    pad_token_id: null,
    rms_norm_eps: config.rmsEps,
    rope_parameters: {
      ...(scaling ?? {}),
      rope_theta: config.ropeTheta,
      rope_type: scaling?.rope_type ?? 'default',
    },
    ...(scaling ? { rope_scaling: scaling } : {}),
    rope_theta: config.ropeTheta,
    ...(qwen ? { sliding_window: null } : {}),
    tie_word_embeddings: config.tied,
    use_cache: true,
    ...(qwen ? { use_sliding_window: false } : {}),
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

/** By `model_type` and `architectures`, which must agree: a classifier's folder has a decoder's type too. */
function familyOf(config: Fields, source: string): Family {
  const architecture: unknown = Array.isArray(config.architectures) ? config.architectures[0] : undefined;
  const found = Object.entries(FAMILIES).find(
    ([type, family]) => type === config.model_type || family.architecture === architecture,
  )?.[1];
  if (found === undefined || (architecture !== undefined && architecture !== found.architecture)) {
    const name = architecture ?? config.model_type ?? null;
    throw new Error(
      `${source}: the architecture ${JSON.stringify(name)} is not supported; supported: ${SUPPORTED_ARCHITECTURES}`,
    );
  }
  return found;
}

/** Options that change the computation and that the decoder does not have. */
function rejectUnsupported(config: Fields, source: string): void {
  const refuse = (key: string, wanted: string): never => {
    throw new Error(`${source}: "${key}" is ${JSON.stringify(config[key])}; supported: ${wanted}`);
  };
  if (config.hidden_act !== undefined && config.hidden_act !== 'silu') refuse('hidden_act', '"silu"');
  for (const key of ['attention_bias', 'mlp_bias', 'use_sliding_window'] as const) {
    if (config[key] === true) refuse(key, 'false');
  }
  const rotary = config.partial_rotary_factor;
  if (rotary !== undefined && rotary !== null && rotary !== 1) refuse('partial_rotary_factor', '1');
  if (isFields(config.quantization_config)) refuse('quantization_config', 'none (f32, f16 or bf16 weights)');
  const layers = config.layer_types;
  if (Array.isArray(layers) && layers.some((layer) => layer !== 'full_attention')) {
    refuse('layer_types', '"full_attention" in every layer');
  }
}

/** The rotary base and its stretching, from `rope_parameters` (transformers 5) or `rope_theta` and `rope_scaling`. */
function parseRope(
  config: Fields,
  context: number,
  source: string,
): { theta: number; scaling?: RopeScaling } {
  let scaling: RopeScaling | undefined;
  for (const key of ['rope_parameters', 'rope_scaling'] as const) {
    const rope = config[key];
    if (rope === null || rope === undefined) continue;
    if (!isFields(rope)) throw new Error(`${source}: "${key}" must be an object`);
    const type = rope.rope_type ?? rope.type ?? 'default';
    if (type === 'llama3') scaling ??= parseScaling(rope, config, context, `${source}: "${key}"`);
    else if (type !== 'default') {
      throw new Error(
        `${source}: "${key}" has rope type ${JSON.stringify(type)}; supported: "default", "llama3"`,
      );
    }
  }
  const parameters = config.rope_parameters;
  const theta = (isFields(parameters) ? parameters.rope_theta : undefined) ?? config.rope_theta ?? 10000;
  if (typeof theta !== 'number' || !(theta > 0)) {
    throw new Error(`${source}: "rope_theta" must be a positive number, got ${JSON.stringify(theta)}`);
  }
  return scaling ? { theta, scaling } : { theta };
}

function parseScaling(rope: Fields, config: Fields, context: number, where: string): RopeScaling {
  const number = (key: string, fallback?: unknown): number => {
    const found = rope[key] ?? fallback;
    if (typeof found !== 'number' || !(found > 0)) {
      throw new Error(`${where}: "${key}" must be a positive number, got ${JSON.stringify(found ?? null)}`);
    }
    return found;
  };
  return {
    factor: number('factor'),
    lowFrequencyFactor: number('low_freq_factor'),
    highFrequencyFactor: number('high_freq_factor'),
    originalContext: number(
      'original_max_position_embeddings',
      config.original_max_position_embeddings ?? context,
    ),
  };
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isPositiveInteger = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) > 0;
