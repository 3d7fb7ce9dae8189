import { expect, test } from 'vitest';
import { tinyEnvironment } from '../../test/support/tiny-environment.js';
import { Random } from '../run/random.js';
import { type Attempt, type AttemptSteps, bestAttempt, searchDifficulty } from './attempts.js';
import type { CheckReport } from './checks.js';

const GOOD: CheckReport = { passed: true, seeds: 1, checks: [] };
const BAD: CheckReport = {
  passed: false,
  seeds: 1,
  checks: [{ name: 'oracle', passed: false, detail: 'fails' }],
};

/** Levels from hard to easy with the success rate of a scripted policy at each; repair moves by one level. */
function world(rates: readonly number[]): AttemptSteps & { played: number[] } {
  const played: number[] = [];
  return {
    played,
    check: async () => GOOD,
    play: async ({ settings }, round) => {
      const level = Number(settings.level);
      played.push(level);
      const random = new Random(level, `round${round}`);
      return Array.from({ length: 40 * 8 }, (_, i) => ({
        round,
        scenario: Math.floor(i / 8),
        trial: i % 8,
        reward: random.chance(rates[level]!) ? 1 : 0,
        termination: 'agent_stop',
        messages: [],
      }));
    },
    repair: async (environment, findings) => {
      const level = Number(environment.settings.level) + (findings[0]!.check === 'too hard' ? 1 : -1);
      return rates[level] === undefined
        ? environment
        : { ...environment, settings: { ...environment.settings, level } };
    },
  };
}
const search = async (rates: readonly number[], start: number, rounds = 5) => {
  const steps = world(rates);
  const attempts = await searchDifficulty(tinyEnvironment(undefined, start), steps, {
    rounds,
    successThreshold: 1,
  });
  return { attempts, played: steps.played, best: bestAttempt(attempts) };
};

test('stops at once when everything is in range', async () => {
  const { played, best } = await search([0.1, 0.4, 0.9], 1);
  expect(played).toEqual([1]);
  expect(best.judgement!.verdict).toBe('in range');
});

test('moves towards the range until it is reached', async () => {
  expect((await search([0.02, 0.05, 0.4, 0.9], 0)).played).toEqual([0, 1, 2]);
  expect((await search([0.4, 0.9, 0.97], 2)).played).toEqual([2, 1, 0]);
});

test('stops between two levels instead of going to and fro, and keeps the better one', async () => {
  const { played, best } = await search([0.02, 0.72], 1);
  expect(played).toEqual([1, 0]);
  expect(best.environment.settings.level).toBe(1);
  expect(best.judgement!.verdict).toBe('usable');
});

test('stops at the end of the ladder, and after the rounds it was given', async () => {
  const hopeless = await search([0.01, 0.02], 0);
  expect(hopeless.played).toEqual([0, 1]);
  expect(hopeless.best.judgement!.verdict).toBe('too hard');
  expect((await search([0, 0, 0, 0, 0, 0, 0], 0)).played).toEqual([0, 1, 2, 3, 4]);
  expect((await search([0, 0, 0], 0, 2)).played).toEqual([0, 1]);
});

test('a failed check is a finding, and no rollout is spent on it', async () => {
  const steps = world([0.4, 0.4]);
  const seen: string[] = [];
  const attempts = await searchDifficulty(
    tinyEnvironment(undefined, 0),
    {
      ...steps,
      check: async ({ settings }) => (settings.level === 0 ? BAD : GOOD),
      repair: async (environment, findings) => {
        seen.push(...findings.map(({ check }) => check));
        return { ...environment, settings: { ...environment.settings, level: 1 } };
      },
    },
    { rounds: 5, successThreshold: 1 },
  );
  expect(seen).toEqual(['oracle']);
  expect(attempts.map(({ rollouts }) => rollouts.length)).toEqual([0, 320]);
  expect(bestAttempt(attempts).round).toBe(2);
});

test('an attempt broken by the infrastructure counts neither for nor against', async () => {
  const steps = world([0.5]);
  const [attempt] = await searchDifficulty(
    tinyEnvironment(undefined, 0),
    {
      ...steps,
      play: async (_, round) =>
        [1, 0, null, null].map((reward, trial) => ({
          round,
          scenario: 0,
          trial,
          reward,
          termination: '',
          messages: [],
        })),
    },
    { rounds: 1, successThreshold: 1 },
  );
  expect((attempt as Attempt).figures).toMatchObject({ groups: 1, groupSize: 2, successRate: 0.5 });
});
