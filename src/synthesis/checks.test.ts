import { expect, test } from 'vitest';
import {
  TINY_KINDS,
  TINY_TOOLS,
  tinyEnvironment,
  tinyTrajectory,
} from '../../test/support/tiny-environment.js';
import { instantiateEnvironment } from '../environment/load-generated.js';
import { checkEnvironment, findingsOf } from './checks.js';

const context = {
  target: { tools: TINY_TOOLS, toolKinds: TINY_KINDS },
  trajectories: [tinyTrajectory()],
  seeds: 120,
  successThreshold: 1,
};
const failed = async (replace: readonly [string, string], more: Partial<typeof context> = {}) =>
  findingsOf(await checkEnvironment(tinyEnvironment(replace), { ...context, ...more })).map(
    ({ check }) => check,
  );

test('a sound environment passes every check', async () => {
  const report = await checkEnvironment(tinyEnvironment(), context);
  expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
  expect(report.checks.find(({ name }) => name === 'oracle')!.figures).toEqual({ solved: 120, seeds: 120 });
});

test('state that outlives a scenario is found: the copy is asked in another order', async () => {
  const replace = [
    "'b' + Math.floor(mix(seed + 1) * 1e9)",
    "'b' + Math.floor(mix(seed + 1) * 1e9) + (counter++ % 10)",
  ] as const;
  const source = `let counter = 0;${tinyEnvironment(replace).source}`;
  const report = await checkEnvironment({ ...tinyEnvironment(), source }, context);
  expect(findingsOf(report).map(({ check }) => check)).toContain('determinism');
});

test.each<[string, readonly [string, string], string]>([
  [
    'an oracle that is sometimes wrong',
    ["scenario.red ? 'refuse' : 'open', scenario.box), say", "'open', scenario.box), say"],
    'oracle',
  ],
  [
    'a reward for anything said',
    ['episode.done && log.join()', 'episode.done || log.join()'],
    'cheat: do nothing',
  ],
  [
    'a reward for a safe exit',
    ['reward: episode.done', "reward: log.join() === 'refuse' ? 1 : episode.done"],
    'cheat: always hand over',
  ],
  ['one decision that is nearly always right', ['< settings.red', '< 0.95'], 'both decisions'],
  [
    'a mistake that pays',
    [
      "call(scenario.red ? 'open' : 'refuse', scenario.box), say",
      "call(scenario.red ? 'refuse' : 'open', scenario.box), say",
    ],
    'mistake: decides without looking',
  ],
  ['a few scenarios over and over', ['Math.floor(mix(seed + 1) * 1e9)', '(seed % 3)'], 'diversity'],
  ['a tool that the target has not', ['"name":"look"', '"name":"peek"'], 'tool schemas'],
  ['a parameter that the target has not', ['"type":"string"', '"type":"number"'], 'tool schemas'],
  ['a result of another shape', ['{ colour: scenario', '{ color: scenario'], 'result shapes'],
  [
    'no reason to transfer',
    ['Boxes are looked at first. Colours differ. The same holds in the target.', 'Because.'],
    'rationale',
  ],
  [
    'a training request in its text',
    ["'Open box '", "/* Open box b12 for my aunt. */ 'Open box '"],
    'no target data',
  ],
  ['an exception', ['messages.push(message);', "throw new Error('broken');"], 'runs'],
])('finds %s', async (_, replace, check) => {
  expect(await failed(replace)).toContain(check);
});

test('finds training tasks among the scenarios', async () => {
  const environment = instantiateEnvironment(tinyEnvironment().source, tinyEnvironment().settings);
  const green = Array.from(
    { length: 40 },
    (_, seed) => environment.scenario(seed) as never as { box: string; red: boolean },
  )
    .filter(({ red }) => !red)
    .slice(0, 4);
  const trajectories = green.map(({ box }, i) => tinyTrajectory(box, `task-${i}`));
  const report = await checkEnvironment(tinyEnvironment(), { ...context, trajectories });
  const check = report.checks.find(({ name }) => name === 'no target data')!;
  expect(check.figures).toEqual({ coincidences: 4, seeds: 120 });
  expect(check.passed).toBe(false);
});
