import { basename, resolve } from 'node:path';
import type {
  AdamParams,
  AdapterConfig,
  AdapterHandle,
  Datum,
  Engine,
  EngineInfo,
  ForwardBackwardResult,
  Loss,
  MixtureConfig,
  MixtureHandle,
  MixturePart,
  PolicyRef,
  SampleRequest,
  SampleResult,
  Tokenizer,
  Trainable,
} from '../contract.js';
import { readAdapterFolder, writeAdapterFolder } from './adapter-folder.js';
import { type ModelFolder, readModel } from './folder/model-folder.js';
import { type HeldMixture, mixtureParts } from './mixture.js';
import { readGates, writeGates } from './mixture-folder.js';
import { countParameters, type ModelConfig } from './model/config.js';
import { gateShapes, initializeGates } from './model/gates.js';
import { type Adapter, combineAdapters, initializeAdapter } from './model/lora.js';
import {
  copied,
  countElements,
  hashParameters,
  type Parameters,
  transposeLinears,
} from './model/parameters.js';
import type { PolicyWeights } from './sample/policy.js';
import { BASE_POLICY, Sampler } from './sample/sampler.js';
import { readStateFile, writeStateFile } from './state-file.js';
import { type Model, Trainer } from './train/trainer.js';

export interface LocalEngineOptions {
  /** A Hugging Face folder (config.json, safetensors, tokenizer.json, optionally a chat template), or a GGUF file. */
  readonly model: string;
  /** Threads for training and for sampling, one core each. Results depend on it in their last bits. Default 2. */
  readonly threads?: number;
  /** Most completions sampled at once. Default 128. */
  readonly rows?: number;
}

const DEFAULT_THREADS = 2;

/** An adapter or a mixture that the engine holds. */
interface Held {
  readonly handle: AdapterHandle | MixtureHandle;
  readonly name: string;
  readonly model: Model;
  /** What the sampler needs, as copies of the weights as they are now. */
  readonly weights: () => PolicyWeights;
  /** The sampler's copy is older than the weights. */
  stale: boolean;
  /** Of an adapter. */
  readonly lora?: { readonly rank: number; readonly alpha: number };
  readonly mixture?: HeldMixture;
}

/**
 * Opens the engine that runs a model in this process.
 * @throws Error naming the file and field or tensor when the folder is not a model this engine runs.
 */
export async function openLocalEngine(options: LocalEngineOptions): Promise<LocalEngine> {
  return new LocalEngine(readModel(resolve(options.model)), options);
}

/**
 * A Qwen3, Qwen2 or Llama model on this machine's cores: ONNX Runtime runs every kernel in worker threads, which start
 * when they are first needed.
 */
export class LocalEngine implements Engine {
  readonly info: EngineInfo;
  readonly tokenizer: Tokenizer;
  readonly chatTemplate: string | null;
  readonly #config: ModelConfig;
  readonly #base: Parameters;
  readonly #threads: number;
  readonly #rows: number | undefined;
  readonly #held = new Map<string, Held>();
  #trainer: Trainer | null = null;
  #sampler: Sampler | null = null;
  #baseModel: Promise<Model> | null = null;
  #closed = false;

  constructor(folder: ModelFolder, options: Omit<LocalEngineOptions, 'model'> = {}) {
    this.#config = folder.config;
    this.#base = transposeLinears(folder.parameters);
    this.#threads = options.threads ?? DEFAULT_THREADS;
    this.#rows = options.rows;
    this.tokenizer = folder.tokenizer;
    this.chatTemplate = folder.chatTemplate;
    this.info = {
      model: basename(folder.path),
      context: folder.config.context,
      hiddenSize: folder.config.hiddenSize,
      layers: folder.config.layers,
      vocabulary: folder.config.vocabularySize,
      parameters: countParameters(folder.config),
    };
  }

  async sample(request: SampleRequest): Promise<SampleResult> {
    const sampler = this.#samplerNow();
    return sampler.sample({ ...request, policy: this.#samplerPolicy(request.policy, sampler) });
  }

  releaseSequence(sequence: string): void {
    this.#sampler?.releaseSequence(sequence);
  }

  async logprobs(policy: PolicyRef, sequences: readonly (readonly number[])[]): Promise<Float32Array[]> {
    const trainer = this.#trainerNow();
    const model = policy.kind === 'base' ? await this.#baseNow(trainer) : this.#find(policy).model;
    const data = sequences.map((tokens): Datum => {
      const count = Math.max(0, tokens.length - 1);
      return {
        tokens: tokens.slice(0, count),
        targets: tokens.slice(1),
        weights: new Float32Array(count).fill(1),
      };
    });
    return trainer.forward(model, data);
  }

  async createAdapter(config: AdapterConfig): Promise<AdapterHandle> {
    return this.#holdAdapter(
      config.name,
      initializeAdapter(this.#config, config.rank, config.alpha, config.seed),
    );
  }

  async forwardBackward(
    model: Trainable,
    data: readonly Datum[],
    loss: Loss,
  ): Promise<ForwardBackwardResult> {
    return this.#trainerNow().forwardBackward(this.#find(model).model, data, loss);
  }

  async optimStep(model: Trainable, adam: AdamParams): Promise<{ gradientNorm: number }> {
    const held = this.#find(model);
    const result = await this.#trainerNow().optimStep(held.model, adam);
    held.stale = true;
    return result;
  }

  async saveAdapter(adapter: AdapterHandle, folder: string): Promise<void> {
    writeAdapterFolder(folder, this.#adapterOf(adapter), this.#config, this.info.model);
  }

  async loadAdapter(folder: string, name?: string): Promise<AdapterHandle> {
    return this.#holdAdapter(name ?? basename(resolve(folder)), readAdapterFolder(folder, this.#config));
  }

  async saveState(model: Trainable, file: string): Promise<void> {
    writeStateFile(file, await this.#trainerNow().state(this.#find(model).model));
  }

  async loadState(model: Trainable, file: string): Promise<void> {
    const held = this.#find(model);
    await this.#trainerNow().setState(held.model, readStateFile(file));
    held.stale = true;
  }

  /** The merged adapter has the sum of the parts' ranks: the combination is exact, not a truncation. */
  async mergeAdapters(
    name: string,
    parts: readonly { adapter: AdapterHandle; weight: number }[],
  ): Promise<AdapterHandle> {
    if (parts.length === 0) throw new RangeError('mergeAdapters needs at least one adapter');
    const adapters = parts.map(({ adapter, weight }) => ({ adapter: this.#adapterOf(adapter), weight }));
    return this.#holdAdapter(name, combineAdapters(this.#config, adapters));
  }

  readonly gates = {
    createMixture: async (config: MixtureConfig): Promise<MixtureHandle> =>
      this.#holdMixture(
        config.name,
        config.adapters,
        initializeGates(this.#config, config.adapters.length),
        'gates',
      ),
    saveMixture: async (mixture: MixtureHandle, folder: string): Promise<void> => {
      const { names, gates } = this.#find(mixture).mixture!;
      writeGates(folder, names, gates(), this.#config);
    },
    loadMixture: async (
      folder: string,
      adapters: readonly AdapterHandle[],
      trained: MixturePart = 'gates',
    ): Promise<MixtureHandle> => {
      const { names, gates } = readGates(folder, this.#config);
      if (names.length !== adapters.length)
        throw new Error(
          `${folder} routes to ${names.length} adapters (${names.join(', ')}), got ${adapters.length}`,
        );
      return this.#holdMixture(basename(resolve(folder)), adapters, gates, trained);
    },
    adaptersOf: async (mixture: MixtureHandle): Promise<AdapterHandle[]> => {
      const { names, adapters } = this.#find(mixture).mixture!;
      return Promise.all(adapters().map((adapter, i) => this.#holdAdapter(names[i]!, adapter)));
    },
    parameterCount: (mixture: MixtureHandle): number => {
      const shapes = gateShapes(this.#config, this.#find(mixture).mixture!.names.length);
      return [...shapes.values()].reduce((sum, shape) => sum + countElements(shape), 0);
    },
  };

  async hash(policy: PolicyRef): Promise<string> {
    return hashParameters(policy.kind === 'base' ? this.#base : this.#find(policy).model.parameters);
  }

  async release(handle: AdapterHandle | MixtureHandle): Promise<void> {
    const held = this.#find(handle);
    this.#held.delete(handle.id);
    this.#sampler?.removePolicy(handle.id);
    await this.#trainerNow().release(held.model);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#held.clear();
    await Promise.all([this.#trainer?.close(), this.#sampler?.close()]);
  }

  async #holdAdapter(name: string, adapter: Adapter): Promise<AdapterHandle> {
    const { rank, alpha } = adapter;
    const model = await this.#trainerNow().add({ kind: 'adapter', rank, alpha }, adapter.parameters);
    const handle: AdapterHandle = { kind: 'adapter', id: this.#freeId(name) };
    this.#held.set(handle.id, {
      handle,
      name,
      model,
      lora: { rank, alpha },
      weights: () => ({ kind: 'adapter', adapter: { rank, alpha, parameters: copied(model.parameters) } }),
      stale: true,
    });
    return handle;
  }

  async #holdMixture(
    name: string,
    handles: readonly AdapterHandle[],
    gates: Parameters,
    trained: MixturePart,
  ): Promise<MixtureHandle> {
    if (handles.length === 0) throw new RangeError('a mixture needs at least one adapter');
    const names = handles.map((handle) => this.#find(handle).name);
    const adapters = handles.map((handle) => this.#adapterOf(handle));
    const { mode, parameters, frozen, held } = mixtureParts(this.#config, names, adapters, gates, trained);
    const model = await this.#trainerNow().add(mode, parameters, { frozen });
    const mixture = held(model);
    const handle: MixtureHandle = { kind: 'mixture', id: this.#freeId(name) };
    this.#held.set(handle.id, {
      handle,
      name,
      model,
      mixture,
      weights: () => ({ kind: 'mixture', adapters: mixture.adapters(), gates: copied(mixture.gates()) }),
      stale: true,
    });
    return handle;
  }

  #adapterOf(handle: AdapterHandle): Adapter {
    const { lora, model } = this.#find(handle);
    if (!lora) throw new Error(`"${handle.id}" is no adapter`);
    return { ...lora, parameters: model.parameters };
  }

  #find(handle: AdapterHandle | MixtureHandle): Held {
    const held = this.#held.get(handle.id);
    if (!held || held.handle.kind !== handle.kind)
      throw new Error(`the engine holds no ${handle.kind} "${handle.id}"`);
    return held;
  }

  #freeId(name: string): string {
    if (name !== BASE_POLICY && !this.#held.has(name)) return name;
    for (let i = 2; ; i++) if (!this.#held.has(`${name}~${i}`)) return `${name}~${i}`;
  }

  #samplerPolicy(policy: PolicyRef, sampler: Sampler): string {
    if (policy.kind === 'base') return BASE_POLICY;
    const held = this.#find(policy);
    if (held.stale) {
      sampler.setPolicy(policy.id, held.weights());
      held.stale = false;
    }
    return policy.id;
  }

  #trainerNow(): Trainer {
    if (this.#closed) throw new Error('the engine is closed');
    this.#trainer ??= new Trainer(this.#config, this.#base, { threads: this.#threads });
    return this.#trainer;
  }

  #samplerNow(): Sampler {
    if (this.#closed) throw new Error('the engine is closed');
    this.#sampler ??= new Sampler(this.#config, this.#base, {
      workers: this.#threads,
      ...(this.#rows === undefined ? {} : { rows: this.#rows }),
    });
    return this.#sampler;
  }

  #baseNow(trainer: Trainer): Promise<Model> {
    this.#baseModel ??= trainer.add({ kind: 'full' }, this.#base, { trainable: false });
    return this.#baseModel;
  }
}
