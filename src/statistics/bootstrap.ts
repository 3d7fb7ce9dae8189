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

/**
 * Bootstrap over clusters: draws as many of `clusters` as there are, with replacement, and hands `statistic` how
 * often each was drawn. The resamples are a pure function of the seed.
 * @param clusters how many there are, 1 or more.
 * @returns the statistic of each resample, in the order drawn.
 * @throws RangeError without a cluster.
 * Source: Davison and Hinkley 1997, Bootstrap Methods and their Application, section 3.8 (whole clusters drawn).
 */
export function clusterBootstrap<T>(
  clusters: number,
  statistic: (times: Uint32Array) => T,
  options: { readonly seed: number; readonly resamples: number },
): T[] {
  if (!Number.isInteger(clusters) || clusters < 1) throw new RangeError(`no cluster to draw: ${clusters}`);
  const random = new Random(options.seed, '/cluster-bootstrap');
  const times = new Uint32Array(clusters);
  return Array.from({ length: options.resamples }, () => {
    times.fill(0);
    for (let i = 0; i < clusters; i++) times[random.int(clusters)]!++;
    return statistic(times);
  });
}

/**
 * Percentile interval of bootstrap estimates, in any order.
 * @throws RangeError for an empty list.
 */
export function percentileInterval(estimates: readonly number[], confidence = 0.95): [number, number] {
  const sorted = [...estimates].sort((a, b) => a - b);
  const tail = (1 - confidence) / 2;
  return [quantileOfSorted(sorted, tail), quantileOfSorted(sorted, 1 - tail)];
}
