import { describe, expect, test } from 'vitest';
import type { Evaluation } from './spans.js';
import { labelPasses, verdictOf } from './spans-outcome.js';

const given = (
  name: string,
  score: number | null,
  label: string | null = null,
  more: object = {},
): Evaluation => ({
  name,
  score,
  label,
  ...more,
});
const outcome = (evaluations: readonly Evaluation[], passAt?: number) => {
  const { reward, outcome: what } = verdictOf(evaluations, passAt);
  return [what, reward];
};

test('words of labels', () => {
  for (const word of ['pass', 'Correct', 'TRUE', 'resolved', 'Achieved', '1'])
    expect(labelPasses(word)).toBe(true);
  for (const word of ['fail', 'incorrect', 'False', 'Not achieved', '0', 'incomplete'])
    expect(labelPasses(word)).toBe(false);
  for (const word of ['relevant', '', 'partially correct', '0.5', null]) expect(labelPasses(word)).toBeNull();
});

describe('which evaluation counts', () => {
  test('nothing usable: no verdict', () => {
    expect(verdictOf([], undefined)).toMatchObject({
      outcome: 'excluded',
      reward: null,
      excluded: 'no verdict',
    });
    expect(verdictOf([given('tone', null, 'friendly')], undefined).excluded).toBe('no verdict');
  });
  test('the one that is named as the outcome, in any spelling', () => {
    expect(outcome([given('helpfulness', 0.9), given('TaskSuccess', 0), given('tone', 1)])).toEqual([
      'failed',
      0,
    ]);
    expect(outcome([given('score', 0.2), given('Reward', 1)])).toEqual(['passed', 1]);
  });
  test('the only one, whatever its name; of several others none', () => {
    expect(outcome([given('judge-7', 1)])).toEqual(['passed', 1]);
    const verdict = verdictOf([given('helpfulness', 1), given('tone', 1)], undefined);
    expect(verdict.outcome).toBe('excluded');
    expect(verdict.excluded).toMatch(/helpfulness, tone/);
    expect(verdict.checks).toEqual([]);
  });
  test('of the whole trace before those of steps', () => {
    expect(outcome([given('correctness', 1), given('final', 0, null, { whole: true })])).toEqual([
      'failed',
      0,
    ]);
  });
  test('people before programs; programs are averaged', () => {
    const judges = [given('correct', 1, null, { by: 'LLM' }), given('correct', 0, null, { by: 'CODE' })];
    expect(outcome(judges)).toEqual(['failed', 0.5]);
    expect(outcome(judges, 0.5)).toEqual(['passed', 0.5]);
    expect(outcome([...judges, given('correct', 1, null, { by: 'HUMAN' })])).toEqual(['passed', 1]);
  });
});

describe('what it says', () => {
  test('full marks pass, less passes from the threshold', () => {
    expect(outcome([given('score', 0.7)])).toEqual(['failed', 0.7]);
    expect(outcome([given('score', 0.7)], 0.7)).toEqual(['passed', 0.7]);
    expect(outcome([given('score', 0.9999999)])).toEqual(['passed', 0.9999999]);
  });
  test('a score outside [0, 1] needs a threshold', () => {
    expect(verdictOf([given('score', 4)], undefined)).toMatchObject({ outcome: 'excluded', reward: null });
    expect(outcome([given('score', 4)], 4)).toEqual(['passed', 1]);
    expect(outcome([given('score', 3)], 4)).toEqual(['failed', 0]);
  });
  test('a label decides; with a threshold the score does', () => {
    expect(outcome([given('score', 0.6, 'pass')])).toEqual(['passed', 0.6]);
    expect(outcome([given('score', 0.6, 'pass')], 0.7)).toEqual(['failed', 0.6]);
    expect(outcome([given('score', null, 'pass')], 0.7)).toEqual(['passed', 1]);
    // A score that says the opposite of the label counts in the other direction: no reward.
    expect(outcome([given('score', 1, 'fail')])).toEqual(['failed', 0]);
  });
  test('judges become checks, with their words', () => {
    expect(verdictOf([given('correct', 0, null, { explanation: 'wrong seat' })], undefined).checks).toEqual([
      { name: 'correct', passed: false, detail: 'wrong seat' },
    ]);
  });
});
