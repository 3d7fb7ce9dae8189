import type { AdamParams, Datum, ForwardBackwardResult, Loss } from '../../contract.js';
import type { ModelConfig } from '../model/config.js';
import { memoryShapes, type Parameters } from '../model/parameters.js';
import { Thread } from '../thread/thread.js';
import { adamSettings, NORM_CHUNK } from './adamw.js';
import { type Batch, packBatches, shareBatches } from './batches.js';
import { fill, flatLength, layOut, type Segment, sharedFloats, views } from './flat.js';
import type {
  Registration,
  RunReply,
  RunRequest,
  SharedTensors,
  SumReply,
  SumRequest,
  ThreadData,
  UpdateRequest,
} from './messages.js';
import { type TrainingMode, trainableShapes } from './training-graph.js';

export interface TrainerOptions {
  /** Threads, one core each. The bits of a result depend on their number. Default 2. */
  readonly threads?: number;
  /** Padded tokens of a batch on one thread: small enough for a core's cache. Default 1024. */
  readonly batchTokens?: number;
}

const DEFAULT_THREADS = 2;
const DEFAULT_BATCH_TOKENS = 1024;

/** Something the trainer holds: a model's parameters, an adapter or a mixture's gates. */
export interface Model {
  readonly id: number;
  readonly mode: TrainingMode;
  /** Live views: they change with every `optimStep`. */
  readonly parameters: Parameters;
}

interface Held extends Model {
  readonly segments: readonly Segment[];
  readonly flat: Float32Array;
  readonly frozen: SharedTensors | null;
  readonly training: NonNullable<Registration['training']> | null;
  /** Changes whenever the parameters do. */
  version: number;
  /** Optimizer steps taken. */
  step: number;
  /** Threads that hold gradients not yet used. */
  readonly pending: Set<number>;
}

/** AdamW's state of a model, for saving. */
export interface OptimizerState {
  readonly parameters: Parameters;
  readonly first: Parameters;
  readonly second: Parameters;
  readonly step: number;
}

/**
 * Data-parallel training on threads of one core each: every thread runs its share of the batches and sums its own
 * gradients; `optimStep` adds the sums in the threads' order and updates a slice of the parameters on each. The
 * result is a function of the calls alone, never of timing. Calls are served in order.
 */
export class Trainer {
  readonly #config: ModelConfig;
  readonly #threads: readonly Thread[];
  readonly #batchTokens: number;
  readonly #models = new Map<number, Held>();
  #nextId = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** @param base parameters of the base model in memory's layout; copied into shared memory. */
  constructor(config: ModelConfig, base: Parameters, options: TrainerOptions = {}) {
    const { threads = DEFAULT_THREADS, batchTokens = DEFAULT_BATCH_TOKENS } = options;
    if (!Number.isInteger(threads) || threads < 1)
      throw new RangeError(`threads must be ≥ 1, got ${threads}`);
    this.#config = config;
    this.#batchTokens = batchTokens;
    const shared = share(memoryShapes(config), base);
    this.#threads = Array.from({ length: threads }, (_, index) => {
      const data: ThreadData = { config, base: shared, index };
      return new Thread(new URL('./train-worker.js', import.meta.url), data);
    });
  }

  /**
   * Takes parameters in; they are copied.
   * @param options.trainable false: it can be run, not trained, and needs a quarter of the memory.
   * @param options.frozen tensors that the mode's graph takes as inputs: a mixture's concatenated adapters.
   * @throws Error naming the parameter that is missing or has a wrong shape.
   */
  async add(
    mode: TrainingMode,
    parameters: Parameters,
    options: { readonly trainable?: boolean; readonly frozen?: Parameters } = {},
  ): Promise<Model> {
    const shared = share(trainableShapes(this.#config, mode), parameters);
    const { frozen: given, trainable = true } = options;
    const frozen = given
      ? share(
          Object.entries(given).map(([name, { shape }]) => [name, shape]),
          given,
        )
      : null;
    const length = shared.data.length;
    const training = trainable
      ? {
          gradients: this.#threads.map(() => sharedFloats(length)),
          first: sharedFloats(length),
          second: sharedFloats(length),
        }
      : null;
    const id = this.#nextId++;
    const registration: Registration = { id, mode, parameters: shared, frozen, training };
    await Promise.all(this.#threads.map((thread) => thread.call('register', registration)));
    const model: Held = {
      id,
      mode,
      parameters: views(shared.data, shared.segments),
      segments: shared.segments,
      flat: shared.data,
      frozen,
      training,
      version: 0,
      step: 0,
      pending: new Set(),
    };
    this.#models.set(id, model);
    return model;
  }

  /** Frees a model. */
  release(model: Model): Promise<void> {
    return this.#inOrder(async () => {
      this.#models.delete(model.id);
      await Promise.all(this.#threads.map((thread) => thread.call('release', model.id)));
    });
  }

  /** Replaces a model's parameters; its moments and step count stay. */
  setParameters(model: Model, parameters: Parameters): Promise<void> {
    return this.#inOrder(async () => {
      const held = this.#held(model);
      fill(held.flat, held.segments, parameters);
      held.version++;
    });
  }

  /**
   * Adds gradients of the loss to the model's. Log-probabilities are computed at positions with a weight only;
   * elsewhere the result holds 0.
   * @throws RangeError when a datum's arrays do not fit together or a token is outside the vocabulary.
   */
  forwardBackward(model: Model, data: readonly Datum[], loss: Loss): Promise<ForwardBackwardResult> {
    return this.#inOrder(async () => {
      const held = this.#held(model);
      if (!held.training) throw new Error('this model is frozen');
      this.#checkData(data, loss);
      const clip = loss.name === 'ppo' ? ([loss.clipLow, loss.clipHigh] as const) : ([0, 0] as const);
      return this.#run(held, data, loss.name, clip);
    });
  }

  /** Log-probability of each target at positions with a weight, without gradients. */
  forward(model: Model, data: readonly Datum[]): Promise<Float32Array[]> {
    return this.#inOrder(async () => {
      this.#checkData(data, null);
      return (await this.#run(this.#held(model), data, null, [0, 0])).logprobs;
    });
  }

  async #run(
    held: Held,
    data: readonly Datum[],
    loss: Loss['name'] | null,
    clip: readonly [number, number],
  ): Promise<ForwardBackwardResult> {
    const batches = packBatches(data, { tokens: this.#batchTokens, multiple: this.#threads.length });
    const shares = shareBatches(batches, this.#threads.length);
    const running = shares.map(async (share, index): Promise<RunReply> => {
      if (share.length === 0) return { losses: [], logprobs: [] };
      const request: RunRequest = {
        id: held.id,
        version: held.version,
        loss,
        clip,
        batches: share.map((i) => batches[i] as Batch),
        reset: loss !== null && !held.pending.has(index),
      };
      const reply = await this.#threads[index]!.call<RunReply>('run', request);
      if (loss !== null) held.pending.add(index);
      return reply;
    });
    const settled = await Promise.allSettled(running);
    const broken = settled.find((result) => result.status === 'rejected');
    if (broken) {
      // A thread may have added some of its gradients: none of this model's are trusted any more.
      held.pending.clear();
      throw broken.reason;
    }
    const replies = await Promise.all(running);
    const logprobs = data.map((datum) => new Float32Array(datum.tokens.length));
    let total = 0;
    replies.forEach((reply, index) => {
      for (const [k, values] of reply.logprobs.entries())
        scatter(values, batches[shares[index]![k] as number] as Batch, logprobs);
      for (const value of reply.losses) total += value;
    });
    return { loss: total, logprobs };
  }

  /**
   * One AdamW step on the accumulated gradients, which are then cleared.
   * @throws Error when no gradients were accumulated or they are not finite; the parameters are then unchanged.
   */
  optimStep(model: Model, adam: AdamParams): Promise<{ gradientNorm: number }> {
    return this.#inOrder(async () => {
      const held = this.#held(model);
      const settings = adamSettings(adam);
      if (held.pending.size === 0) throw new Error('optimStep needs gradients: call forwardBackward first');
      const slices = this.#slices(held.flat.length);
      const threads = [...held.pending].sort((a, b) => a - b);
      const sums = await Promise.all(
        slices.map(([begin, end], i) => {
          const request: SumRequest = { id: held.id, threads, begin, end };
          return this.#threads[i]!.call<SumReply>('sumGradients', request);
        }),
      );
      held.pending.clear();
      const gradientNorm = Math.sqrt(sums.flat().reduce((a, b) => a + b, 0));
      if (!Number.isFinite(gradientNorm))
        throw new Error(
          `the gradient norm is ${gradientNorm}: lower the learning rate or look for wrong inputs`,
        );
      const { gradientClip } = settings;
      const factor = gradientClip > 0 && gradientNorm > gradientClip ? gradientClip / gradientNorm : 1;
      held.step++;
      await Promise.all(
        slices.map(([begin, end], i) => {
          const request: UpdateRequest = { id: held.id, begin, end, settings, step: held.step, factor };
          return this.#threads[i]!.call('update', request);
        }),
      );
      held.version++;
      return { gradientNorm };
    });
  }

  /** Slices of a flat array, one a thread, cut at whole chunks so that the norm is the same for any number. */
  #slices(length: number): [number, number][] {
    const chunks = Math.ceil(length / NORM_CHUNK);
    const cut = (i: number) => Math.min(length, Math.round((chunks * i) / this.#threads.length) * NORM_CHUNK);
    return this.#threads.map((_, i): [number, number] => [cut(i), cut(i + 1)]).filter(([a, b]) => a < b);
  }

  /** A copy of the parameters and moments. Gradients that were not used by an `optimStep` are not part of it. */
  state(model: Model): Promise<OptimizerState> {
    return this.#inOrder(async () => {
      const held = this.#held(model);
      if (!held.training) throw new Error('this model is frozen');
      const copy = (flat: Float32Array) => views(Float32Array.from(flat), held.segments);
      return {
        parameters: copy(held.flat),
        first: copy(held.training.first),
        second: copy(held.training.second),
        step: held.step,
      };
    });
  }

  /** Goes back to a state; accumulated gradients are dropped. */
  setState(model: Model, state: OptimizerState): Promise<void> {
    return this.#inOrder(async () => {
      const held = this.#held(model);
      if (!held.training) throw new Error('this model is frozen');
      fill(held.flat, held.segments, state.parameters);
      fill(held.training.first, held.segments, state.first);
      fill(held.training.second, held.segments, state.second);
      held.step = state.step;
      held.version++;
      held.pending.clear();
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  #held(model: Model): Held {
    const held = this.#models.get(model.id);
    if (!held) throw new Error('this model was released');
    return held;
  }

  /** Runs calls one after the other; one that fails does not stop the next. */
  #inOrder<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => undefined);
    return result;
  }

  #checkData(data: readonly Datum[], loss: Loss | null): void {
    const { vocabularySize, context } = this.#config;
    data.forEach((datum, index) => {
      if (datum.tokens.length > context)
        throw new RangeError(`datum ${index}: ${datum.tokens.length} tokens, the model takes ${context}`);
      for (const name of ['tokens', 'targets'] as const) {
        for (let t = 0; t < datum[name].length; t++) {
          const token = datum[name][t] as number;
          if (!Number.isInteger(token) || token < 0 || token >= vocabularySize)
            throw new RangeError(
              `datum ${index}: ${name}[${t}] is ${token}, outside the vocabulary of ${vocabularySize}`,
            );
        }
      }
      if (loss && loss.name !== 'cross_entropy') {
        for (const name of ['advantages', 'logprobs'] as const)
          if (!datum[name]) throw new RangeError(`datum ${index}: ${loss.name} needs ${name}`);
      }
    });
  }
}

function share(
  shapes: Iterable<readonly [string, readonly number[]]>,
  parameters: Parameters,
): SharedTensors {
  const segments = layOut(shapes);
  const data = sharedFloats(flatLength(segments));
  fill(data, segments, parameters);
  return { segments, data };
}

/** Puts a batch's selected values where they belong in the datums' arrays. */
function scatter(values: Float32Array, batch: Batch, into: readonly Float32Array[]): void {
  batch.positions.forEach((position, i) => {
    const flat = Number(position);
    const row = Math.floor(flat / batch.length);
    into[batch.datums[row] as number]![flat % batch.length] = values[i] as number;
  });
}
