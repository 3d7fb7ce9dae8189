import { describe, expect, it } from 'vitest';
import { playTurns } from '../../environment/runner.js';
import { Random } from '../../run/random.js';
import type { AssistantMessage, ToolCall } from '../../trajectory/trajectory.js';
import { COMPETENT, demonstrate, oracle, ratesOf } from './demonstrator.js';
import { desk } from './desk.js';
import { goldenWrite } from './reference.js';
import { capabilitiesOf, type DeskCapability, type DeskScenario } from './scenario.js';
import { ADDRESSES, IDS, PAYMENTS } from './words.js';

const SPLITS = ['train', 'train-compound', 'validation', 'test', 'shift'] as const;
const scenariosOf = (split: (typeof SPLITS)[number], size: number) =>
  desk.split(split, size).map((seed) => desk.scenario(seed));
const play = async (scenario: DeskScenario, turns: readonly AssistantMessage[]) =>
  playTurns(desk, scenario, turns);
const rewardOf = async (scenario: DeskScenario, turns: readonly AssistantMessage[]) =>
  (await play(scenario, turns)).score.reward;

/** The oracle's turns with one call changed. */
function withCall(
  turns: readonly AssistantMessage[],
  change: (call: ToolCall['function']) => ToolCall['function'] | null,
): AssistantMessage[] {
  return turns.map((turn) => {
    const call = turn.tool_calls?.[0];
    const changed = call ? change(call.function) : null;
    return call && changed ? { ...turn, tool_calls: [{ ...call, function: changed }] } : turn;
  });
}

describe('desk scenarios', () => {
  it('are the same for the same seed and differ between seeds', () => {
    const texts = desk.split('test', 200).map((seed) => JSON.stringify(desk.scenario(seed)));
    expect(desk.split('test', 200).map((seed) => JSON.stringify(desk.scenario(seed)))).toEqual(texts);
    expect(new Set(texts).size).toBe(200);
  });

  it('share no seed between train, validation, test and shift, whatever the sizes', () => {
    const seeds = (['train', 'validation', 'test', 'shift'] as const).map((name) => desk.split(name, 3000));
    expect(new Set(seeds.flat()).size).toBe(12000);
  });

  it('share no content between the training tasks and the held-out ones', () => {
    const content = ({ id: _id, seed: _seed, ...rest }: DeskScenario) => JSON.stringify(rest);
    const train = new Set(scenariosOf('train', 128).map(content));
    const held = (['validation', 'test', 'shift'] as const).flatMap((name) => scenariosOf(name, 512));
    expect(held.filter((scenario) => train.has(content(scenario)))).toEqual([]);
  });

  it('train on 24 compound tasks, alternating with tasks that need one capability', () => {
    const compound = desk.split('train-compound');
    const train = desk.split('train');
    expect(compound).toHaveLength(24);
    expect(train.filter((_, i) => i % 2 === 0)).toEqual(compound);
    const needed = train.map((seed) => capabilitiesOf(desk.scenario(seed)).length);
    expect(needed.every((n, i) => (i % 2 === 0 ? n >= 2 && n <= 4 : n === 1))).toBe(true);
    expect(desk.split('train-compound', 64).slice(0, 24)).toEqual(compound);
  });

  it('need two to four capabilities in every compound task, three or more under shift', () => {
    for (const scenario of [...scenariosOf('test', 300), ...scenariosOf('validation', 100)])
      expect(capabilitiesOf(scenario).length).toBeGreaterThanOrEqual(2);
    for (const scenario of scenariosOf('shift', 200)) {
      expect(capabilitiesOf(scenario).length).toBeGreaterThanOrEqual(3);
      expect(scenario.requests).toHaveLength(3);
    }
  });

  it('hold every id once, and words of the closed lists', () => {
    for (const scenario of scenariosOf('test', 100)) {
      const ids = [
        scenario.user,
        ...scenario.requests.flatMap((r) => [
          r.order,
          ...r.items.map((item) => item.id),
          ...r.variants.map((variant) => variant.id),
        ]),
      ];
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.every((id) => IDS.includes(id))).toBe(true);
      expect(scenario.payments.every((payment) => PAYMENTS.includes(payment))).toBe(true);
      for (const { payment, address } of scenario.requests) {
        expect(scenario.payments).toContain(payment);
        if (address !== null) expect(ADDRESSES).toContain(address);
      }
    }
  });

  it('offer exactly one variant that fulfils the wish', () => {
    for (const { variants, wish, variant } of scenariosOf('shift', 200).flatMap((s) => s.requests)) {
      if (!wish) continue;
      const ofColour = variants.filter((v) => v.colour === wish.colour);
      const price = Math.min(...ofColour.map((v) => v.price));
      const right = ofColour.filter((v) => (wish.size === null ? v.price === price : v.size === wish.size));
      expect(right).toEqual([variant]);
    }
  });

  it('refuse sizes that are no sizes', () => {
    expect(() => desk.split('test', -1)).toThrow(RangeError);
    expect(() => desk.split('test', 1.5)).toThrow(RangeError);
  });
});

describe('the verifier', () => {
  const scenarios = SPLITS.flatMap((split) => scenariosOf(split, 60));

  it('passes the oracle on every split', async () => {
    for (const scenario of scenarios)
      expect(await rewardOf(scenario, oracle(scenario, new Random(1))), scenario.id).toBe(1);
  });

  it.each([
    ['selection', 'selection'],
    ['precondition', 'precondition'],
    ['completion', 'completion'],
    ['arguments', 'arguments'],
  ] as const)('fails a demonstrator without %s exactly where it is needed', async (_name, capability) => {
    const rates = { ...COMPETENT, [capability]: 0 };
    for (const scenario of scenarios) {
      const needed = capabilitiesOf(scenario).includes(capability as DeskCapability);
      expect(await rewardOf(scenario, demonstrate(scenario, new Random(2), rates)), scenario.id).toBe(
        needed ? 0 : 1,
      );
    }
  });

  it.each(['payment', 'item', 'variant', 'address', 'order'])(
    'fails a write with another %s',
    async (argument) => {
      let tried = 0;
      for (const scenario of scenarios) {
        const write = scenario.requests.map(goldenWrite).find((action) => argument in action.arguments);
        if (!write) continue;
        tried++;
        const turns = withCall(oracle(scenario, new Random(1)), (call) =>
          call.name === write.name && call.arguments.order === write.arguments.order
            ? { ...call, arguments: { ...call.arguments, [argument]: 'k99:none' } }
            : null,
        );
        expect(await rewardOf(scenario, turns), scenario.id).toBe(0);
      }
      expect(tried).toBeGreaterThan(10);
    },
  );

  it('fails a missing or wrong report, a second write and an unfinished attempt', async () => {
    for (const scenario of scenarios.slice(0, 40)) {
      const turns = oracle(scenario, new Random(1));
      const report = turns.at(-1) as AssistantMessage;
      const body = turns.slice(0, -1);
      const write = body.at(-1) as AssistantMessage;
      const wrong = (report.content as string).replace(/ \w+\.$/, ' lost.');
      expect(await rewardOf(scenario, [...body, { ...report, content: wrong }])).toBe(0);
      expect(await rewardOf(scenario, [...body, write, report])).toBe(0);
      const unfinished = await play(scenario, body);
      expect(unfinished.done).toBe(false);
      expect(unfinished.score.reward).toBe(0);
    }
  });

  it('keeps a tool error from changing anything, so that the agent may put it right', async () => {
    for (const scenario of scenarios.slice(0, 20)) {
      const turns = oracle(scenario, new Random(1));
      const at = turns.findIndex((turn) => turn.tool_calls?.[0]?.function.name === 'get_order');
      const [lost] = withCall([turns[at] as AssistantMessage], (call) => ({
        ...call,
        arguments: { order: 'none' },
      }));
      const played = await play(scenario, [
        ...turns.slice(0, at),
        lost as AssistantMessage,
        ...turns.slice(at),
      ]);
      expect(played.messages).toContainEqual(
        expect.objectContaining({ role: 'tool', content: '{"error":"not found"}', error: true }),
      );
      expect(played.score.reward).toBe(1);
    }
  });

  it('ends a malformed turn and a conversation without end as failures', async () => {
    const scenario = scenarios[0] as DeskScenario;
    const broken = await play(scenario, [{ role: 'assistant', content: '{"name"', malformed: 'not JSON' }]);
    expect([broken.termination, broken.score.reward]).toEqual(['malformed', 0]);
    const endless = await playTurns(desk, scenario, () => ({ role: 'assistant', content: 'Which id?' }));
    expect([endless.termination, endless.score.reward]).toEqual(['max_turns', 0]);
    expect(endless.turns).toBe(desk.maxTurns);
  });

  it('answers calls that no tool takes with an error', async () => {
    const scenario = scenarios[0] as DeskScenario;
    const call = (name: string, args: Record<string, unknown>): AssistantMessage => ({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_0', type: 'function', function: { name, arguments: args } }],
    });
    for (const turn of [
      call('get_users', { user: scenario.user }),
      call('get_user', {}),
      call('get_user', { user: 7 }),
      call('get_user', { user: scenario.user, order: 'k00' }),
    ]) {
      const { messages } = await play(scenario, [turn]);
      expect(messages.at(-1)).toMatchObject({ role: 'tool', content: '{"error":"bad call"}' });
    }
  });
});

describe('the scripted user', () => {
  it('gives the user id and the new address only when asked', () => {
    const scenario = scenariosOf('test', 300).find((s) => s.requests.some((r) => r.address !== null));
    const { user, requests } = scenario as DeskScenario;
    const address = requests.find((r) => r.address !== null)?.address as string;
    const episode = desk.open(scenario as DeskScenario) as { messages: readonly { content: unknown }[] } & {
      act(message: AssistantMessage): void;
    };
    const said = () => episode.messages.map((message) => String(message.content)).join('\n');
    expect(said()).not.toContain(user);
    expect(said()).not.toContain(address);
    episode.act({ role: 'assistant', content: 'What is your user id?' });
    expect(said()).toContain(user);
    expect(said()).not.toContain(address);
    episode.act({ role: 'assistant', content: 'What is the new address?' });
    expect(said()).toContain(address);
  });
});

describe('the reference', () => {
  it('is what the oracle does and says', async () => {
    for (const scenario of scenariosOf('test', 100)) {
      const reference = desk.reference?.(scenario);
      const turns = oracle(scenario, new Random(1));
      const calls = turns.flatMap((turn) => turn.tool_calls ?? []).map((call) => call.function);
      expect(reference?.actions.map(({ name, arguments: args }) => ({ name, arguments: args }))).toEqual(
        calls,
      );
      for (const fact of reference?.requiredFacts ?? []) expect(turns.at(-1)?.content).toContain(fact);
    }
  });

  it('gives every action the kind of its tool', () => {
    for (const { name, kind } of scenariosOf('shift', 50).flatMap((s) => desk.reference?.(s).actions ?? []))
      expect(kind).toBe(desk.toolKinds[name]);
    expect(Object.keys(desk.toolKinds).sort()).toEqual(desk.tools.map((tool) => tool.function.name).sort());
  });
});

describe('planted deficits', () => {
  it('are right as often as asked, each by its own switch', async () => {
    const rates = ratesOf({ completion: true }, 0.25);
    expect(rates).toEqual({ ...COMPETENT, completion: 0.25 });
    // Two requests and nothing else: passes exactly when the second one is done.
    const scenarios = scenariosOf('train', 1600).filter((s) => capabilitiesOf(s).join() === 'completion');
    const rewards = await Promise.all(
      scenarios.map((s) => rewardOf(s, demonstrate(s, new Random(s.seed), rates))),
    );
    const share = rewards.reduce((a, b) => a + b, 0) / rewards.length;
    // 200 draws at 0.25: four standard deviations are 0.12.
    expect(rewards.length).toBeGreaterThanOrEqual(200);
    expect(Math.abs(share - 0.25)).toBeLessThan(0.12);
  });
});
