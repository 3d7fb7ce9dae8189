import type { SystemResult } from '../../evaluation/result.js';
import type { RunSummary } from '../summary.js';
import type { Colors } from './colors.js';
import { formatPercent, padEnd } from './format.js';

/** The end of a run in words: what is missing, what was trained, what it brought. */
export function summaryText(summary: RunSummary, colors: Colors): string {
  const lines: string[] = [''];
  if (summary.missing !== null) {
    lines.push(colors.bold('Missing capabilities'));
    if (summary.missing.length === 0) lines.push('  none was found: nothing to train');
    const width = Math.max(0, ...summary.missing.map((capability) => capability.name.length));
    for (const capability of summary.missing) {
      const { name, coverage, gap, ratersPassed, raters } = capability;
      const trained = summary.trained.includes(name) ? colors.green(' · adapter trained') : '';
      lines.push(
        `  ${padEnd(name, width)}  lacking in ${formatPercent(coverage)} of failures, gap ${gap.toFixed(2)}, ${ratersPassed} of ${raters} raters${trained}`,
      );
    }
    lines.push('');
  }
  for (const decoding of ['sample', 'greedy'] as const) {
    for (const split of ['test', 'shift'] as const) {
      const line = gainLine(summary, split, decoding, colors);
      if (line) lines.push(line);
    }
  }
  if (lines.at(-1) !== '') lines.push('');
  return lines.join('\n');
}

const DECODING_WORDS = { sample: 'T = 1', greedy: 'greedy' } as const;

/** `test, T = 1: base 2.3 % → mixture 59.2 % [54.9, 63.4]; difference +56.9 points [52.4, 61.0], n = 512`. */
function gainLine(
  summary: RunSummary,
  split: 'test' | 'shift',
  decoding: 'sample' | 'greedy',
  colors: Colors,
): string | null {
  const find = (name: string): SystemResult | undefined =>
    summary.systems.find(
      (system) => system.name === name && system.split === split && system.decoding === decoding,
    );
  const [base, mixture] = [find('base'), find('mixture')];
  if (!base || !mixture) return null;
  const points = (value: number) => (value * 100).toFixed(1);
  const signed = (value: number) => `${value >= 0 ? '+' : '−'}${points(Math.abs(value))}`;
  const head = `${padEnd(`${split}, ${DECODING_WORDS[decoding]}`, 14)} base ${formatPercent(base.rate)} → mixture ${colors.bold(formatPercent(mixture.rate))}`;
  const comparison = summary.comparisons.find(
    (entry) =>
      entry.of === 'mixture' &&
      entry.against === 'base' &&
      entry.split === split &&
      entry.decoding === decoding,
  );
  const interval = `[${points(mixture.interval[0])}, ${points(mixture.interval[1])}]`;
  const difference = comparison
    ? `; difference ${signed(comparison.difference)} points [${signed(comparison.interval[0])}, ${signed(comparison.interval[1])}]`
    : '';
  return `${head} ${interval}${difference}, n = ${mixture.n}`;
}
