import { expect, test } from 'vitest';
import { contributionOf, overlapOf, unionOf } from './cover.js';

const set = (text: string) => new Set(text);

test('overlap, union and contribution by hand', () => {
  // {a b c d} and {c d e}: two shared of five.
  expect(overlapOf(set('abcd'), set('cde'))).toEqual({
    both: 2,
    onlyFirst: 2,
    onlySecond: 1,
    jaccard: 2 / 5,
  });
  expect(overlapOf(set(''), set(''))).toEqual({ both: 0, onlyFirst: 0, onlySecond: 0, jaccard: 0 });
  expect([...unionOf([set('abcd'), set('cde'), set('')])].join('')).toBe('abcde');
  // Only a and b are in no other set; without others all are.
  expect(contributionOf(set('abcd'), [set('cde'), set('df')])).toBe(2);
  expect(contributionOf(set('abcd'), [])).toBe(4);
});
