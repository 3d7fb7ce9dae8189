import type { Datum } from '../../contract.js';

/** A padded batch of sequences with the positions that matter, ready for a training graph. */
export interface Batch {
  /** Index of each row's datum. */
  readonly datums: readonly number[];
  readonly rows: number;
  readonly length: number;
  /** [rows·length], padded with 0 on the right. */
  readonly tokens: BigInt64Array;
  /** [selected] flat indices row·length + t, ascending. */
  readonly positions: BigInt64Array;
  readonly targets: BigInt64Array;
  readonly weights: Float32Array;
  readonly advantages: Float32Array;
  readonly old: Float32Array;
}

export interface BatchOptions {
  /** About how many padded tokens go into a batch. */
  readonly tokens: number;
  /** The number of batches is a multiple of it where there are enough sequences: one share for each worker. */
  readonly multiple: number;
}

/** Lengths are rounded up to a multiple of it: kernels like it, and fewer distinct shapes occur. */
const LENGTH_STEP = 8;

/**
 * Packs sequences into batches of similar length, longest first; ties keep the caller's order, so the result is a
 * function of the data alone. Tokens after a sequence's last weighted position are left out, and so are sequences
 * without any.
 */
export function packBatches(data: readonly Datum[], options: BatchOptions): Batch[] {
  const items = data
    .map((datum, index) => ({ datum, index, length: trainedLength(datum, index) }))
    .filter((item) => item.length > 0)
    .sort((a, b) => b.length - a.length || a.index - b.index);
  if (items.length === 0) return [];
  const padded = (length: number) => Math.ceil(length / LENGTH_STEP) * LENGTH_STEP;
  const total = items.reduce((sum, item) => sum + padded(item.length), 0);
  const { multiple } = options;
  const count = Math.max(1, Math.ceil(total / options.tokens / multiple)) * multiple;
  const target = total / count;

  const batches: Batch[] = [];
  let start = 0;
  while (start < items.length) {
    const length = padded(items[start]!.length);
    const rows = Math.max(1, Math.min(items.length - start, Math.round(target / length)));
    batches.push(pack(items.slice(start, start + rows), length));
    start += rows;
  }
  return batches;
}

/** One past the last position with a weight. @throws RangeError when the datum's arrays do not fit together. */
function trainedLength(datum: Datum, index: number): number {
  const { tokens, targets, weights, advantages, logprobs } = datum;
  const length = tokens.length;
  for (const [name, values] of Object.entries({ targets, weights, advantages, logprobs })) {
    if (values !== undefined && values.length !== length)
      throw new RangeError(`datum ${index}: ${name} has ${values.length} entries, tokens has ${length}`);
  }
  for (let t = length - 1; t >= 0; t--) if (weights[t] !== 0) return t + 1;
  return 0;
}

function pack(items: readonly { datum: Datum; index: number; length: number }[], length: number): Batch {
  const rows = items.length;
  const tokens = new BigInt64Array(rows * length);
  const positions: number[] = [];
  const targets: number[] = [];
  const weights: number[] = [];
  const advantages: number[] = [];
  const old: number[] = [];
  items.forEach(({ datum, length: used }, row) => {
    for (let t = 0; t < used; t++) {
      tokens[row * length + t] = BigInt(datum.tokens[t]!);
      if (datum.weights[t] === 0) continue;
      positions.push(row * length + t);
      targets.push(datum.targets[t]!);
      weights.push(datum.weights[t]!);
      advantages.push(datum.advantages?.[t] ?? 0);
      old.push(datum.logprobs?.[t] ?? 0);
    }
  });
  return {
    datums: items.map((item) => item.index),
    rows,
    length,
    tokens,
    positions: BigInt64Array.from(positions.map(BigInt)),
    targets: BigInt64Array.from(targets.map(BigInt)),
    weights: Float32Array.from(weights),
    advantages: Float32Array.from(advantages),
    old: Float32Array.from(old),
  };
}

/** Shares batches out among workers: each, in order, to the one with the fewest padded tokens so far (the lowest in a tie). */
export function shareBatches(batches: readonly Batch[], workers: number): number[][] {
  const shares: number[][] = Array.from({ length: workers }, () => []);
  const load = new Array<number>(workers).fill(0);
  batches.forEach((batch, i) => {
    const worker = load.indexOf(Math.min(...load));
    shares[worker]!.push(i);
    load[worker]! += batch.rows * batch.length;
  });
  return shares;
}
