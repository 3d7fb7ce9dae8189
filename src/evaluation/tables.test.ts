import { expect, test } from 'vitest';
import type { Outcome } from './outcomes.js';
import { compareCells, errorKinds, systemResult } from './tables.js';

const outcome = (task: number, passed: boolean, more: Partial<Outcome> = {}): Outcome => ({
  task: `t${task}`,
  seed: task,
  passed,
  reward: passed ? 1 : 0,
  termination: 'user_stop',
  failed: [],
  turns: 3,
  tokens: 20,
  ...more,
});
const cell = (name: string, outcomes: readonly Outcome[]) => ({
  name,
  split: 'test' as const,
  decoding: 'sample' as const,
  outcomes,
});

test('failed attempts by what is lacking, else by check without ids, and by ending', () => {
  const { failed, kinds } = errorKinds(
    cell('mixture', [
      outcome(1, true),
      outcome(2, false, { failed: ['state of order k97'], lacking: ['precondition_verification'] }),
      outcome(3, false, { failed: ['state of order k97', 'said: k10 returned'], lacking: [] }),
      outcome(4, false, { failed: ['state of order k10', 'state of order k11'] }),
      outcome(5, false, { termination: 'malformed', lacking: ['precondition_verification'] }),
      outcome(6, false),
      outcome(7, false, { broken: 'the disk' }),
    ]),
  );
  expect(failed).toBe(5);
  expect(kinds).toEqual([
    { kind: 'precondition_verification', attempts: 2 },
    { kind: 'state of order …', attempts: 2 },
    { kind: 'ended: malformed', attempts: 1 },
    { kind: 'reward below the threshold', attempts: 1 },
    { kind: 'said: … returned', attempts: 1 },
  ]);
});

test('broken attempts leave both the rate and the pairs', () => {
  const of = cell('mixture', [outcome(1, true), outcome(2, true), outcome(3, false, { broken: 'x' })]);
  const against = cell('base', [outcome(3, true), outcome(2, false), outcome(1, false, { broken: 'x' })]);
  expect(systemResult(of, 7)).toMatchObject({ passed: 2, n: 2, rate: 1, broken: 1, rollouts: 7 });
  // Only task 2 is left for both: one pair, won.
  expect(compareCells(of, against)).toMatchObject({ difference: 1, p: 1 });
  expect(compareCells(cell('a', [outcome(1, true)]), cell('b', [outcome(2, true)]))).toBeNull();
});
