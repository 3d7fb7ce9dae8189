import { createHash } from 'node:crypto';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/**
 * The one source of chance in TRACE: a seeded generator that is handed down, never global.
 * `fork` gives independent streams by label, so that adding a draw in one place moves nothing elsewhere.
 *
 * @example
 * const random = new Random(7);
 * const task = random.fork('task', 3);
 * task.pick(['red', 'blue']);
 */
export class Random {
  readonly #key: string;
  readonly #generator: ReturnType<typeof xoroshiro128plus>;
  #spareGaussian: number | null = null;

  /** @param seed any safe integer. */
  constructor(seed: number, key = '') {
    if (!Number.isSafeInteger(seed)) throw new RangeError(`seed must be a safe integer, got ${seed}`);
    this.#key = `${seed}${key}`;
    this.#generator = xoroshiro128plus(deriveSeed(this.#key));
  }

  /** An independent stream, a pure function of this one's seed and the labels (not of the draws made so far). */
  fork(...labels: readonly (string | number)[]): Random {
    return new Random(0, `${this.#key}/${labels.join('/')}`);
  }

  /** Uniform 32-bit unsigned integer. */
  uint32(): number {
    return this.#generator.next() >>> 0;
  }

  /** Uniform in [0, 1) with 53 bits. */
  float(): number {
    const high = this.uint32() >>> 5;
    const low = this.uint32() >>> 6;
    return (high * 67108864 + low) / 9007199254740992;
  }

  /** Uniform integer in [0, n). @throws RangeError unless n is a positive integer. */
  int(n: number): number {
    if (!Number.isInteger(n) || n <= 0) throw new RangeError(`int(n) needs a positive integer, got ${n}`);
    return Math.floor(this.float() * n);
  }

  /** True with probability p. */
  chance(p: number): boolean {
    return this.float() < p;
  }

  /** A uniformly chosen element. @throws RangeError for an empty list. */
  pick<T>(items: readonly T[]): T {
    return items[this.int(items.length)] as T;
  }

  /** A shuffled copy (Fisher–Yates). */
  shuffle<T>(items: readonly T[]): T[] {
    const copy = [...items];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.int(i + 1);
      [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
    }
    return copy;
  }

  /** k distinct elements in random order. @throws RangeError when there are fewer than k. */
  sample<T>(items: readonly T[], k: number): T[] {
    if (k > items.length) throw new RangeError(`cannot draw ${k} of ${items.length}`);
    return this.shuffle(items).slice(0, k);
  }

  /** Standard normal (Box–Muller). */
  gaussian(): number {
    if (this.#spareGaussian !== null) {
      const value = this.#spareGaussian;
      this.#spareGaussian = null;
      return value;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - this.float()));
    const angle = 2 * Math.PI * this.float();
    this.#spareGaussian = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  }
}

/** A 32-bit seed from any labels: for handing a seed to something that takes only a number. */
export function deriveSeed(...labels: readonly (string | number)[]): number {
  return createHash('sha256').update(labels.join('/')).digest().readInt32LE(0);
}
