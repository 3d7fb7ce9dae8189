import { BIASED, type ModelConfig, type Projection } from '../model/config.js';
import { gateBias, gateWeight } from '../model/gates.js';
import { type Adapter, concatenateAdapters, loraA, loraB, mergeAdapters } from '../model/lora.js';
import { layerName, type Parameters, projectionName, type Tensor } from '../model/parameters.js';

/** What a policy adds to the base model, as the sampler takes it. */
export type PolicyWeights =
  | { readonly kind: 'base' }
  | { readonly kind: 'adapter'; readonly adapter: Adapter }
  /** Slot k + 1 holds adapters[k]; `gates` by the names of `gateWeight` and `gateBias`. */
  | { readonly kind: 'mixture'; readonly adapters: readonly Adapter[]; readonly gates: Parameters };

/** Projections that read the same input and are computed as one product. */
export const PROJECTION_GROUPS = {
  attention: ['self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj'],
  output: ['self_attn.o_proj'],
  expand: ['mlp.gate_proj', 'mlp.up_proj'],
  contract: ['mlp.down_proj'],
} as const satisfies Record<string, readonly Projection[]>;
export type ProjectionGroup = keyof typeof PROJECTION_GROUPS;

/** A group's weights side by side: y = x·weight (+ ((x·a) ∘ columns)·b in a mixture). */
export interface GroupWeights {
  /** [in, Σ out]. */
  readonly weight: Tensor;
  /** [in, projections · Σ rank]; every projection has its own columns. */
  readonly a?: Tensor;
  /** [projections · Σ rank, Σ out], block diagonal by projection. */
  readonly b?: Tensor;
}

export interface LayerWeights {
  readonly inputNorm: Float32Array;
  /** Absent in models without query and key norms. */
  readonly queryNorm?: Float32Array;
  readonly keyNorm?: Float32Array;
  /** Of q, k and v side by side; absent in models without biases. */
  readonly attentionBias?: Float32Array;
  readonly middleNorm: Float32Array;
  readonly groups: Readonly<Record<ProjectionGroup, GroupWeights>>;
  readonly gate?: { readonly weight: Tensor; readonly bias: Tensor };
}

/**
 * Weights of one layer laid out for decoding. An adapter is merged into the projections: a policy is sampled far
 * more often than it changes, and the merged product is one where the separate ones are three. A mixture keeps its
 * adapters apart, because every token chooses its own.
 */
export function layerWeights(
  config: ModelConfig,
  base: Parameters,
  policy: PolicyWeights,
): (layer: number) => LayerWeights {
  const parameters =
    policy.kind === 'adapter' ? mergeAdapters(config, base, [{ adapter: policy.adapter, weight: 1 }]) : base;
  const adapters = policy.kind === 'mixture' ? concatenateAdapters(config, policy.adapters) : null;
  const vector = (name: string): Float32Array => take(parameters, name).data;
  return (layer) => {
    const prefix = layerName(layer);
    const group = (projections: readonly Projection[]): GroupWeights => {
      const modules = projections.map((projection) => projectionName(layer, projection));
      const weight = joinColumns(modules.map((module) => take(parameters, `${module}.weight`)));
      if (adapters === null) return { weight };
      return {
        weight,
        a: joinColumns(modules.map((module) => take(adapters, loraA(module)))),
        b: blockDiagonal(modules.map((module) => take(adapters, loraB(module)))),
      };
    };
    return {
      inputNorm: vector(`${prefix}.input_layernorm.weight`),
      ...(config.queryKeyNorm === false
        ? {}
        : {
            queryNorm: vector(`${prefix}.self_attn.q_norm.weight`),
            keyNorm: vector(`${prefix}.self_attn.k_norm.weight`),
          }),
      ...(config.attentionBias
        ? {
            attentionBias: Float32Array.from(
              BIASED.flatMap((projection) => [...vector(`${projectionName(layer, projection)}.bias`)]),
            ),
          }
        : {}),
      middleNorm: vector(`${prefix}.post_attention_layernorm.weight`),
      groups: {
        attention: group(PROJECTION_GROUPS.attention),
        output: group(PROJECTION_GROUPS.output),
        expand: group(PROJECTION_GROUPS.expand),
        contract: group(PROJECTION_GROUPS.contract),
      },
      ...(policy.kind === 'mixture'
        ? {
            gate: {
              weight: take(policy.gates, gateWeight(layer)),
              bias: take(policy.gates, gateBias(layer)),
            },
          }
        : {}),
    };
  };
}

function take(parameters: Parameters, name: string): Tensor {
  const tensor = parameters[name];
  if (tensor === undefined) throw new Error(`the policy lacks "${name}"`);
  return tensor;
}

/** [m, n₁], [m, n₂], … → [m, Σ n]. */
function joinColumns(parts: readonly Tensor[]): Tensor {
  if (parts.length === 1) return parts[0] as Tensor;
  const rows = parts[0]?.shape[0] as number;
  const total = parts.reduce((sum, part) => sum + (part.shape[1] as number), 0);
  const data = new Float32Array(rows * total);
  let offset = 0;
  for (const part of parts) {
    const columns = part.shape[1] as number;
    for (let i = 0; i < rows; i++) {
      data.set(part.data.subarray(i * columns, (i + 1) * columns), i * total + offset);
    }
    offset += columns;
  }
  return { shape: [rows, total], data };
}

/** [m₁, n₁], [m₂, n₂], … → [Σ m, Σ n], zero outside the blocks. */
function blockDiagonal(parts: readonly Tensor[]): Tensor {
  if (parts.length === 1) return parts[0] as Tensor;
  const rows = parts.reduce((sum, part) => sum + (part.shape[0] as number), 0);
  const total = parts.reduce((sum, part) => sum + (part.shape[1] as number), 0);
  const data = new Float32Array(rows * total);
  let row = 0;
  let offset = 0;
  for (const part of parts) {
    const [height, width] = part.shape as readonly [number, number];
    for (let i = 0; i < height; i++, row++) {
      data.set(part.data.subarray(i * width, (i + 1) * width), row * total + offset);
    }
    offset += width;
  }
  return { shape: [rows, total], data };
}
