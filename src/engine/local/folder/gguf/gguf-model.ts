import { type ModelConfig, type Projection, parameterShapes, type RopeScaling } from '../../model/config.js';
import { scaledFrequency } from '../../model/rope.js';
import type { Tensors } from '../safetensors.js';
import type { GgufFile } from './gguf-file.js';

/** How a family of GGUF files differs; the keys are `general.architecture`. */
const FAMILIES = {
  llama: { queryKeyNorm: false, attentionBias: false, permuted: true },
  qwen2: { queryKeyNorm: false, attentionBias: true, permuted: false },
  qwen3: { queryKeyNorm: true, attentionBias: false, permuted: false },
} as const;

/** Llama 3's scaling apart from its factor: files hold its result only (`rope_freqs.weight`). */
const LLAMA3 = { lowFrequencyFactor: 1, highFrequencyFactor: 4, originalContext: 8192 } as const;
const ROPE_FACTORS = 'rope_freqs.weight';

/** Names of a layer's parts in Hugging Face's and in GGUF's words; both end in `.weight` or `.bias`. */
const LAYER_NAMES: Readonly<Record<Projection, string>> & Readonly<Record<string, string>> = {
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  input_layernorm: 'attn_norm',
  post_attention_layernorm: 'ffn_norm',
};
const TOP_NAMES: Readonly<Record<string, string>> = {
  'model.embed_tokens.weight': 'token_embd.weight',
  'model.norm.weight': 'output_norm.weight',
  'lm_head.weight': 'output.weight',
};

/** GGUF's name of a parameter. */
export function ggufName(name: string): string {
  const top = TOP_NAMES[name];
  if (top !== undefined) return top;
  const [, layer, part, kind] = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(name) ?? [];
  const known = part === undefined ? undefined : LAYER_NAMES[part];
  if (known === undefined) throw new Error(`no GGUF name for "${name}"`);
  return `blk.${layer}.${known}.${kind}`;
}

/** The model's shape, from metadata and the tensors' sizes. @throws Error naming file and field. */
export function ggufConfig(file: GgufFile): ModelConfig {
  const { path, metadata, tensors } = file;
  const architecture = metadata.get('general.architecture');
  if (typeof architecture !== 'string' || !Object.hasOwn(FAMILIES, architecture))
    throw new Error(
      `${path}: the architecture ${JSON.stringify(architecture ?? null)} is not supported; supported: ${Object.keys(FAMILIES).join(', ')}`,
    );
  const family = FAMILIES[architecture as keyof typeof FAMILIES];
  const number = (key: string, fallback?: number): number => {
    const value = metadata.get(`${architecture}.${key}`) ?? fallback;
    if (typeof value !== 'number' || !(value > 0))
      throw new Error(
        `${path}: "${architecture}.${key}" must be a positive number, got ${JSON.stringify(value ?? null)}`,
      );
    return value;
  };
  for (const [key, none] of [
    ['expert_count', 0],
    ['rope.scaling.type', 'none'],
  ] as const) {
    const value = metadata.get(`${architecture}.${key}`);
    if (value !== undefined && value !== none)
      throw new Error(`${path}: "${architecture}.${key}" is ${JSON.stringify(value)}; supported: ${none}`);
  }
  const parts = metadata.get('split.count');
  if (typeof parts === 'number' && parts > 1)
    throw new Error(`${path}: one of ${parts} parts; join them first (llama-gguf-split --merge)`);
  const embedding = tensors.get('token_embd.weight');
  if (!embedding) throw new Error(`${path}: lacks the tensor "token_embd.weight"`);
  const hiddenSize = number('embedding_length');
  const heads = number('attention.head_count');
  const headDim = number('attention.key_length', hiddenSize / heads);
  if (number('rope.dimension_count', headDim) !== headDim)
    throw new Error(`${path}: "${architecture}.rope.dimension_count" is not the head's size ${headDim}`);
  const ropeTheta = number('rope.freq_base', 10000);
  const scaling = tensors.has(ROPE_FACTORS) ? ropeScaling(file, ropeTheta, headDim) : null;
  const ids = ['eos_token_id', 'eot_token_id'].map((key) => metadata.get(`tokenizer.ggml.${key}`));
  return {
    vocabularySize: embedding.shape[0] as number,
    hiddenSize,
    layers: number('block_count'),
    heads,
    kvHeads: number('attention.head_count_kv', heads),
    headDim,
    intermediateSize: number('feed_forward_length'),
    ropeTheta,
    ...(scaling ? { ropeScaling: scaling } : {}),
    // Stored as f32; the shortest decimal that means it is what the model's authors wrote.
    rmsEps: Number(number('attention.layer_norm_rms_epsilon').toPrecision(7)),
    tied: !tensors.has('output.weight'),
    ...(family.queryKeyNorm ? {} : { queryKeyNorm: false }),
    ...(family.attentionBias ? { attentionBias: true } : {}),
    context: number('context_length'),
    eosTokenIds: [...new Set(ids.filter((id): id is number => typeof id === 'number'))],
  };
}

/** Reads and dequantises every parameter, by Hugging Face names. @throws Error naming a tensor that does not fit. */
export function ggufParameters(file: GgufFile, config: ModelConfig): Tensors {
  const { permuted } = FAMILIES[file.metadata.get('general.architecture') as keyof typeof FAMILIES];
  const left = new Set(file.tensors.keys());
  left.delete(ROPE_FACTORS);
  const parameters: Tensors = new Map();
  for (const [name, shape] of parameterShapes(config)) {
    const own = ggufName(name);
    const tensor = file.tensors.get(own);
    if (tensor && tensor.shape.join() !== shape.join())
      throw new Error(
        `${file.path}: "${own}" is [${tensor.shape.join(', ')}], the metadata mean [${shape.join(', ')}]`,
      );
    const data = file.read(own);
    left.delete(own);
    const heads = name.endsWith('q_proj.weight') ? config.heads : config.kvHeads;
    const turned = permuted && /\.[qk]_proj\.weight$/.test(name);
    parameters.set(name, { shape, data: turned ? unpermuted(data, heads, config.headDim) : data });
  }
  const [unknown] = left;
  if (unknown !== undefined) throw new Error(`${file.path}: "${unknown}" is no parameter of this model`);
  return parameters;
}

/**
 * llama.cpp rotates neighbouring rows of a head against each other, Hugging Face the first half against the second:
 * its rows 2i and 2i + 1 are rows i and i + size / 2.
 */
export function unpermuted(data: Float32Array, heads: number, size: number): Float32Array {
  const columns = data.length / (heads * size);
  const result = new Float32Array(data.length);
  for (let head = 0; head < heads; head++) {
    for (let row = 0; row < size; row++) {
      const from = (head * size + row) * columns;
      const to = (head * size + (row >> 1) + (row % 2) * (size / 2)) * columns;
      result.set(data.subarray(from, from + columns), to);
    }
  }
  return result;
}

/** The parameters of Llama 3's scaling that give the file's factors. @throws Error when they are something else. */
function ropeScaling(file: GgufFile, theta: number, headDim: number): RopeScaling {
  const factors = file.read(ROPE_FACTORS);
  const scaling = { ...LLAMA3, factor: Math.max(...factors) };
  const fits =
    factors.length === headDim / 2 &&
    factors.every((factor, i) => {
      const frequency = theta ** ((-2 * i) / headDim);
      return Math.abs(frequency / scaledFrequency(frequency, scaling) / factor - 1) < 1e-3;
    });
  if (!fits) throw new Error(`${file.path}: "${ROPE_FACTORS}" is not Llama 3's scaling of positions`);
  return scaling;
}
