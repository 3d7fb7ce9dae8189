import { beforeAll, describe, expect, test } from 'vitest';
import { garage, garageTrajectories } from '../../../../test/support/garage-target.js';
import { instantiateEnvironment } from '../../../environment/load-generated.js';
import { playTurns } from '../../../environment/runner.js';
import { Random } from '../../../run/random.js';
import type { Trajectory } from '../../../trajectory/trajectory.js';
import type { AuthorContext } from '../../contract.js';
import { authorEnvironment, repairEnvironment } from './author.js';
import type { Case, Row, ServiceScenario } from './service/records.js';
import { SWITCHES } from './switches.js';

const NAMES = Object.keys(SWITCHES);
const PAIRS = NAMES.flatMap((a, i) => NAMES.slice(i + 1).map((b) => `${a}+${b}`));
const SEEDS = Array.from({ length: 60 }, (_, seed) => seed);

let context: AuthorContext;
const author = (name: string) => authorEnvironment({ name, definition: `Shows ${name}.` }, context);
const load = (name: string, settings: Record<string, number | string> = {}) => {
  const authored = author(name);
  return instantiateEnvironment(authored.source, { ...authored.settings, ...settings });
};
const scenarios = (name: string, settings = {}) => {
  const environment = load(name, settings);
  return SEEDS.map((seed) => environment.scenario(seed) as ServiceScenario);
};

beforeAll(async () => {
  const trajectories: Trajectory[] = await garageTrajectories(40, 6);
  context = { target: garage, trajectories, seed: 1 };
});

test.each([...NAMES, ...PAIRS])(
  '%s: the oracle earns 1, every named mistake at most a half',
  async (name) => {
    const environment = load(name);
    for (const seed of SEEDS) {
      const scenario = environment.scenario(seed);
      const solved = await playTurns(environment, scenario, environment.oracle(scenario));
      expect(solved.score.reward).toBe(1);
      expect(solved.termination).toBe('user_stop');
      for (const mistake of environment.mistakes(scenario)) {
        const { score } = await playTurns(environment, scenario, mistake.turns);
        expect(score.reward).toBeLessThanOrEqual(0.5);
      }
    }
  },
);

/** Place in the account's list of the voucher that a job was paid with. */
function paidWith({ values }: Case, account: Row): number {
  const vouchers = account.lists.vouchers!.map(
    ({ values: v }) => `${v['vouchers.word']} ${v['vouchers.id']}`,
  );
  return vouchers.indexOf(`${values['job.paid_with_1']} ${values['job.paid_with_2']}`);
}

describe('only its own capability is in question', () => {
  test('choosing: several options of which one fits; nothing forbidden, the first voucher, one request', () => {
    for (const { cases, account } of scenarios('structured_data_reasoning')) {
      expect(cases).toHaveLength(1);
      expect(cases[0]!.forbidden).toBe(false);
      expect(paidWith(cases[0]!, account)).toBe(0);
      const offers = cases[0]!.catalog!.lists.offers!;
      expect(offers).toHaveLength(4);
      // Read the request as a person would: the named maker, and the grade or the least price.
      const wish = /for the (?:(cheapest)|(\w+) one) from (\w+)/.exec(cases[0]!.wording)!;
      const fitting = offers
        .map(({ values }) => values)
        .filter((v) => v['offers.maker'] === wish[3] && (wish[1] || v['offers.grade'] === wish[2]))
        .sort((a, b) => Number(a['offers.euros']) - Number(b['offers.euros']));
      if (!wish[1]) expect(fitting).toHaveLength(1);
      expect(fitting[0]!['offers.code']).toBe(cases[0]!.values['offers.code']);
    }
  });

  test('choosing: neither a place in the list nor the least price alone gives the answer away', () => {
    const places = [0, 0, 0, 0];
    let cheapest = 0;
    for (const { cases } of scenarios('structured_data_reasoning')) {
      const offers = cases[0]!.catalog!.lists.offers!.map(({ values }) => values);
      const right = offers.findIndex((v) => v['offers.code'] === cases[0]!.values['offers.code']);
      places[right]!++;
      if (offers.every((v) => Number(v['offers.euros']) >= Number(offers[right]!['offers.euros'])))
        cheapest++;
    }
    for (const count of places) expect(count).toBeGreaterThan(4);
    expect(cheapest).toBeLessThan(0.6 * SEEDS.length);
  });

  test('checking first: both answers for every kind of request; lists of all lengths, the first is right', () => {
    const seen = new Map<string, Set<boolean>>();
    const lengths = new Map([
      ['vouchers', new Set<number>()],
      ['offers', new Set<number>()],
    ]);
    let forbidden = 0;
    for (const { cases, account } of scenarios('precondition_verification')) {
      const [one] = cases;
      expect(cases).toHaveLength(1);
      expect(paidWith(one!, account)).toBe(0);
      lengths.get('vouchers')!.add(account.lists.vouchers!.length);
      const offers = one!.catalog?.lists.offers;
      if (offers) {
        expect(offers[0]!.values['offers.code']).toBe(one!.values['offers.code']);
        lengths.get('offers')!.add(offers.length);
      }
      seen.set(one!.write, (seen.get(one!.write) ?? new Set()).add(one!.forbidden));
      if (one!.forbidden) forbidden++;
    }
    expect([...lengths.get('vouchers')!].sort()).toEqual([1, 2, 3]);
    expect([...lengths.get('offers')!].sort()).toEqual([1, 2, 3, 4]);
    expect([...seen.keys()].sort()).toEqual(['drop_job', 'fit_part', 'move_job']);
    for (const answers of seen.values()) expect(answers.size).toBe(2);
    // 60 draws at 0.6: standard deviation 0.063; four of them.
    expect(Math.abs(forbidden / SEEDS.length - 0.6)).toBeLessThan(0.25);
  });

  test('completing: two or three requests, at most one that has to be asked about', () => {
    const counts = new Set<number>();
    for (const { cases } of scenarios('multi_step_task_completion')) {
      counts.add(cases.length);
      expect(cases.every(({ forbidden }) => !forbidden)).toBe(true);
      expect(cases.filter(({ write }) => write === 'move_job').length).toBeLessThanOrEqual(1);
    }
    expect([...counts].sort()).toEqual([2, 3]);
  });

  test('exact arguments: several vouchers, and the first is never the one that was paid with', () => {
    for (const { cases, account } of scenarios('tool_calling_precision')) {
      expect(account.lists.vouchers!.length).toBeGreaterThanOrEqual(2);
      expect(paidWith(cases[0]!, account)).toBeGreaterThan(0);
    }
  });

  test('a pair has both in question', () => {
    const both = scenarios('precondition_verification+tool_calling_precision');
    expect(both.some(({ cases }) => cases[0]!.forbidden)).toBe(true);
    expect(both.some(({ cases }) => !cases[0]!.forbidden)).toBe(true);
    expect(both.every(({ account }) => account.lists.vouchers!.length >= 2)).toBe(true);
  });
});

test('completing pays by halves for a part, and nothing for a broken turn', async () => {
  const environment = load('multi_step_task_completion', { requestsLeast: 2, requestsMost: 2 });
  const scenario = environment.scenario(3);
  const first = environment.mistakes(scenario).find(({ name }) => name === 'stops after the first request')!;
  expect((await playTurns(environment, scenario, first.turns)).score.reward).toBe(0.25);
  const broken = [
    ...first.turns.slice(0, -1),
    { role: 'assistant' as const, content: '{', malformed: 'no JSON' },
  ];
  expect((await playTurns(environment, scenario, broken)).score.reward).toBe(0);
});

test('doing a thing twice, or one thing too many, is not right', async () => {
  const environment = load('precondition_verification', { forbiddenShare: 0 });
  const scenario = environment.scenario(5);
  const oracle = environment.oracle(scenario);
  const write = oracle.findIndex((turn) =>
    turn.tool_calls?.some((c) => environment.toolKinds[c.function.name] === 'write'),
  );
  const twice = [...oracle.slice(0, write + 1), oracle[write]!, ...oracle.slice(write + 1)];
  expect((await playTurns(environment, scenario, twice)).score.reward).toBe(0);
});

test('different seeds and different capabilities meet different people', () => {
  const requests = (name: string) => scenarios(name).map(({ request }) => request);
  expect(new Set(requests('structured_data_reasoning')).size).toBe(SEEDS.length);
  expect(requests('structured_data_reasoning')).not.toEqual(
    requests('structured_data_reasoning+tool_calling_precision'),
  );
});

test('the hint says what to attend to, and nothing of the case', () => {
  const environment = load('structured_data_reasoning');
  const scenario = environment.scenario(1);
  expect(environment.systemPrompt(scenario)).toBe(garage.systemPrompt(garage.scenario(1)));
  expect(environment.systemPrompt(scenario, { hint: true })).toMatch(
    /<expert_guidance>Compare every listed record.*<\/expert_guidance>$/,
  );
  expect(environment.systemPrompt(scenario, { hint: true })).toBe(
    environment.systemPrompt(environment.scenario(2), { hint: true }),
  );
});

test('the same context writes the same text, with type imports only and the settings it was asked for', () => {
  const one = author('tool_calling_precision');
  expect(
    authorEnvironment(
      { name: 'tool_calling_precision', definition: 'Shows tool_calling_precision.' },
      { ...context, trajectories: [...context.trajectories] },
    ),
  ).toEqual(one);
  expect(one.source.match(/^import .*/gm)).toEqual(['import type {']);
  expect(one.source.startsWith('/**\n * tool_calling_precision: Shows')).toBe(true);
  expect(one.card).toMatch(/which of several similar values/);
  expect(one.settings).toMatchObject({
    capability: 'tool_calling_precision',
    options: 1,
    decoys: 3,
    forbiddenShare: 0,
  });
});

test('repair walks the ladder one step, and stands still at its end or without a reason', () => {
  const finding = (check: string) => [{ check, detail: '' }];
  let environment = author('structured_data_reasoning');
  const options = [environment.settings.options];
  for (let i = 0; i < 5; i++) {
    environment = repairEnvironment(environment, finding('too hard'));
    options.push(environment.settings.options);
  }
  expect(options).toEqual([4, 3, 2, 2, 2, 2]);
  expect(repairEnvironment(author('structured_data_reasoning'), finding('too easy')).settings.options).toBe(
    5,
  );
  expect(repairEnvironment(environment, finding('oracle'))).toBe(environment);
  const easier = repairEnvironment(author('multi_step_task_completion'), finding('too hard')).settings;
  // Easier requests, never fewer of them than the target's people make.
  expect(easier).toMatchObject({ requestsLeast: 2, requestsMost: 3 });
  expect(String(easier.writes).split(',')).not.toContain('exchange_item');
});

test.each([true, false])(
  'no call and no sentence breaks an episode (arguments checked: %s)',
  async (checked) => {
    for (const name of [
      'multi_step_task_completion',
      'structured_data_reasoning+precondition_verification',
    ]) {
      const authored = author(name);
      const source = authored.source.replace('"checksArguments": false', `"checksArguments": ${checked}`);
      expect(source.includes(`"checksArguments": ${checked}`)).toBe(true);
      const environment = instantiateEnvironment(source, authored.settings);
      for (const seed of SEEDS) {
        const random = new Random(seed, 'fuzz');
        const scenario = environment.scenario(seed);
        const oracle = environment.oracle(scenario);
        const values = [
          ...oracle.flatMap((turn) =>
            (turn.tool_calls ?? []).flatMap((c) => Object.values(c.function.arguments)),
          ),
          '',
          7,
          null,
          { nested: [] },
        ];
        const parameters = environment.tools.map((tool) =>
          Object.keys(tool.function.parameters.properties as object),
        );
        const played = await playTurns(environment, scenario, () => {
          if (random.chance(0.1))
            return { role: 'assistant', content: random.pick(['Which bay?', 'Really?', 'no', '?']) };
          const i = random.int(parameters.length);
          const tool = random.chance(0.1) ? 'no_such_tool' : environment.tools[i]!.function.name;
          const kept = parameters[i]!.filter(() => random.chance(0.95));
          const args = Object.fromEntries(kept.map((key) => [key, random.pick(values)]));
          return {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c', type: 'function', function: { name: tool, arguments: args } }],
          };
        });
        expect(played.score.reward).toBeLessThan(1);
      }
    }
  },
);

test('implements the tools that its requests need, and no line is too long to read', () => {
  const tools = (name: string) => load(name).tools.map((tool) => tool.function.name);
  expect(tools('structured_data_reasoning')).toEqual([
    'find_client',
    'find_job',
    'list_parts',
    'fit_part',
    'escalate',
  ]);
  expect(tools('multi_step_task_completion')).toEqual(garage.tools.map((tool) => tool.function.name));
  for (const line of author('structured_data_reasoning').source.split('\n'))
    expect(line.length).toBeLessThan(130);
});

test('names the capabilities it knows when asked for another', () => {
  expect(() => author('small_talk')).toThrow(
    /no archetype shows the capability small_talk: .*structured_data_reasoning/,
  );
});
