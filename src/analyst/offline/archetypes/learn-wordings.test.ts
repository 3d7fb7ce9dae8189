import { expect, test } from 'vitest';
import {
  commonOpening,
  dissect,
  learnWordings,
  matchWording,
  type RequestValues,
  templatesOf,
} from './learn-wordings.js';

const request = (
  key: string,
  values: Record<string, string>,
  tool: string | null = 'drop',
): RequestValues => ({
  key,
  tool,
  values: { 'order.key': key, ...values },
  chosen: null,
  options: [],
});

test('cuts a message into opening, clauses, joints and ending', () => {
  const parts = dissect({
    taskId: 't',
    text: 'I am Ana 12. Return the lamp of order 7, cancel order 8 and then swap the mug on order 9 for red!',
    account: { 'user.key': '12' },
    requests: [
      request('8', {}),
      request('7', { item: 'lamp' }),
      request('9', { item: 'mug', colour: 'red' }),
    ],
  });
  expect(parts).toMatchObject({
    opening: 'I am Ana 12. ',
    joints: [', ', ' and then '],
    ending: '!',
  });
  expect(parts!.clauses.map(({ text }) => text)).toEqual([
    'Return the lamp of order 7',
    'cancel order 8',
    'swap the mug on order 9 for red',
  ]);
});

test('words that belong to a request stay with it, joints inside it or not', () => {
  const parts = dissect({
    taskId: 't',
    text: 'Swap order 7 for red, size M, drop order 8.',
    account: {},
    requests: [request('7', { colour: 'red', size: 'M' }), request('8', {})],
  });
  expect(parts!.clauses.map(({ text }) => text)).toEqual(['Swap order 7 for red, size M', 'drop order 8']);
});

test('a message without the key of a request cannot be cut', () => {
  const message = { taskId: 't', text: 'Cancel my order.', account: {}, requests: [request('7', {})] };
  expect(dissect(message)).toBeNull();
});

test('which attribute a word stands for is decided by all texts of one form', () => {
  // In the first text two attributes have the same value; the second one tells them apart.
  const [template, ...others] = templatesOf([
    { text: 'the red one', values: { old: 'red', wanted: 'red' }, id: '1' },
    { text: 'the blue one', values: { old: 'red', wanted: 'blue' }, id: '2' },
  ]);
  expect(template!.template).toBe('the {wanted} one');
  expect(others).toEqual([]);
});

test('learns that the unstated difference is the least price', () => {
  const options = (rows: [string, string][]) =>
    rows.map(([colour, price]) => ({ 'v.colour': colour, 'v.price': price }));
  const clause = (key: string, colour: string, rows: [string, string][], right: number) => {
    const all = options(rows);
    const values = { ...request(key, {}).values, 'v.colour': colour, 'v.price': rows[right]![1] };
    return {
      taskId: key,
      request: { ...request(key, {}), values, chosen: all[right]!, options: all },
      text: `swap order ${key} for the cheapest ${colour}`,
    };
  };
  const clauses = [
    clause(
      '1',
      'red',
      [
        ['red', '$9'],
        ['red', '$4'],
        ['blue', '$1'],
      ],
      1,
    ),
    clause(
      '2',
      'blue',
      [
        ['blue', '$10'],
        ['red', '$3'],
        ['blue', '$20'],
      ],
      0,
    ),
  ];
  expect(learnWordings(clauses, ['v.colour', 'v.price'])).toEqual([
    {
      text: 'swap order {order.key} for the cheapest {v.colour}',
      stated: ['v.colour'],
      extreme: { attribute: 'v.price', sign: 1, agreeing: [2, 2] },
      tasks: 2,
    },
  ]);
});

test('recognises a clause by its wording, whatever stands in the slots', () => {
  const wordings = [
    { text: 'return the {item} of order {key}', stated: [], tasks: 3 },
    { text: 'cancel order {key}', stated: [], tasks: 3 },
  ];
  expect(matchWording('cancel order k12', wordings)).toBe(wordings[1]);
  expect(matchWording('return the lamp of order k12', wordings)).toBe(wordings[0]);
  expect(matchWording('please cancel order k12', wordings)).toBeNull();
});

test('the common opening ends at a word', () => {
  expect(commonOpening(['Please cancel order 1.', 'Please call me.'])).toBe('Please ');
  expect(commonOpening(['Hello', 'Bye'])).toBe('');
});
