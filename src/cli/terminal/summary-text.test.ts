import { expect, test } from 'vitest';
import type { RunSummary } from '../summary.js';
import { colorsFor } from './colors.js';
import { summaryText } from './summary-text.js';

const colors = colorsFor({ isTTY: false });
const empty: RunSummary = { missing: null, trained: [], systems: [], comparisons: [], report: null };

test('says what is missing, what was trained and what it brought', () => {
  const cell = { split: 'test', decoding: 'sample' } as const;
  const text = summaryText(
    {
      ...empty,
      missing: [
        {
          name: 'complete_every_request',
          definition: '',
          coverage: 0.61,
          gap: 0.44,
          ratersPassed: 10,
          raters: 10,
        },
        { name: 'exact_arguments', definition: '', coverage: 0.125, gap: 0.3, ratersPassed: 8, raters: 10 },
      ],
      trained: ['complete_every_request'],
      systems: [
        {
          ...cell,
          name: 'base',
          passed: 12,
          n: 512,
          rate: 0.0234,
          interval: [0.01, 0.04],
          rollouts: 0,
          broken: 0,
        },
        {
          ...cell,
          name: 'mixture',
          passed: 303,
          n: 512,
          rate: 0.592,
          interval: [0.549, 0.634],
          rollouts: 9,
          broken: 0,
        },
      ],
      comparisons: [
        { ...cell, of: 'mixture', against: 'base', difference: 0.5684, interval: [0.52, 0.61], p: 1e-9 },
      ] as unknown as RunSummary['comparisons'],
    },
    colors,
  );
  expect(text).toContain(
    'complete_every_request  lacking in 61.0 % of failures, gap 0.44, 10 of 10 raters · adapter trained',
  );
  expect(text).toMatch(/exact_arguments {9}lacking in 12.5 % of failures, gap 0.30, 8 of 10 raters$/m);
  expect(text).toContain(
    'base 2.3 % → mixture 59.2 % [54.9, 63.4]; difference +56.8 points [+52.0, +61.0], n = 512',
  );
});

test('a run that found nothing, and one that has not come so far', () => {
  expect(summaryText({ ...empty, missing: [] }, colors)).toContain('nothing to train');
  expect(summaryText(empty, colors).trim()).toBe('');
});
