import { expect, test } from 'vitest';
import { diagnosed } from '../../test/support/diagnosed.js';
import { strengthOf, verdictOf } from './verdict.js';

const one = (given: object) =>
  diagnosed({ capabilities: [{ name: 'a_b', ...given }], attempts: [] }).file.capabilities[0]!;
const sure = { q: 0.04, gapInterval: [0.05, 0.6] as const, stability: 0.9, kappaLow: false };

test('firm needs q, the whole interval, stable selection and raters that agree', () => {
  expect(strengthOf(one(sure)).strength).toBe('firm');
  const weak = [{ q: 0.051 }, { gapInterval: [0, 0.6] }, { stability: 0.79 }, { kappaLow: true, kappa: 0.3 }];
  for (const point of weak) expect(strengthOf(one({ ...sure, ...point })).strength).toBe('likely');
  for (const [i, first] of weak.entries())
    for (const second of weak.slice(i + 1))
      expect(strengthOf(one({ ...sure, ...first, ...second })).strength).toBe('lead');
});

test('the weak points are named with their numbers', () => {
  const { because } = strengthOf(one({ ...sure, q: 0.25, gapInterval: [-0.07, 0.59], presentPassed: 5 }));
  expect(because).toBe(
    'It is found in 90 % of the resamples; but chance could do this (q 0.250); the gap’s interval (−7 to 59 points) reaches 0: only 5 passed attempts need it.',
  );
});

const attempts = (...told: string[]) =>
  told.map((text, i) => {
    const [outcome, labels] = text.split(' ') as ['passed' | 'failed', string];
    return { task: `t${i}`, outcome, labels };
  });

test('the answer counts what is explained, and puts the surest first', () => {
  const { file } = diagnosed({
    capabilities: [
      { name: 'doubtful_thing', q: 0.5, gapInterval: [-0.1, 0.3] },
      { name: 'sure_thing' },
      { name: 'other', retained: false },
    ],
    attempts: attempts('failed LNN', 'failed NLN', 'failed NLN', 'failed NNL', 'passed NPN', 'passed NNN'),
  });
  const verdict = verdictOf(file);
  expect(verdict.headline).toBe('Two capabilities are missing: one firm, one a lead.');
  expect(verdict.account).toBe(
    '4 failed against 2 passed attempts. The missing capabilities account for 3 of the 4 failures (75 %, 95 % interval 40–90 %); 1 stays unexplained.',
  );
  expect(verdict.findings.map(({ name }) => name)).toEqual(['sure_thing', 'doubtful_thing']);
  expect(verdict.findings[0]!.contrast).toBe(
    '2 of 2 failed attempts that needed it lack it; 0 of 1 passed ones that needed it.',
  );
});

test('the headline says how sure it is', () => {
  const weak = { q: 0.5, gapInterval: [-0.1, 0.3] as const };
  const headline = (...capabilities: object[]) =>
    verdictOf(
      diagnosed({
        capabilities: capabilities.map((given, i) => ({ name: `c${i}`, ...given })),
        attempts: attempts('failed LL', 'passed PP'),
      }).file,
    ).headline;
  expect(headline({ q: 0.5 })).toBe('One capability is likely missing.');
  expect(headline(weak)).toBe('One capability may be missing: a lead, no proof.');
  expect(headline({ q: 0.5 }, { q: 0.5 })).toBe('Two capabilities are likely missing.');
  expect(headline(weak, weak)).toBe('Two capabilities may be missing: leads, no proof.');
  expect(headline({}, {})).toBe('Two capabilities are missing, and all are firm.');
});

test('nothing missing, nothing failed and nothing judged are told apart', () => {
  const none = { name: 'x', retained: false };
  const headline = (capabilities: object[], told: string[]) =>
    verdictOf(diagnosed({ capabilities: capabilities as [], attempts: attempts(...told) }).file).headline;
  expect(headline([none], ['failed L', 'passed N'])).toBe('No capability stands out as missing.');
  expect(headline([], ['failed ', 'passed '])).toBe('The failures show no capability that could be named.');
  expect(headline([], ['passed '])).toBe('No attempt failed: nothing is missing here.');
  expect(headline([], [])).toBe('Nothing to diagnose: no attempt has a verdict.');
});
