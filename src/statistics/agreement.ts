/**
 * Fleiss' kappa: agreement of raters beyond chance. Each row counts how many raters put one subject into each
 * category. Rows may have different numbers of raters (each then weighs by its pairs' share, and categories by
 * all ratings); rows with fewer than two are left out. 1 when all ratings fall into one category: there is
 * nothing to disagree on. Null when no row has two ratings.
 * Source: Fleiss 1971, Psychological Bulletin 76:378–382.
 * @throws RangeError for counts that are none, or rows of different width.
 */
export function fleissKappa(rows: readonly (readonly number[])[]): number | null {
  const width = rows[0]?.length ?? 0;
  const totals = new Array<number>(width).fill(0);
  let ratings = 0;
  let subjects = 0;
  let agreement = 0;
  for (const row of rows) {
    if (row.length !== width) throw new RangeError(`rows of ${width} and ${row.length} categories`);
    if (row.some((count) => !Number.isInteger(count) || count < 0))
      throw new RangeError('counts must be whole numbers from 0');
    const raters = row.reduce((sum, count) => sum + count, 0);
    if (raters < 2) continue;
    subjects++;
    ratings += raters;
    row.forEach((count, category) => {
      totals[category]! += count;
    });
    const pairs = row.reduce((sum, count) => sum + count * (count - 1), 0);
    agreement += pairs / (raters * (raters - 1));
  }
  if (subjects === 0) return null;
  const observed = agreement / subjects;
  const expected = totals.reduce((sum, total) => sum + (total / ratings) ** 2, 0);
  return expected === 1 ? 1 : (observed - expected) / (1 - expected);
}

/**
 * Share of equal pairs of ratings, the mean over the rows with two or more: what kappa corrects for chance. Where
 * nearly all ratings fall into one category kappa is low although this is high. Null when no row has two ratings.
 */
export function observedAgreement(rows: readonly (readonly number[])[]): number | null {
  const shares = rows.flatMap((row) => {
    const raters = row.reduce((sum, count) => sum + count, 0);
    const pairs = row.reduce((sum, count) => sum + count * (count - 1), 0);
    return raters < 2 ? [] : [pairs / (raters * (raters - 1))];
  });
  return shares.length === 0 ? null : shares.reduce((sum, value) => sum + value, 0) / shares.length;
}
