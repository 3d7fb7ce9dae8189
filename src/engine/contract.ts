/**
 * The engine contract, shaped like the Tinker primitives so that one GRPO loop drives every engine.
 * An engine knows tokens and tensors, never tasks or messages. All methods are asynchronous: kernels run in
 * worker threads, so that the caller's event loop stays free.
 */

/** The frozen base model. */
export interface BasePolicy {
  readonly kind: 'base';
}
/** A LoRA adapter held by the engine. */
export interface AdapterHandle {
  readonly kind: 'adapter';
  readonly id: string;
}
/** Several adapters with token-level gates: every token goes top-1 to one adapter or none, in every layer. */
export interface MixtureHandle {
  readonly kind: 'mixture';
  readonly id: string;
}
export type PolicyRef = BasePolicy | AdapterHandle | MixtureHandle;

export interface EngineInfo {
  readonly model: string;
  /** Most tokens of prompt and completion together. */
  readonly context: number;
  readonly hiddenSize: number;
  readonly layers: number;
  readonly vocabulary: number;
  readonly parameters: number;
}

export interface Tokenizer {
  /** Text → token ids, without adding special tokens. */
  encode(text: string): number[];
  /** Token ids → text, special tokens kept. */
  decode(tokens: readonly number[]): string;
  /** Id of a token given by its text; undefined when the vocabulary lacks it. */
  tokenId(token: string): number | undefined;
  readonly eosTokenIds: readonly number[];
  /** Text of the token that begins a sequence, which chat templates write themselves; absent or '' for none. */
  readonly bosToken?: string;
}

export interface SampleRequest {
  readonly policy: PolicyRef;
  /** The whole prefix, prompt and earlier turns; never only the new part. */
  readonly tokens: readonly number[];
  readonly maxTokens: number;
  /** 0 is greedy. */
  readonly temperature: number;
  /** The same request with the same seed gives the same tokens, whatever stands beside it in the batch. */
  readonly seed: number;
  /** Token ids that end the completion; the stop token is part of `tokens` of the result. */
  readonly stop: readonly number[];
  /**
   * Name of a conversation: requests that share it may reuse its KV cache as long as the cached tokens are a
   * prefix of `tokens`. Only speed depends on it. Free it by `releaseSequence`.
   */
  readonly sequence?: string;
  /** Report the slot (0 = no adapter) of every new token in every layer; mixtures only. */
  readonly routes?: boolean;
}

export interface SampleResult {
  readonly tokens: number[];
  /** Log-probability (temperature 1, natural log) of each sampled token. */
  readonly logprobs: number[];
  readonly stopReason: 'stop' | 'length' | 'context';
  /** routes[token][layer] = slot, when asked for. */
  readonly routes?: number[][];
}

/**
 * One training sequence: `targets[t]` is predicted from `tokens[0..t]`. All arrays have the same length T.
 * The engine sums over tokens and sequences: normalisation is in the caller's `weights`.
 */
export interface Datum {
  readonly tokens: ArrayLike<number>;
  readonly targets: ArrayLike<number>;
  /** Weight of each target token in the loss; 0 where nothing is trained. */
  readonly weights: ArrayLike<number>;
  /** Advantage of each target token (importance_sampling, ppo). */
  readonly advantages?: ArrayLike<number>;
  /** Log-probability of each target when it was sampled (importance_sampling, ppo). */
  readonly logprobs?: ArrayLike<number>;
}

/**
 * - `cross_entropy`: −Σ w·log p
 * - `importance_sampling`: −Σ w·A·ρ with ρ = exp(log p − logprobs)
 * - `ppo`: −Σ w·min(ρA, clip(ρ, clipLow, clipHigh)·A); bounds are absolute ratios, e.g. 0.8 and 1.28
 */
export type Loss =
  | { readonly name: 'cross_entropy' }
  | { readonly name: 'importance_sampling' }
  | { readonly name: 'ppo'; readonly clipLow: number; readonly clipHigh: number };

export interface ForwardBackwardResult {
  /** Sum over all tokens of the weighted loss. */
  readonly loss: number;
  /**
   * Log-probability of each target under the current parameters, one array a datum; 0 where the weight is 0, for
   * engines need not compute those.
   */
  readonly logprobs: Float32Array[];
}

export interface AdamParams {
  readonly learningRate: number;
  readonly beta1?: number;
  readonly beta2?: number;
  readonly epsilon?: number;
  readonly weightDecay?: number;
  /** Gradients are scaled down to this global L2 norm; absent or 0: no clipping. */
  readonly gradientClip?: number;
}

export interface AdapterConfig {
  readonly name: string;
  readonly rank: number;
  readonly alpha: number;
  readonly seed: number;
}

export interface MixtureConfig {
  readonly name: string;
  /** Slot k + 1 holds adapters[k]; slot 0 is no adapter. */
  readonly adapters: readonly AdapterHandle[];
}

/** What of a mixture is trained; the rest of it stays frozen. */
export type MixturePart = 'gates' | 'adapters';

/** What can be trained: an adapter's A and B, or one part of a mixture (the other one stays frozen). */
export type Trainable = AdapterHandle | MixtureHandle;

export interface Engine {
  readonly info: EngineInfo;
  readonly tokenizer: Tokenizer;
  /** Jinja chat template of the model; null when it has none. */
  readonly chatTemplate: string | null;

  /** Samples one completion. Call it many times at once: the engine batches whatever is waiting. */
  sample(request: SampleRequest): Promise<SampleResult>;
  releaseSequence(sequence: string): void;
  /** Log-probability of each token given the ones before it; result[i][t] belongs to tokens[t + 1]. */
  logprobs(policy: PolicyRef, sequences: readonly (readonly number[])[]): Promise<Float32Array[]>;

  createAdapter(config: AdapterConfig): Promise<AdapterHandle>;
  /** Adds gradients of the loss to the trainable's accumulated ones. */
  forwardBackward(model: Trainable, data: readonly Datum[], loss: Loss): Promise<ForwardBackwardResult>;
  /** AdamW on the accumulated gradients, which are then cleared. `gradientNorm` is before clipping. */
  optimStep(model: Trainable, adam: AdamParams): Promise<{ gradientNorm: number }>;
  /** Writes a PEFT folder (adapter_config.json, adapter_model.safetensors). */
  saveAdapter(adapter: AdapterHandle, folder: string): Promise<void>;
  loadAdapter(folder: string, name?: string): Promise<AdapterHandle>;
  /** Parameters and optimizer moments, so that training resumes to the same bytes. */
  saveState(model: Trainable, file: string): Promise<void>;
  loadState(model: Trainable, file: string): Promise<void>;
  /** A new adapter whose delta is Σ weight·delta(adapter): average (1/k) and sum (1) merges. */
  mergeAdapters(
    name: string,
    parts: readonly { adapter: AdapterHandle; weight: number }[],
  ): Promise<AdapterHandle>;

  /** Present where hidden states are reachable. Gates start at zero. */
  readonly gates?: {
    createMixture(config: MixtureConfig): Promise<MixtureHandle>;
    /** Writes gate_config.json and gate.safetensors. */
    saveMixture(mixture: MixtureHandle, folder: string): Promise<void>;
    /** @param trained absent: the gates. */
    loadMixture(
      folder: string,
      adapters: readonly AdapterHandle[],
      trained?: MixturePart,
    ): Promise<MixtureHandle>;
    /** The adapters of a mixture as they are now, as copies in the order of its slots. */
    adaptersOf(mixture: MixtureHandle): Promise<AdapterHandle[]>;
    /** Number of gate parameters: layers × (hidden × (k + 1) + (k + 1)). */
    parameterCount(mixture: MixtureHandle): number;
  };

  /** SHA-256 over the parameters (for a mixture: the part that is trained), to prove what stayed frozen. */
  hash(policy: PolicyRef): Promise<string>;
  /** Frees an adapter or a mixture. */
  release(handle: AdapterHandle | MixtureHandle): Promise<void>;
  close(): Promise<void>;
}
