/** Natural logarithms of factorials, grown as needed. */
const logFactorials: number[] = [0];
function logFactorial(n: number): number {
  for (let i = logFactorials.length; i <= n; i++) logFactorials.push(logFactorials[i - 1]! + Math.log(i));
  return logFactorials[n]!;
}
const logChoose = (n: number, k: number) => logFactorial(n) - logFactorial(k) - logFactorial(n - k);

function checkCounts(...counts: readonly number[]): void {
  for (const count of counts)
    if (!Number.isInteger(count) || count < 0)
      throw new RangeError(`counts must be whole numbers from 0, got ${count}`);
}

/**
 * Fisher's exact test of a 2×2 table [[a, b], [c, d]], two-sided: the sum of all tables with the same margins
 * that are no likelier than the one seen.
 * @throws RangeError for counts that are none.
 */
export function fisherExact(a: number, b: number, c: number, d: number): number {
  checkCounts(a, b, c, d);
  const [row, column, n] = [a + b, a + c, a + b + c + d];
  const logP = (x: number) => logChoose(row, x) + logChoose(n - row, column - x) - logChoose(n, column);
  const seen = logP(a);
  let p = 0;
  for (let x = Math.max(0, row + column - n); x <= Math.min(row, column); x++) {
    const value = logP(x);
    // Tables as likely as the seen one differ from it by rounding alone.
    if (value <= seen + 1e-7) p += Math.exp(value);
  }
  return Math.min(1, p);
}

/**
 * Adjusted p-values of Benjamini and Hochberg (1995), in the order given: rejecting where the adjusted value is
 * at most q holds the false discovery rate at q.
 * @throws RangeError for a value outside [0, 1].
 */
export function benjaminiHochberg(pValues: readonly number[]): number[] {
  for (const p of pValues) if (!(p >= 0 && p <= 1)) throw new RangeError(`a p-value is in [0, 1], got ${p}`);
  const order = pValues.map((_, i) => i).sort((i, j) => pValues[j]! - pValues[i]!);
  const adjusted = new Array<number>(pValues.length);
  let least = 1;
  order.forEach((index, position) => {
    least = Math.min(least, (pValues[index]! * pValues.length) / (pValues.length - position));
    adjusted[index] = least;
  });
  return adjusted;
}
