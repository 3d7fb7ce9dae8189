import { Random } from '../run/random.js';
import type { DifferenceEstimate } from './difference.js';
import { mean, quantileOfSorted } from './summary.js';

export interface BootstrapOptions {
  readonly seed: number;
  /** Default 10,000. */
  readonly resamples?: number;
  /** Default 0.95. */
  readonly confidence?: number;
  /** Cluster of each pair (its task, say): whole clusters are drawn. Absent: each pair is its own. */
  readonly clusters?: readonly (string | number)[];
}

/**
 * Mean paired difference (first − second) with a percentile bootstrap interval over pairs, or over clusters of
 * pairs where attempts at one task hang together. Values may be rewards or 0/1 outcomes.
 * @throws RangeError for lists of different lengths or without a pair.
 */
export function pairedBootstrap(
  first: readonly number[],
  second: readonly number[],
  options: BootstrapOptions,
): DifferenceEstimate {
  if (first.length !== second.length || (options.clusters && options.clusters.length !== first.length))
    throw new RangeError(`paired lists differ in length: ${first.length} and ${second.length}`);
  if (first.length === 0) throw new RangeError('no pair to compare');
  const clusters = new Map<string | number, { sum: number; n: number }>();
  first.forEach((value, i) => {
    const key = options.clusters?.[i] ?? i;
    const cluster = clusters.get(key) ?? { sum: 0, n: 0 };
    cluster.sum += value - second[i]!;
    cluster.n++;
    clusters.set(key, cluster);
  });
  const units = [...clusters.values()];
  const random = new Random(options.seed, '/paired-bootstrap');
  const means = Array.from({ length: options.resamples ?? 10_000 }, () => {
    let sum = 0;
    let n = 0;
    for (let i = 0; i < units.length; i++) {
      const unit = units[random.int(units.length)]!;
      sum += unit.sum;
      n += unit.n;
    }
    return sum / n;
  }).sort((a, b) => a - b);
  const tail = (1 - (options.confidence ?? 0.95)) / 2;
  return {
    difference: mean(first.map((value, i) => value - second[i]!)),
    interval: [quantileOfSorted(means, tail), quantileOfSorted(means, 1 - tail)],
  };
}
