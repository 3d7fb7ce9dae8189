import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fleissKappa } from './agreement.js';
import { pairedBootstrap } from './bootstrap.js';
import { newcombeDifference } from './difference.js';
import { benjaminiHochberg, fisherExact } from './hypothesis.js';
import { normalQuantile } from './normal.js';
import { mcnemarExact, pairedInterval } from './paired.js';
import { wilson } from './proportion.js';
import { mean, populationStd, quantileOfSorted } from './summary.js';

describe('normal quantile', () => {
  test.each([
    // AS 241's own check values.
    [0.25, -0.6744897501960817],
    [0.001, -3.090232306167814],
    [1e-20, -9.262340089798409],
    // Tables: 95 % and 99 % two-sided.
    [0.975, 1.959963984540054],
    [0.995, 2.5758293035489004],
  ])('of %d is %d', (p, z) => expect(normalQuantile(p)).toBeCloseTo(z, 12));

  test('is odd about 1/2 and refuses what is no probability', () => {
    for (const p of [0.01, 0.2, 0.45]) expect(normalQuantile(1 - p)).toBeCloseTo(-normalQuantile(p), 12);
    for (const p of [0, 1, Number.NaN]) expect(() => normalQuantile(p)).toThrow(RangeError);
  });
});

describe("Wilson's interval", () => {
  // Newcombe 1998 (single proportion), table I, method 3.
  test.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('of %d in %d', (x, n, low, high) => {
    const interval = wilson(x, n);
    expect(interval[0]).toBeCloseTo(low, 4);
    expect(interval[1]).toBeCloseTo(high, 4);
  });

  test('its ends solve the score equation and it holds the proportion', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (n, share) => {
          const x = Math.round(share * n);
          for (const end of wilson(x, n)) {
            if (end === 0 || end === 1) continue;
            // |p − end| = z sqrt(end (1 − end) / n)
            const score = Math.abs(x / n - end) / Math.sqrt((end * (1 - end)) / n);
            expect(score).toBeCloseTo(1.959963984540054, 6);
          }
          const [low, high] = wilson(x, n);
          expect(low).toBeLessThanOrEqual(x / n);
          expect(high).toBeGreaterThanOrEqual(x / n);
        },
      ),
    );
    expect(() => wilson(3, 2)).toThrow(RangeError);
  });
});

describe("Newcombe's difference of independent proportions", () => {
  // Newcombe 1998 (difference of independent proportions), table II, method 10.
  test.each([
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [10, 10, 0, 20, 0.6791, 1],
    [10, 10, 0, 10, 0.6075, 1],
  ])('%d/%d − %d/%d', (x1, n1, x2, n2, low, high) => {
    const { difference, interval } = newcombeDifference(x1, n1, x2, n2);
    expect(difference).toBeCloseTo(x1 / n1 - x2 / n2, 12);
    expect(interval[0]).toBeCloseTo(low, 4);
    expect(interval[1]).toBeCloseTo(high, 4);
  });

  test('an empty group tells nothing', () => {
    expect(newcombeDifference(5, 10, 0, 0).interval[0]).toBeLessThan(0);
  });
});

describe('paired outcomes', () => {
  // Airway hyper-responsiveness before and after a transplant (Bentur 2009), as worked in Fagerland, Lydersen
  // and Laake 2014: of 21 children 1 only before, 7 only after.
  test('exact McNemar and the interval of Bonett and Price', () => {
    expect(mcnemarExact(1, 7)).toBeCloseTo(0.0703, 4);
    const [low, high] = pairedInterval({ n: 21, onlyFirst: 1, onlySecond: 7 });
    expect(low).toBeCloseTo(-0.508, 3);
    expect(high).toBeCloseTo(-0.013, 3);
  });

  test('bootstrap: the seed decides, and the width is that of the normal approximation', () => {
    const first = Array.from({ length: 400 }, (_, i) => (i % 3 === 0 ? 1 : 0));
    const second = Array.from({ length: 400 }, (_, i) => (i % 5 === 0 ? 1 : 0));
    const differences = first.map((value, i) => value - second[i]!);
    const result = pairedBootstrap(first, second, { seed: 4 });
    expect(result).toEqual(pairedBootstrap(first, second, { seed: 4 }));
    expect(result.difference).toBeCloseTo(mean(differences), 12);
    const half = (1.96 * populationStd(differences)) / Math.sqrt(400);
    expect(result.interval[0]).toBeCloseTo(result.difference - half, 2);
    expect(result.interval[1]).toBeCloseTo(result.difference + half, 2);
  });

  test('bootstrap by cluster: copies of a pair tell nothing new', () => {
    const base = Array.from({ length: 50 }, (_, i) => (i % 4 === 0 ? 1 : 0));
    const four = base.flatMap((value) => [value, value, value, value]);
    const zeros = four.map(() => 0);
    const clusters = four.map((_, i) => Math.floor(i / 4));
    const clustered = pairedBootstrap(four, zeros, { seed: 1, clusters });
    const single = pairedBootstrap(
      base,
      base.map(() => 0),
      { seed: 1 },
    );
    expect(clustered.interval).toEqual(single.interval);
    const naive = pairedBootstrap(four, zeros, { seed: 1 });
    expect(naive.interval[1] - naive.interval[0]).toBeLessThan(
      0.7 * (clustered.interval[1] - clustered.interval[0]),
    );
  });
});

describe('tables', () => {
  test.each([
    // Fisher's tea tasting: two-sided 34/70.
    [3, 1, 1, 3, 34 / 70],
    // Convictions of like-sex twins (Fisher 1962), two-sided value as R's fisher.test prints it.
    [2, 10, 15, 3, 0.0005367],
    [0, 0, 5, 5, 1],
  ])("Fisher's exact test of %d %d / %d %d", (a, b, c, d, p) => {
    expect(fisherExact(a, b, c, d)).toBeCloseTo(p, 7);
    expect(fisherExact(c, d, a, b)).toBeCloseTo(p, 7);
    expect(fisherExact(a, c, b, d)).toBeCloseTo(p, 7);
  });

  test("Fleiss' kappa: the worked example with 14 raters, 10 subjects, 5 categories", () => {
    const rows = [
      [0, 0, 0, 0, 14],
      [0, 2, 6, 4, 2],
      [0, 0, 3, 5, 6],
      [0, 3, 9, 2, 0],
      [2, 2, 8, 1, 1],
      [7, 7, 0, 0, 0],
      [3, 2, 6, 3, 0],
      [2, 5, 3, 2, 2],
      [6, 5, 2, 1, 0],
      [0, 2, 2, 3, 7],
    ];
    expect(fleissKappa(rows)).toBeCloseTo(0.21, 3);
    expect(
      fleissKappa([
        [3, 0],
        [0, 3],
      ]),
    ).toBe(1);
    expect(
      fleissKappa([
        [3, 0],
        [3, 0],
      ]),
    ).toBe(1);
    expect(fleissKappa([[1, 0]])).toBeNull();
    expect(fleissKappa([])).toBeNull();
    // Two raters who always differ: observed 0, expected 1/2.
    expect(
      fleissKappa([
        [1, 1],
        [1, 1],
      ]),
    ).toBeCloseTo(-1, 12);
  });

  test('Benjamini and Hochberg 1995, section 3.2: four of fifteen at 0.05', () => {
    const p = [
      0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324, 0.4262, 0.5719, 0.6528,
      0.759, 1,
    ];
    const adjusted = benjaminiHochberg(p);
    expect(adjusted.filter((value) => value <= 0.05)).toHaveLength(4);
    // p·15/rank, the smallest of it and all later ones.
    expect(adjusted[3]).toBeCloseTo((0.0095 * 15) / 4, 12);
    expect(adjusted[5]).toBeCloseTo((0.0298 * 15) / 7, 12);
    expect(benjaminiHochberg([...p].reverse())).toEqual([...adjusted].reverse());
    expect(() => benjaminiHochberg([1.5])).toThrow(RangeError);
  });
});

test('mean, population deviation and quantiles', () => {
  expect(mean([1, 0, 0, 0])).toBe(0.25);
  expect(populationStd([1, 0, 0, 0])).toBeCloseTo(Math.sqrt(3) / 4, 12);
  expect([mean([]), populationStd([])]).toEqual([0, 0]);
  expect(quantileOfSorted([1, 2, 3, 4], 0.5)).toBe(2.5);
  expect(quantileOfSorted([1, 2, 3, 4], 0.25)).toBe(1.75);
  expect(() => quantileOfSorted([], 0.5)).toThrow(RangeError);
});
