import type { ModelConfig } from '../model/config.js';
import type { Parameters } from '../model/parameters.js';
import { CompiledPolicy } from './compiled-policy.js';
import type { Completion, Job } from './job.js';
import type { PolicyWeights } from './policy.js';
import { RowPool, type RowPoolOptions } from './row-pool.js';

/** A policy with its batch; compiled when it is first sampled. */
interface Entry {
  readonly weights: PolicyWeights;
  compiled: CompiledPolicy | null;
  pool: RowPool | null;
  /** Dropped by the caller: goes when its last job is done. */
  dropped: boolean;
  lastUse: number;
}

/** Compiled policies kept with their caches; more are compiled again when they are needed. */
const MAX_COMPILED = 4;

/** What went wrong for some jobs. */
export interface Failure {
  readonly ids: readonly number[];
  readonly message: string;
}

export interface StepResult {
  readonly completions: readonly Completion[];
  readonly failure?: Failure;
}

/**
 * The sampler of one thread: policies, each with its own batch, of which one runs at a time.
 */
export class SamplingCore {
  readonly #config: ModelConfig;
  readonly #base: Parameters;
  readonly #options: RowPoolOptions;
  readonly #policies = new Map<string, Entry>();
  #clock = 0;

  constructor(config: ModelConfig, base: Parameters, options: RowPoolOptions) {
    this.#config = config;
    this.#base = base;
    this.#options = options;
  }

  /** Makes a policy known. A key names one set of weights for ever. */
  addPolicy(key: string, weights: PolicyWeights): void {
    this.#policies.set(key, { weights, compiled: null, pool: null, dropped: false, lastUse: 0 });
  }

  async dropPolicy(key: string): Promise<void> {
    const entry = this.#policies.get(key);
    if (entry === undefined) return;
    entry.dropped = true;
    await this.#collect();
  }

  /** @throws Error when the policy is unknown. */
  submit(job: Job): void {
    const entry = this.#policies.get(job.policy);
    if (entry === undefined) throw new Error(`unknown policy "${job.policy}"`);
    entry.pool ??= new RowPool(this.#config, this.#options);
    entry.pool.submit(job);
  }

  releaseSequence(sequence: string): void {
    for (const { pool } of this.#policies.values()) pool?.release(sequence);
  }

  get busy(): boolean {
    for (const { pool } of this.#policies.values()) if (pool?.busy) return true;
    return false;
  }

  /** One step of the busy policy that has waited longest. */
  async step(): Promise<StepResult> {
    let next: Entry | null = null;
    for (const entry of this.#policies.values()) {
      if (entry.pool?.busy && (next === null || entry.lastUse < next.lastUse)) next = entry;
    }
    if (next === null) return { completions: [] };
    const entry = next;
    const pool = entry.pool as RowPool;
    entry.lastUse = ++this.#clock;
    try {
      if (entry.compiled === null) {
        entry.compiled = await CompiledPolicy.compile(
          this.#config,
          this.#base,
          entry.weights,
          this.#options.context,
        );
        await this.#collect();
      }
      const completions = await pool.step(entry.compiled);
      if (entry.dropped && !pool.busy) await this.#collect();
      return { completions };
    } catch (error) {
      return { completions: [], failure: { ids: pool.abandon(), message: (error as Error).message } };
    }
  }

  async close(): Promise<void> {
    for (const entry of this.#policies.values()) await entry.compiled?.release();
    this.#policies.clear();
  }

  /** Frees dropped policies, and the sessions and caches of idle ones beyond the bound. */
  async #collect(): Promise<void> {
    for (const [key, entry] of this.#policies) {
      if (!entry.dropped || entry.pool?.busy) continue;
      this.#policies.delete(key);
      await this.#free(entry);
    }
    const compiled = [...this.#policies.values()].filter((entry) => entry.compiled !== null);
    const idle = compiled.filter((entry) => !entry.pool?.busy).sort((a, b) => a.lastUse - b.lastUse);
    for (const entry of idle.slice(0, Math.max(0, compiled.length - MAX_COMPILED))) await this.#free(entry);
  }

  async #free(entry: Entry): Promise<void> {
    const { compiled } = entry;
    entry.compiled = null;
    entry.pool = null;
    await compiled?.release();
  }
}
