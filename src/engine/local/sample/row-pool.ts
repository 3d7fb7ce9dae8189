import { Random } from '../../../run/random.js';
import type { ModelConfig } from '../model/config.js';
import { chooseToken } from './choose-token.js';
import { type CompiledPolicy, MASKED, type StepOutput } from './compiled-policy.js';
import type { Completion, Job } from './job.js';
import { KvCache } from './kv-cache.js';

/** A job in progress. */
interface Running {
  readonly job: Job;
  readonly random: Random;
  readonly tokens: number[];
  readonly logprobs: number[];
  readonly routes: number[][];
}

/** One row of the batch: the tokens it knows and how many of them are in the cache. */
interface Row {
  index: number;
  readonly tokens: Int32Array;
  /** Tokens known; those from `cached` on still have to go through the model. */
  total: number;
  cached: number;
  sequence: string | null;
  running: Running | null;
  /** For eviction: the least recently used idle sequence goes first. */
  lastUse: number;
}

export interface RowPoolOptions {
  /** Most rows of the batch. */
  readonly rows: number;
  /** Most tokens of a row. */
  readonly context: number;
}

/** Slots are added to the cache in steps of this size: attention costs what the capacity is, not the length. */
const CAPACITY_STEP = 64;
/** Most tokens of prompts in one step, over all its rows. */
const CHUNK = 96;
/** Most rows that are prefilled together, and how much of the rectangle they fill at least. */
const PREFILL_ROWS = 8;
const PREFILL_FILL = 0.7;
/** A row with no more forced tokens than this rides along in the decoding batch: a step of its own costs more. */
const RIDE_ALONG = 6;
/** A shared prefix shorter than this is not worth a copy, or a step of its own to make it. */
const MIN_SHARED = 8;
const FIRST_ROWS = 8;

/**
 * Continuous batching of one policy's jobs over the rows of one KV cache. Prompts go through in chunks, a row at a
 * time; then all rows decode together, each at its own position. A row keeps its cache when its job is done: the
 * next request of its sequence goes on from there, and other rows copy the prefix they share with it. None of that
 * changes a bit of any result (see step-graphs.ts); it only decides what has to be computed.
 */
export class RowPool {
  readonly cache: KvCache;
  readonly #config: ModelConfig;
  readonly #options: RowPoolOptions;
  readonly #rows: Row[] = [];
  readonly #waiting: Job[] = [];
  readonly #bySequence = new Map<string, Row>();
  #mask = new Float32Array(0);
  #clock = 0;

  constructor(config: ModelConfig, options: RowPoolOptions) {
    this.#config = config;
    this.#options = options;
    this.cache = new KvCache(config);
  }

  submit(job: Job): void {
    this.#waiting.push(job);
  }

  /** True while a job waits or runs. */
  get busy(): boolean {
    return this.#waiting.length > 0 || this.#rows.some((row) => row.running !== null);
  }

  release(sequence: string): void {
    const row = this.#bySequence.get(sequence);
    if (row === undefined) return;
    this.#bySequence.delete(sequence);
    row.sequence = null;
  }

  /** Takes all jobs out, for reporting that they failed. */
  abandon(): number[] {
    const ids = this.#waiting.splice(0).map((job) => job.id);
    for (const row of this.#rows) {
      if (row.running !== null) ids.push(row.running.job.id);
      row.running = null;
      row.cached = 0;
      row.total = 0;
    }
    return ids;
  }

  /** Admits what waits, prefills what is new and decodes one token of every running row. */
  async step(policy: CompiledPolicy): Promise<Completion[]> {
    const done: Completion[] = [];
    this.#admit(done);
    await this.#prefill(policy, done);
    await this.#decode(policy, done);
    return done;
  }

  #admit(done: Completion[]): void {
    this.#shrink();
    let admitted = 0;
    for (const job of this.#waiting) {
      if (job.tokens.length >= this.#options.context) {
        done.push({ id: job.id, result: { tokens: [], logprobs: [], stopReason: 'context' } });
        admitted++;
        continue;
      }
      const row = this.#rowFor(job);
      if (row === null) break;
      this.#start(row, job);
      admitted++;
    }
    this.#waiting.splice(0, admitted);
  }

  /** The sequence's own row, else a free one, a new one, or that of the idle sequence used least recently. */
  #rowFor(job: Job): Row | null {
    const own = job.sequence === null ? undefined : this.#bySequence.get(job.sequence);
    if (own && own.running === null) return own;
    let free: Row | null = null;
    let shared = -1;
    let oldest: Row | null = null;
    for (const row of this.#rows) {
      if (row.running !== null) continue;
      if (row.sequence !== null) {
        if (oldest === null || row.lastUse < oldest.lastUse) oldest = row;
        continue;
      }
      const length = commonPrefix(row, job.tokens);
      if (length > shared) {
        shared = length;
        free = row;
      }
    }
    if (free !== null) return free;
    if (this.#rows.length < this.#options.rows) return this.#addRow();
    if (oldest === null) return null;
    this.release(oldest.sequence as string);
    return oldest;
  }

  #addRow(): Row {
    const index = this.#rows.length;
    if (index >= this.cache.rows) {
      const rows = Math.min(this.#options.rows, Math.max(FIRST_ROWS, 2 * this.cache.rows));
      this.#resize(rows, Math.max(this.cache.capacity, CAPACITY_STEP));
    }
    const row: Row = {
      index,
      tokens: new Int32Array(this.#options.context),
      total: 0,
      cached: 0,
      sequence: null,
      running: null,
      lastUse: 0,
    };
    this.#rows.push(row);
    return row;
  }

  #start(row: Row, job: Job): void {
    const kept = Math.min(commonPrefix(row, job.tokens), job.tokens.length - 1);
    this.#truncate(row, kept);
    row.tokens.set(job.tokens);
    row.total = job.tokens.length;
    row.lastUse = ++this.#clock;
    if (job.sequence !== null && !this.#bySequence.has(job.sequence)) {
      row.sequence = job.sequence;
      this.#bySequence.set(job.sequence, row);
    }
    row.running = { job, random: new Random(job.seed), tokens: [], logprobs: [], routes: [] };
  }

  /**
   * Rows with prompts, in groups of neighbours. A row that begins like one of the group waits until the group is
   * done and copies instead.
   */
  async #prefill(policy: CompiledPolicy, done: Completion[]): Promise<void> {
    let group: Row[] = [];
    const flush = async () => {
      await this.#prefillGroup(policy, group, done);
      group = [];
    };
    for (const row of this.#rows) {
      if (row.running === null || row.total - row.cached <= RIDE_ALONG) continue;
      this.#reserve(row.total);
      this.#copySharedPrefix(row);
      if (group.length > 0 && !fits(group, row)) {
        await flush();
        this.#copySharedPrefix(row);
      }
      if (row.total - row.cached > RIDE_ALONG) group.push(row);
    }
    if (group.length > 0) await flush();
  }

  async #prefillGroup(policy: CompiledPolicy, group: readonly Row[], done: Completion[]): Promise<void> {
    const { capacity } = this.cache;
    const rows = group.length;
    const firstRow = (group[0] as Row).index;
    const chunk = Math.floor(CHUNK / rows);
    for (;;) {
      const left = group.map((row) => (row.running === null ? 0 : row.total - row.cached));
      // A row that ended in an earlier chunk has one token left, the sampled one: it goes on in the decoding batch.
      const due = left.map((count) => (count > 1 ? Math.min(count, chunk) : 0));
      const queries = Math.max(...due);
      if (queries === 0) return;
      const tokens = new Int32Array(rows * queries);
      const positions = new Int32Array(rows * queries);
      const kept = new Uint8Array(rows * queries);
      const mask = new Float32Array(rows * queries * capacity).fill(MASKED);
      group.forEach((row, r) => {
        const count = due[r] as number;
        for (let i = 0; i < count; i++) {
          const at = r * queries + i;
          const position = row.cached + i;
          tokens[at] = row.tokens[position] as number;
          positions[at] = position;
          kept[at] = 1;
          mask.fill(0, at * capacity, at * capacity + position + 1);
        }
      });
      const ends = due.map((count, r) => count > 0 && count === left[r]);
      const output = await policy.step(this.cache, {
        firstRow,
        rows,
        queries,
        tokens,
        positions,
        kept,
        mask,
        wanted: ends.includes(true) ? due.map((count) => Math.max(0, count - 1)) : null,
      });
      group.forEach((row, r) => {
        const count = due[r] as number;
        this.#advance(row, count);
        if (ends[r]) this.#sample(row, output, r, r * queries + count - 1, done);
      });
    }
  }

  async #decode(policy: CompiledPolicy, done: Completion[]): Promise<void> {
    let active = this.#rows.filter((row) => row.running !== null);
    if (active.length === 0) return;
    if (this.#compact(active)) active = this.#rows.filter((row) => row.running !== null);
    const first = (active[0] as Row).index;
    const count = (active.at(-1) as Row).index - first + 1;
    this.#reserve(Math.max(...active.map((row) => row.cached)) + 1);
    const { capacity } = this.cache;
    const tokens = new Int32Array(count);
    const positions = new Int32Array(count);
    const kept = new Uint8Array(count);
    for (const row of active) {
      const i = row.index - first;
      tokens[i] = row.tokens[row.cached] as number;
      positions[i] = row.cached;
      kept[i] = 1;
      this.#mask[row.index * capacity + row.cached] = 0;
    }
    const output = await policy.step(this.cache, {
      firstRow: first,
      rows: count,
      queries: 1,
      tokens,
      positions,
      kept,
      mask: this.#mask.subarray(first * capacity, (first + count) * capacity),
      wanted: new Array<number>(count).fill(0),
    });
    for (const row of active) {
      this.#advance(row, 1);
      if (row.cached === row.total) this.#sample(row, output, row.index - first, row.index - first, done);
    }
  }

  /** @param choice index of the row's distribution, @param token index of its token in the step. */
  #sample(row: Row, output: StepOutput, choice: number, token: number, done: Completion[]): void {
    const running = row.running as Running;
    const { job } = running;
    const size = this.#config.vocabularySize;
    const uniform = job.temperature === 0 ? 0 : running.random.float();
    const offset = choice * size;
    const chosen = chooseToken(output.probabilities, offset, size, job.temperature, uniform);
    running.tokens.push(chosen);
    running.logprobs.push(Math.log(output.probabilities[offset + chosen] as number));
    if (job.routes) running.routes.push(output.slots.map((layer) => layer[token] as number));
    const known = row.total + 1;
    const stopReason = job.stop.includes(chosen)
      ? 'stop'
      : running.tokens.length >= job.maxTokens
        ? 'length'
        : known >= this.#options.context
          ? 'context'
          : null;
    if (stopReason === null) {
      row.tokens[row.total++] = chosen;
      return;
    }
    const { tokens, logprobs, routes } = running;
    done.push({ id: job.id, result: { tokens, logprobs, stopReason, ...(job.routes ? { routes } : {}) } });
    row.running = null;
    row.lastUse = ++this.#clock;
  }

  /** Takes over the longest prefix that another row has already computed, if it is longer than the row's own. */
  #copySharedPrefix(row: Row): void {
    const prompt = row.tokens.subarray(0, row.total - 1);
    let source: Row | null = null;
    let best = row.cached + MIN_SHARED - 1;
    for (const other of this.#rows) {
      if (other === row || other.cached <= best) continue;
      const length = commonPrefix(other, prompt);
      if (length > best) {
        best = length;
        source = other;
      }
    }
    if (source === null) return;
    this.cache.copyRow(source.index, row.index, best);
    this.#advance(row, best - row.cached);
  }

  /** Moves running rows together when the gaps between them would cost more than they do. */
  #compact(active: readonly Row[]): boolean {
    const first = (active[0] as Row).index;
    const last = (active.at(-1) as Row).index;
    if (last - first + 1 <= 2 * active.length + 2) return false;
    let gap = 0;
    for (let i = active.length - 1; i >= 0; i--) {
      const row = active[i] as Row;
      while (gap < row.index && (this.#rows[gap] as Row).running !== null) gap++;
      if (gap >= row.index) break;
      this.#swap(row, this.#rows[gap] as Row);
    }
    return true;
  }

  #swap(a: Row, b: Row): void {
    if (b.cached === 0) this.cache.copyRow(a.index, b.index, a.cached);
    else this.cache.swapRows(a.index, b.index);
    [a.index, b.index] = [b.index, a.index];
    this.#rows[a.index] = a;
    this.#rows[b.index] = b;
    this.#maskRow(a);
    this.#maskRow(b);
  }

  #advance(row: Row, count: number): void {
    const start = row.index * this.cache.capacity + row.cached;
    this.#mask.fill(0, start, start + count);
    row.cached += count;
  }

  #truncate(row: Row, cached: number): void {
    row.cached = cached;
    this.#maskRow(row);
  }

  #maskRow(row: Row): void {
    const start = row.index * this.cache.capacity;
    this.#mask.fill(0, start, start + row.cached);
    this.#mask.fill(MASKED, start + row.cached, start + this.cache.capacity);
  }

  /** Makes room for `length` tokens in every row. */
  #reserve(length: number): void {
    if (length <= this.cache.capacity) return;
    this.#resize(this.cache.rows, Math.ceil(length / CAPACITY_STEP) * CAPACITY_STEP);
  }

  /** Long rows of the past must not make the short ones of now pay: attention costs what the capacity is. */
  #shrink(): void {
    let longest = 0;
    for (const job of this.#waiting.slice(0, this.#options.rows))
      longest = Math.max(longest, job.tokens.length);
    for (const row of this.#rows)
      if (row.running || row.sequence !== null) longest = Math.max(longest, row.total);
    const wanted = Math.ceil((longest + 1) / CAPACITY_STEP) * CAPACITY_STEP;
    // Twice a step of slack, so that a batch near a boundary does not move to and fro.
    if (longest === 0 || wanted > this.cache.capacity - 2 * CAPACITY_STEP) return;
    for (const row of this.#rows) row.cached = Math.min(row.cached, wanted);
    this.#resize(this.cache.rows, wanted);
  }

  #resize(rows: number, capacity: number): void {
    this.cache.resize(rows, capacity);
    this.#mask = new Float32Array(rows * capacity).fill(MASKED);
    for (const row of this.#rows) this.#maskRow(row);
  }
}

/** Whether the row may be prefilled together with the group. */
function fits(group: readonly Row[], row: Row): boolean {
  const last = group.at(-1) as Row;
  if (row.index !== last.index + 1 || group.length === PREFILL_ROWS) return false;
  const counts = [...group, row].map(({ total, cached }) => total - cached);
  const sum = counts.reduce((a, b) => a + b, 0);
  if (sum < PREFILL_FILL * counts.length * Math.max(...counts)) return false;
  const own = row.tokens.subarray(0, row.total - 1);
  return group.every(({ tokens, total }) => {
    return countEqual(tokens, own, Math.min(total, own.length)) < row.cached + MIN_SHARED;
  });
}

/** Number of leading tokens of the row's cache that `tokens` begins with. */
function commonPrefix(row: Row, tokens: Int32Array): number {
  return countEqual(row.tokens, tokens, Math.min(row.cached, tokens.length));
}

/** Number of equal leading tokens of a and b, at most `limit`. */
function countEqual(a: Int32Array, b: Int32Array, limit: number): number {
  let i = 0;
  while (i < limit && a[i] === b[i]) i++;
  return i;
}
