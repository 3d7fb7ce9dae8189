import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeJsonWhole } from '../../run/files.js';
import { readSafetensors, type Tensor, type Tensors, writeSafetensors } from './folder/safetensors.js';
import { type ModelConfig, PROJECTIONS, type Projection, projectionShape } from './model/config.js';

/** LoRA matrices of one projection: A [rank, in], B [out, rank]; the delta is (alpha / rank) · B · A. */
export interface LoraPair {
  readonly a: Tensor;
  readonly b: Tensor;
}

/** An adapter as a PEFT folder holds it; `layers[i]` has a pair for each of `PROJECTIONS`. */
export interface PeftAdapter {
  readonly rank: number;
  readonly alpha: number;
  readonly baseModel: string | null;
  readonly layers: readonly Readonly<Record<Projection, LoraPair>>[];
}

/** The PEFT release whose files these are. */
const PEFT_VERSION = '0.21.2';

/** Name of a LoRA tensor in `adapter_model.safetensors`. */
export function peftTensorName(layer: number, projection: Projection, matrix: 'A' | 'B'): string {
  return `base_model.model.model.layers.${layer}.${projection}.lora_${matrix}.weight`;
}

/**
 * Writes `adapter_config.json` and `adapter_model.safetensors` as PEFT names them: `PeftModel.from_pretrained`
 * loads the folder. Every key is written because PEFT fills absent ones silently with its defaults.
 */
export function writePeftFolder(folder: string, adapter: PeftAdapter): void {
  const tensors: Tensors = new Map();
  adapter.layers.forEach((layer, index) => {
    for (const projection of PROJECTIONS) {
      tensors.set(peftTensorName(index, projection, 'A'), layer[projection].a);
      tensors.set(peftTensorName(index, projection, 'B'), layer[projection].b);
    }
  });
  writeSafetensors(join(folder, 'adapter_model.safetensors'), tensors);
  writeJsonWhole(join(folder, 'adapter_config.json'), peftConfig(adapter));
}

/**
 * Reads a PEFT LoRA folder for this model. Stricter than PEFT, which ignores missing and unknown tensors: an
 * adapter that would load to something else than was trained is refused.
 * @throws Error naming file and key or tensor.
 */
export function readPeftFolder(folder: string, config: ModelConfig): PeftAdapter {
  const configFile = join(folder, 'adapter_config.json');
  const { rank, alpha, baseModel } = readPeftConfig(configFile);
  const file = join(folder, 'adapter_model.safetensors');
  if (!existsSync(file)) throw new Error(`${file} is missing`);
  const { tensors } = readSafetensors(file);
  const take = (name: string, shape: readonly number[]): Tensor => {
    const tensor = tensors.get(name);
    if (tensor === undefined) throw new Error(`${file} lacks "${name}"`);
    if (tensor.shape.join() !== shape.join()) {
      throw new Error(
        `${file}: "${name}" is [${tensor.shape.join(', ')}], the model needs [${shape.join(', ')}]`,
      );
    }
    tensors.delete(name);
    return tensor;
  };
  const layers = Array.from({ length: config.layers }, (_, layer) => {
    const pairs = PROJECTIONS.map((projection) => {
      const [out, input] = projectionShape(config, projection);
      const a = take(peftTensorName(layer, projection, 'A'), [rank, input]);
      const b = take(peftTensorName(layer, projection, 'B'), [out, rank]);
      return [projection, { a, b }] as const;
    });
    return Object.fromEntries(pairs) as Record<Projection, LoraPair>;
  });
  const [unknown] = tensors.keys();
  if (unknown !== undefined) throw new Error(`${file}: "${unknown}" is no LoRA tensor of this model`);
  return { rank, alpha, baseModel, layers };
}

function readPeftConfig(file: string): { rank: number; alpha: number; baseModel: string | null } {
  if (!existsSync(file)) throw new Error(`${file} is missing: not a PEFT folder`);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file} is not JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${file} must be a JSON object`);
  }
  const fields = value as Record<string, unknown>;
  if (fields.peft_type !== 'LORA') {
    throw new Error(`${file}: "peft_type" is ${JSON.stringify(fields.peft_type ?? null)}; supported: "LORA"`);
  }
  const rank = fields.r;
  if (!Number.isSafeInteger(rank) || (rank as number) <= 0) {
    throw new Error(`${file}: "r" must be a positive integer`);
  }
  const alpha = fields.lora_alpha;
  if (typeof alpha !== 'number' || !Number.isFinite(alpha)) {
    throw new Error(`${file}: "lora_alpha" must be a number`);
  }
  for (const key of ['use_dora', 'use_rslora', 'fan_in_fan_out', 'lora_bias', 'use_qalora'] as const) {
    if (fields[key] === true) throw new Error(`${file}: "${key}" is not supported`);
  }
  for (const key of ['rank_pattern', 'alpha_pattern'] as const) {
    const pattern = fields[key];
    if (typeof pattern === 'object' && pattern !== null && Object.keys(pattern).length > 0) {
      throw new Error(`${file}: "${key}" is not supported; one rank and alpha for all projections`);
    }
  }
  if (fields.bias !== undefined && fields.bias !== 'none') throw new Error(`${file}: "bias" must be "none"`);
  if (fields.modules_to_save !== undefined && fields.modules_to_save !== null) {
    throw new Error(`${file}: "modules_to_save" is not supported`);
  }
  const base = fields.base_model_name_or_path;
  return { rank: rank as number, alpha, baseModel: typeof base === 'string' ? base : null };
}

function peftConfig(adapter: PeftAdapter): Record<string, unknown> {
  return {
    alora_invocation_tokens: null,
    alpha_pattern: {},
    arrow_config: null,
    auto_mapping: null,
    base_model_name_or_path: adapter.baseModel,
    bias: 'none',
    corda_config: null,
    ensure_weight_tying: false,
    eva_config: null,
    exclude_modules: null,
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    kasa_config: null,
    layer_replication: null,
    layers_pattern: null,
    layers_to_transform: null,
    loftq_config: {},
    lora_alpha: adapter.alpha,
    lora_bias: false,
    lora_dropout: 0,
    lora_ga_config: null,
    megatron_config: null,
    megatron_core: 'megatron.core',
    modules_to_save: null,
    monteclora_config: null,
    peft_type: 'LORA',
    peft_version: PEFT_VERSION,
    qalora_group_size: 16,
    r: adapter.rank,
    rank_pattern: {},
    revision: null,
    target_modules: PROJECTIONS.map((projection) => projection.split('.')[1]),
    target_parameters: null,
    task_type: 'CAUSAL_LM',
    trainable_token_indices: null,
    use_bdlora: null,
    use_dora: false,
    use_qalora: false,
    use_rslora: false,
    velora_config: null,
  };
}
