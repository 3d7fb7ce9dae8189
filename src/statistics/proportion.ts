/** Quantile of the standard normal for a two-sided interval of 95 %. */
const Z95 = 1.959963984540054;

/**
 * Wilson's score interval of a proportion (Wilson 1927): does not leave [0, 1], and keeps a width at 0 and n.
 * @returns bounds of the interval, 95 % unless `z` says otherwise.
 * @throws RangeError unless 0 ≤ passed ≤ n and n ≥ 1.
 */
export function wilson(passed: number, n: number, z = Z95): [number, number] {
  if (!(n >= 1) || !(passed >= 0) || passed > n)
    throw new RangeError(`an interval needs 0 ≤ passed ≤ n and n ≥ 1, got ${passed} of ${n}`);
  const rate = passed / n;
  const z2 = z * z;
  const centre = (rate + z2 / (2 * n)) / (1 + z2 / n);
  const half = (z / (1 + z2 / n)) * Math.sqrt((rate * (1 - rate)) / n + z2 / (4 * n * n));
  // At the ends the bound is exactly 0 or 1; rounding must not put it beside.
  return [passed === 0 ? 0 : centre - half, passed === n ? 1 : centre + half];
}
