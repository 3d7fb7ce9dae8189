import { expect, test } from 'vitest';
import {
  formatBar,
  formatDuration,
  formatPercent,
  formatRate,
  padEnd,
  truncate,
  visibleWidth,
} from './format.js';

test('durations', () => {
  expect([0, 7.4, 59.6, 723, 3723].map(formatDuration)).toEqual(['0:00', '0:07', '1:00', '12:03', '1:02:03']);
});

test('rates choose their unit', () => {
  expect([812.4, 12.54, 0.4, 0.05, 0, Number.NaN].map(formatRate)).toEqual([
    '812/s',
    '12.5/s',
    '0.40/s',
    '3.00/min',
    '',
    '',
  ]);
});

test('a bar always has its width', () => {
  expect(formatBar(0, 4)).toBe('────');
  expect(formatBar(0.5, 4)).toBe('━━──');
  expect(formatBar(0.625, 4)).toBe('━━╸─');
  expect(formatBar(1, 4)).toBe('━━━━');
  for (const fraction of [-1, 0.01, 0.33, 0.99, 7]) expect([...formatBar(fraction, 11)]).toHaveLength(11);
});

test('widths and cuts count cells, not colour codes', () => {
  const red = '\x1b[31mmistake\x1b[39m';
  expect(visibleWidth(red)).toBe(7);
  expect(truncate(red, 7)).toBe(red);
  expect(truncate(red, 4)).toBe('\x1b[31mmis…\x1b[39m');
  expect(visibleWidth(padEnd(red, 10))).toBe(10);
  expect(formatPercent(0.5925)).toBe('59.3 %');
});
