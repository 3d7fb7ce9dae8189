import { expect, test } from 'vitest';
import { diagnosed, type ToldAttempt } from '../../test/support/diagnosed.js';
import { originOfFiles } from './diagnosis-origin.js';
import { diagnosisView } from './diagnosis-view.js';
import { failureParts } from './failure-shares.js';
import { matrixOrder } from './matrix.js';

const view = (attempts: readonly ToldAttempt[]) => {
  const told = diagnosed({ capabilities: [{ name: 'a' }, { name: 'b' }], attempts });
  return diagnosisView(told.file, { ...told, origin: originOfFiles(['x']) });
};
const told = (task: string, outcome: 'passed' | 'failed', labels: string): ToldAttempt => ({
  task,
  outcome,
  labels,
});

test('by outcome, tasks whole, those that lack the first capability most before the others', () => {
  const { attempts } = view([
    told('none', 'failed', 'NN'),
    told('half', 'failed', 'LN'),
    told('second', 'failed', 'PL'),
    told('half', 'failed', 'NN'),
    told('half', 'passed', 'PN'),
    told('all', 'failed', 'LN'),
  ]);
  const { failed, passed } = matrixOrder(attempts);
  expect(failed.map(({ id }) => id)).toEqual(['all-0', 'half-0', 'half-1', 'second-0', 'none-0']);
  expect(passed.map(({ id }) => id)).toEqual(['half-2']);
});

test('of too many attempts an even part of both outcomes', () => {
  const many = Array.from({ length: 1000 }, (_, i) => told(`t${i}`, i < 800 ? 'failed' : 'passed', 'NN'));
  const { failed, passed } = matrixOrder(view(many).attempts, 100);
  expect([failed.length, passed.length]).toEqual([80, 20]);
  expect(new Set(failed.map(({ id }) => id)).size).toBe(80);
});

test('failures are parted by what alone explains them', () => {
  const { file } = view([
    told('1', 'failed', 'LL'),
    told('2', 'failed', 'LN'),
    told('3', 'failed', 'LP'),
    told('4', 'failed', 'NP'),
    told('5', 'passed', 'LN'),
  ]);
  expect(failureParts(file)).toEqual([
    { capability: 0, kind: 'one', failures: 2 },
    { capability: null, kind: 'several', failures: 1 },
    { capability: null, kind: 'unexplained', failures: 1 },
  ]);
});

test('agreement is the share of the raters that gave the majority label', () => {
  const { file, trajectories } = diagnosed({
    capabilities: [{ name: 'a' }],
    attempts: [told('1', 'failed', 'L')],
  });
  const rater = (list: string) => ({ labels: { a: { [list]: ['1-0'] } } });
  const raters = [
    ...Array.from({ length: 7 }, () => rater('lacking_failed')),
    ...Array.from({ length: 3 }, () => rater('present_failed')),
  ];
  const [attempt] = diagnosisView(file, { raters, trajectories, origin: originOfFiles(['x']) }).attempts;
  expect(attempt!.cells[0]).toEqual({
    label: 'LACKING',
    votes: { lacking: 7, present: 3, na: 0 },
    agreement: 0.7,
  });
});
