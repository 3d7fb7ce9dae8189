import { expect, test } from 'vitest';
import { learnMaker, variety } from './values.js';

test('codes keep their letters and forget their digits', () => {
  expect(learnMaker(['k07', 'k93', 'k55', 'k18', 'k24'], true)).toEqual([
    { words: ['k'] },
    { alphabets: ['0123456789', '0123456789'] },
  ]);
  // One observed code is enough to know its form, and not enough to know its digits: they stay what was seen.
  expect(learnMaker(['k07'], true)).toEqual([{ words: ['k'] }, { alphabets: ['0', '7'] }]);
});

test('vocabularies are reused word by word, numbers in their order', () => {
  expect(learnMaker(['red', 'blue', 'red'], false)).toEqual([{ words: ['blue', 'red'] }]);
  expect(learnMaker(['$9', '$10', '$2'], false)).toEqual([{ words: ['$'] }, { words: ['2', '9', '10'] }]);
});

test('the commonest shape wins', () => {
  const maker = learnMaker(['card_12', 'gift_40', 'account', 'card_77'], true);
  expect(maker).toHaveLength(3);
  expect(maker[0]).toEqual({ words: ['card', 'gift'] });
  expect(() => learnMaker([], true)).toThrow(/no value/);
});

test('variety is the number of values', () => {
  expect(variety(learnMaker(['k07', 'k93', 'k55', 'k18', 'k24'], true))).toBe(100);
  expect(variety(learnMaker(['red', 'blue'], false))).toBe(2);
});
