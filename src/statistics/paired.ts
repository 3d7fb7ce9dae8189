/** Outcomes of two systems on the same tasks, counted in pairs. */
export interface PairedCounts {
  /** Tasks that both were tried on. */
  readonly n: number;
  /** Tasks that only the first passed. */
  readonly onlyFirst: number;
  /** Tasks that only the second passed. */
  readonly onlySecond: number;
}

/** A paired comparison of pass rates: first minus second. */
export interface PairedComparison {
  /** Difference of the observed pass rates, in [−1, 1]. */
  readonly difference: number;
  /** Interval of the difference. */
  readonly interval: readonly [number, number];
  /** Two-sided p of McNemar's exact test that both pass equally often. */
  readonly p: number;
}

/** Quantile of the standard normal for a two-sided interval of 95 %. */
const Z95 = 1.959963984540054;

/**
 * Counts pairs of two lists of outcomes, `first[i]` and `second[i]` belonging to the same task.
 * @throws RangeError when the lists differ in length.
 */
export function countPairs(first: readonly boolean[], second: readonly boolean[]): PairedCounts {
  if (first.length !== second.length)
    throw new RangeError(`paired outcomes need equal lengths, got ${first.length} and ${second.length}`);
  let onlyFirst = 0;
  let onlySecond = 0;
  for (let i = 0; i < first.length; i++) {
    if (first[i] && !second[i]) onlyFirst++;
    else if (!first[i] && second[i]) onlySecond++;
  }
  return { n: first.length, onlyFirst, onlySecond };
}

/**
 * McNemar's exact test: under the null each discordant pair is a fair coin, so p is the two-sided binomial
 * tail, min(1, 2·P(X ≤ min(b, c))) with X ~ Bin(b + c, 1/2). 1 when there is no discordant pair.
 */
export function mcnemarExact(onlyFirst: number, onlySecond: number): number {
  const n = onlyFirst + onlySecond;
  const k = Math.min(onlyFirst, onlySecond);
  // Summed in logarithms: 2^-n underflows for the thousands of pairs that long evaluations have.
  let logTerm = -n * Math.LN2;
  let tail = Math.exp(logTerm);
  for (let i = 1; i <= k; i++) {
    logTerm += Math.log((n - i + 1) / i);
    tail += Math.exp(logTerm);
  }
  return Math.min(1, 2 * tail);
}

/**
 * Interval of a difference of paired proportions: Wald with Laplace's adjustment (Bonett & Price 2012), which
 * keeps its coverage for small counts and does not collapse when no pair is discordant.
 * @returns bounds, within [−1, 1].
 * @throws RangeError for n = 0.
 */
export function pairedInterval(counts: PairedCounts, z = Z95): [number, number] {
  if (counts.n <= 0) throw new RangeError('a paired interval needs at least one task');
  const n = counts.n + 2;
  const first = (counts.onlyFirst + 1) / n;
  const second = (counts.onlySecond + 1) / n;
  const centre = first - second;
  const half = z * Math.sqrt((first + second - centre * centre) / n);
  return [Math.max(-1, centre - half), Math.min(1, centre + half)];
}

/** Difference, interval and p of two systems on the same tasks; see the parts for sources and errors. */
export function comparePaired(first: readonly boolean[], second: readonly boolean[]): PairedComparison {
  const counts = countPairs(first, second);
  return {
    difference: counts.n === 0 ? 0 : (counts.onlyFirst - counts.onlySecond) / counts.n,
    interval: pairedInterval(counts),
    p: mcnemarExact(counts.onlyFirst, counts.onlySecond),
  };
}
