import { describe, expect, test } from 'vitest';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { OfflineRaters } from './offline.js';
import { standings } from './results.js';
import { strictnessOf } from './strictness.js';
import { differences, isIdentifier, mentions } from './values.js';

/** `tasks` tasks with two trials each; task i passes when `passes(i, trial)`. */
function attempts(tasks: number, passes: (task: number, trial: number) => boolean): Trajectory[] {
  return Array.from({ length: 2 * tasks }, (_, i) => ({
    id: `${i >> 1}-${i & 1}`,
    taskId: String(i >> 1),
    trial: i & 1,
    source: 'test',
    messages: [],
    tools: [],
    reward: null,
    outcome: passes(i >> 1, i & 1) ? 'passed' : 'failed',
    termination: null,
    metadata: {},
  }));
}

describe('what raters see', () => {
  const ids = (trajectories: readonly Trajectory[]) => trajectories.map((trajectory) => trajectory.id);

  test('complementary halves of the tasks, trials together, both outcomes in each', () => {
    const all = attempts(60, (task) => task % 2 === 0);
    const raters = new OfflineRaters({ seed: 5 });
    for (const pair of [0, 1, 2]) {
      const [first, second] = [raters.sees(all, 2 * pair), raters.sees(all, 2 * pair + 1)];
      expect([...ids(first), ...ids(second)].sort()).toEqual(ids(all).sort());
      for (const half of [first, second]) {
        expect(half).toHaveLength(60);
        expect(half.filter((t) => t.outcome === 'passed')).toHaveLength(30);
        for (const { taskId } of half) expect(half.filter((t) => t.taskId === taskId)).toHaveLength(2);
      }
    }
    expect(ids(raters.sees(all, 0))).not.toEqual(ids(raters.sees(all, 2)));
    expect(ids(raters.sees(all, 0))).toEqual(ids(new OfflineRaters({ seed: 5 }).sees(all, 0)));
    expect(ids(raters.sees(all, 0))).not.toEqual(ids(new OfflineRaters({ seed: 6 }).sees(all, 0)));
  });

  test('small strata are seen whole', () => {
    const all = attempts(60, (task) => task < 5);
    const seen = new OfflineRaters({ seed: 5 }).sees(all, 3);
    expect(seen.filter((t) => t.outcome === 'passed')).toHaveLength(10);
    expect(seen.filter((t) => t.outcome === 'failed').length).toBeLessThan(60);
  });

  test('strictness differs between raters and not between runs', () => {
    const drawn = Array.from({ length: 10 }, (_, rater) => JSON.stringify(strictnessOf(1, rater)));
    expect(new Set(drawn).size).toBeGreaterThan(5);
    expect(drawn[4]).toBe(JSON.stringify(strictnessOf(1, 4)));
  });
});

test('an unknown candidate is NA for every attempt', async () => {
  const raters = new OfflineRaters({ seed: 1 });
  const [attempt] = attempts(1, () => false);
  const labels = await raters.label(attempt!, [{ name: 'singing', definition: 'Singing well.' }], 0);
  expect(labels).toEqual([{ capability: 'singing', label: 'NA' }]);
});

describe('values', () => {
  test.each([
    ['k07', true],
    ['credit_card_4421486', true],
    ['#W6390527', true],
    ['blue-L:k52', true],
    ['HAT136', true],
    ['8538875209', true],
    ['2024-05-20', false],
    ['2024-05-15T15:00:00', false],
    ['12', false],
    ['$4.50', false],
    ['economy', false],
    ['basic_economy', false],
    ['5 Oak Street', false],
    [55, false],
    [null, false],
  ])('%j names a thing: %s', (value, expected) => expect(isIdentifier(value)).toBe(expected));

  test('a value is mentioned as a whole', () => {
    expect(mentions('order k07, please', 'k07')).toBe(true);
    expect(mentions('"$4 blue-L:k52"', 'blue-L:k52')).toBe(true);
    expect(mentions('order k071', 'k07')).toBe(false);
    expect(mentions('HAT13 and hat136', 'HAT136')).toBe(true);
    expect(mentions('order #W12', '#W12')).toBe(true);
    expect(mentions('anything', '')).toBe(false);
  });

  test('differences go path by path, as bags', () => {
    const golden = {
      order: 'o1',
      flights: [
        { n: 'A1', d: 'x' },
        { n: 'B2', d: 'x' },
      ],
    };
    const made = {
      order: 'O1',
      flights: [
        { n: 'B2', d: 'x' },
        { n: 'C3', d: 'x' },
      ],
      extra: true,
    };
    expect(differences(golden, made, { ordered: false })).toEqual([
      { path: 'flights.n', golden: ['A1'], made: ['C3'] },
      { path: 'extra', golden: [], made: [true] },
    ]);
    expect(differences(golden, made, { ordered: false, only: ['order'] })).toEqual([]);
  });
});

describe('standing of a value in a result', () => {
  test.each<[string, unknown, string, string[]]>([
    ['a member of a list', { variants: ['$4 red:v1', '$6 blue:v2'] }, 'blue:v2', ['alternative']],
    ['a list of one is no choice', { items: ['lamp:i1'] }, 'lamp:i1', ['given']],
    ['a field of a record', { status: 'x', payment: 'gift-5' }, 'gift-5', ['given']],
    [
      'a field of a listed record',
      [
        { id: 'a1', pay: 'p1' },
        { id: 'b2', pay: 'p2' },
      ],
      'p2',
      ['alternative'],
    ],
    [
      'the same in all members',
      [
        { user: 'u1', id: 'a1' },
        { user: 'u1', id: 'b2' },
      ],
      'u1',
      ['given'],
    ],
    ['a key among ids', { methods: { card_1: { x: 1 }, gift_2: { x: 2 } } }, 'gift_2', ['alternative']],
    ['a field name is no id', { gift: { x: 1 }, card: { x: 2 } }, 'gift', ['given']],
    ['nowhere', { a: 'b' }, 'c9', []],
    ['plain text', 'your order is o1', 'o1', ['given']],
  ])('%s', (_, result, value, expected) => expect([...standings(result, value)]).toEqual(expected));
});
