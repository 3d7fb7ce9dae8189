import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import { startWorker } from '../../../run/start-worker.js';
import type { SampleRequest, SampleResult } from '../../contract.js';
import type { ModelConfig } from '../model/config.js';
import type { Parameters, Tensor } from '../model/parameters.js';
import type { Job } from './job.js';
import type { FromWorker, ToWorker, WorkerStart } from './messages.js';
import type { PolicyWeights } from './policy.js';

export interface SamplerOptions {
  /** Threads, each with a model of its own and a part of the rows. Default: one a core, at most 4. */
  readonly workers?: number;
  /** Most completions in progress at once over all workers. Default 128. */
  readonly rows?: number;
  /** Most tokens of prompt and completion together. Default: the model's. */
  readonly context?: number;
}

type SampleOptions = Omit<SampleRequest, 'policy'> & {
  /** Id of a policy given by `setPolicy`; `BASE_POLICY` is always there. */
  readonly policy: string;
};

interface Pending {
  readonly worker: number;
  readonly sequenced: boolean;
  readonly resolve: (result: SampleResult) => void;
  readonly reject: (error: Error) => void;
}

interface WorkerState {
  readonly worker: Worker;
  outbox: ToWorker[];
  readonly closed: Promise<void>;
  /** Jobs in progress and idle sequences: what its rows are needed for. */
  load: number;
  jobs: number;
}

export const BASE_POLICY = 'base';
const DEFAULT_ROWS = 128;
const MAX_WORKERS = 4;

/**
 * Batched sampling in worker threads; the caller's event loop stays free. The same request gives the same tokens,
 * bit for bit, whatever else is being sampled, in whatever order it came, in whichever worker it runs and whether
 * its sequence was cached or not.
 */
export class Sampler {
  readonly #context: number;
  readonly #vocabularySize: number;
  readonly #workers: WorkerState[] = [];
  readonly #pending = new Map<number, Pending>();
  readonly #sequences = new Map<string, number>();
  /** Key of the current weights of every policy. */
  readonly #policies = new Map<string, string>();
  #versions = 0;
  #jobs = 0;
  #flushing = false;
  #failure: Error | null = null;

  /** @param parameters base parameters in memory layout; they are copied once, into memory the workers share. */
  constructor(config: ModelConfig, parameters: Parameters, options: SamplerOptions = {}) {
    const count = options.workers ?? Math.min(MAX_WORKERS, availableParallelism());
    this.#context = Math.min(options.context ?? config.context, config.context);
    this.#vocabularySize = config.vocabularySize;
    const start: WorkerStart = {
      config,
      parameters: shareParameters(parameters),
      rows: Math.max(1, Math.ceil((options.rows ?? DEFAULT_ROWS) / count)),
      context: this.#context,
    };
    for (let i = 0; i < count; i++) this.#workers.push(this.#startWorker(start));
    this.setPolicy(BASE_POLICY, { kind: 'base' });
  }

  /**
   * Gives a policy its weights, or new ones: requests from now on use them, those in progress keep the old. The
   * weights are copied to the workers at once.
   */
  setPolicy(id: string, weights: PolicyWeights): void {
    this.removePolicy(id);
    const key = `${id}#${++this.#versions}`;
    this.#policies.set(id, key);
    this.#broadcast({ type: 'policy', key, weights });
  }

  /** Forgets a policy; requests in progress finish. */
  removePolicy(id: string): void {
    const key = this.#policies.get(id);
    if (key === undefined) return;
    this.#policies.delete(id);
    this.#broadcast({ type: 'drop', key });
  }

  /**
   * Samples one completion; call it many times at once, everything waiting is batched.
   * @throws RangeError for an empty prompt, tokens outside the vocabulary or senseless limits; Error for an
   *   unknown policy or a worker that died.
   */
  async sample(request: SampleOptions): Promise<SampleResult> {
    if (this.#failure !== null) throw this.#failure;
    const policy = this.#policies.get(request.policy);
    if (policy === undefined) throw new Error(`unknown policy "${request.policy}"`);
    const tokens = checkedTokens(request.tokens, this.#vocabularySize);
    const { maxTokens, temperature, seed } = request;
    if (!Number.isInteger(maxTokens) || maxTokens < 1) {
      throw new RangeError(`maxTokens must be a positive integer, got ${maxTokens}`);
    }
    if (!(temperature >= 0 && Number.isFinite(temperature))) {
      throw new RangeError(`temperature must be 0 or more, got ${temperature}`);
    }
    if (!Number.isSafeInteger(seed)) throw new RangeError(`seed must be a safe integer, got ${seed}`);
    const job: Job = {
      id: ++this.#jobs,
      policy,
      tokens,
      maxTokens,
      temperature,
      seed,
      stop: request.stop,
      sequence: request.sequence ?? null,
      routes: request.routes ?? false,
    };
    const index = this.#workerFor(job.sequence);
    return new Promise((resolve, reject) => {
      this.#pending.set(job.id, { worker: index, sequenced: job.sequence !== null, resolve, reject });
      const state = this.#workers[index] as WorkerState;
      if (job.sequence === null) state.load++;
      if (state.jobs++ === 0) state.worker.ref();
      this.#send(index, { type: 'job', job });
    });
  }

  /** Frees the row of a sequence. */
  releaseSequence(sequence: string): void {
    const index = this.#sequences.get(sequence);
    if (index === undefined) return;
    this.#sequences.delete(sequence);
    (this.#workers[index] as WorkerState).load--;
    this.#send(index, { type: 'release', sequence });
  }

  /** Ends the workers; requests in progress are rejected. */
  async close(): Promise<void> {
    this.#fail(new Error('the sampler was closed'));
    // The workers do not keep the process alive by themselves; their end is to be waited for.
    for (const { worker } of this.#workers) worker.ref();
    this.#broadcast({ type: 'close' });
    this.#flush();
    await Promise.all(this.#workers.map((state) => state.closed));
  }

  #startWorker(start: WorkerStart): WorkerState {
    const worker = startWorker(new URL('./worker.js', import.meta.url), start);
    worker.unref();
    worker.on('message', (message: FromWorker) => this.#receive(message));
    worker.on('error', (error) => this.#fail(new Error(`a sampling worker died: ${error.message}`)));
    const closed = new Promise<void>((resolve) => {
      worker.on('exit', () => {
        this.#fail(new Error('a sampling worker ended'));
        resolve();
      });
    });
    return { worker, outbox: [], closed, load: 0, jobs: 0 };
  }

  #receive(message: FromWorker): void {
    if (message.type === 'done') {
      for (const { id, result } of message.completions) this.#settle(id)?.resolve(result);
    } else if (message.type === 'failed') {
      const error = new Error(`sampling failed: ${message.message}`);
      for (const id of message.ids) this.#settle(id)?.reject(error);
    }
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    if (pending === undefined) return undefined;
    this.#pending.delete(id);
    const state = this.#workers[pending.worker] as WorkerState;
    if (!pending.sequenced) state.load--;
    if (--state.jobs === 0) state.worker.unref();
    return pending;
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const id of [...this.#pending.keys()]) this.#settle(id)?.reject(this.#failure);
  }

  /** The worker that holds the sequence, else the one with the least to do. */
  #workerFor(sequence: string | null): number {
    const known = sequence === null ? undefined : this.#sequences.get(sequence);
    if (known !== undefined) return known;
    let best = 0;
    this.#workers.forEach((state, index) => {
      if (state.load < (this.#workers[best] as WorkerState).load) best = index;
    });
    if (sequence !== null) {
      this.#sequences.set(sequence, best);
      (this.#workers[best] as WorkerState).load++;
    }
    return best;
  }

  #broadcast(message: ToWorker): void {
    for (const index of this.#workers.keys()) this.#send(index, message);
  }

  /** Messages of one turn of the event loop travel together. */
  #send(index: number, message: ToWorker): void {
    (this.#workers[index] as WorkerState).outbox.push(message);
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#flushing = false;
    for (const state of this.#workers) {
      if (state.outbox.length === 0) continue;
      state.worker.postMessage(state.outbox);
      state.outbox = [];
    }
  }
}

function checkedTokens(tokens: readonly number[], vocabularySize: number): Int32Array {
  if (tokens.length === 0) throw new RangeError('a prompt needs at least one token');
  const result = Int32Array.from(tokens);
  for (let i = 0; i < result.length; i++) {
    const token = result[i] as number;
    if (token !== tokens[i] || token < 0 || token >= vocabularySize) {
      throw new RangeError(
        `token ${tokens[i]} at position ${i} is outside the vocabulary of ${vocabularySize}`,
      );
    }
  }
  return result;
}

function shareParameters(parameters: Parameters): Record<string, Tensor> {
  const shared: Record<string, Tensor> = {};
  for (const [name, { shape, data }] of Object.entries(parameters)) {
    const copy = new Float32Array(new SharedArrayBuffer(data.byteLength));
    copy.set(data);
    shared[name] = { shape, data: copy };
  }
  return shared;
}
