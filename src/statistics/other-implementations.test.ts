import { expect, test } from 'vitest';
import { fleissKappa } from './agreement.js';
import { clusterBootstrap, percentileInterval } from './bootstrap.js';
import { newcombeDifference } from './difference.js';
import { benjaminiHochberg, fisherExact } from './hypothesis.js';
import { wilson } from './proportion.js';
import { mean } from './summary.js';

/**
 * Numbers of Python's scipy 1.17.1 and statsmodels 0.15.0; each test names the call that printed them. Published
 * worked examples stand in statistics.test.ts.
 */

// proportion_confint(x, n, method='wilson')
test.each([
  [3, 10, 0.10779126740630104, 0.6032218525388546],
  [0, 7, 0, 0.3543304350666875],
  [41, 110, 0.2880959628736206, 0.4659479479295484],
  [16, 57, 0.18079399343823543, 0.4083019867604395],
  [57, 57, 0.9368611651470209, 1],
])('statsmodels: Wilson of %d in %d', (x, n, low, high) => {
  const interval = wilson(x, n);
  expect(interval[0]).toBeCloseTo(low, 12);
  expect(interval[1]).toBeCloseTo(high, 12);
});

// confint_proportions_2indep(x1, n1, x2, n2, method='newcomb', compare='diff')
test.each([
  [14, 41, 5, 30, -0.03591103816322541, 0.3540335153109272],
  [0, 12, 3, 9, -0.6457978644196039, -0.010741176928919072],
  [20, 41, 0, 9, 0.15525654047442927, 0.635154913484562],
  [6, 6, 0, 34, 0.59668119183822, 1],
])('statsmodels: Newcombe of %d/%d − %d/%d', (x1, n1, x2, n2, low, high) => {
  const { interval } = newcombeDifference(x1, n1, x2, n2);
  expect(interval[0]).toBeCloseTo(low, 10);
  expect(interval[1]).toBeCloseTo(high, 10);
});

// fisher_exact([[a, b], [c, d]])[1]
test.each([
  [14, 27, 5, 25, 0.11375594778441066],
  [20, 21, 0, 9, 0.007285848354318858],
  [2, 4, 0, 3, 0.5],
  [41, 69, 3, 51, 4.928996513111184e-6],
  [120, 380, 90, 510, 0.00020696557414959693],
])("scipy: Fisher's exact p of %d %d / %d %d", (a, b, c, d, p) =>
  expect(fisherExact(a, b, c, d) / p).toBeCloseTo(1, 9),
);

test('statsmodels: Benjamini and Hochberg with ties', () => {
  // multipletests(p, method='fdr_bh')[1]
  const adjusted = [0.032, 0.26666666666666666, 0.012, 1, 0.064, 0.064, 1, 0.004];
  benjaminiHochberg([0.012, 0.2, 0.003, 0.9, 0.04, 0.04, 1, 0.0005]).forEach((value, i) => {
    expect(value).toBeCloseTo(adjusted[i]!, 12);
  });
});

test("statsmodels: Fleiss' kappa of ten raters and three labels", () => {
  // fleiss_kappa(rows, method='fleiss')
  const rows = [
    [0, 0, 10],
    [1, 2, 7],
    [9, 1, 0],
    [10, 0, 0],
    [3, 3, 4],
    [0, 8, 2],
    [10, 0, 0],
  ];
  expect(fleissKappa(rows)).toBeCloseTo(0.5917044718081659, 12);
});

test('scipy: percentile interval of a mean of tasks', () => {
  // bootstrap((data,), np.mean, n_resamples=200000, method='percentile'): 0.3875 to 0.6875
  const data = [0, 0, 0.25, 0.25, 0.5, 0.5, 0.5, 0.75, 1, 1, 1, 1, 0.75, 0.25, 0, 0.5, 0.5, 1, 0.75, 0.25];
  const means = clusterBootstrap(
    data.length,
    (times) => data.reduce((sum, value, i) => sum + value * times[i]!, 0) / data.length,
    { seed: 3, resamples: 4000 },
  );
  const [low, high] = percentileInterval(means);
  expect(mean(means)).toBeCloseTo(0.5375, 2);
  // The means step by 0.0125: one step of play.
  expect(Math.abs(low - 0.3875)).toBeLessThan(0.0126);
  expect(Math.abs(high - 0.6875)).toBeLessThan(0.0126);
});

test('scipy: a ratio of sums over clusters of unequal size', () => {
  // bootstrap((part, whole), sum/sum, paired=True, n_resamples=200000, method='percentile'): 0.3000 to 0.7097,
  // standard error 0.10447
  const clusters = [
    [3, 4],
    [0, 2],
    [1, 5],
    [2, 2],
    [4, 8],
    [0, 1],
    [5, 6],
    [1, 3],
  ] as const;
  const ratios = clusterBootstrap(
    clusters.length,
    (times) => {
      let [part, whole] = [0, 0];
      clusters.forEach(([x, n], i) => {
        part += x * times[i]!;
        whole += n * times[i]!;
      });
      return part / whole;
    },
    { seed: 3, resamples: 8000 },
  );
  const [low, high] = percentileInterval(ratios);
  expect(low).toBeCloseTo(0.3, 1);
  expect(high).toBeCloseTo(0.7097, 1);
  const centre = mean(ratios);
  expect(Math.sqrt(mean(ratios.map((ratio) => (ratio - centre) ** 2)))).toBeCloseTo(0.10447, 2);
});
