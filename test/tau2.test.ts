import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { replayCommand } from '../src/cli/commands/tau2.js';
import { loadDomain } from '../src/targets/tau2/data.js';
import type { Tau2Episode } from '../src/targets/tau2/episode.js';
import { sameArguments } from '../src/targets/tau2/evaluate.js';
import { resultsOf, simulationOf, writeResults } from '../src/targets/tau2/export.js';
import { loads } from '../src/targets/tau2/python/json.js';
import type { Args } from '../src/targets/tau2/python/value.js';
import { runTau2 } from '../src/targets/tau2/run.js';
import { type Tau2Options, tau2 } from '../src/targets/tau2/tau2.js';
import { scriptedUser } from '../src/targets/tau2/user.js';
import { tau2Importer } from '../src/trajectory/importers/tau2.js';
import type { AssistantMessage } from '../src/trajectory/trajectory.js';
import { readAll } from './support/importer-files.js';
import { writeTau2Fixture } from './support/tau2-fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'tau2-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const data = writeTau2Fixture(folder);

/** Arguments from JSON text, so that 1.0 stays a float. */
const args = (text: string) => loads(text) as Args;
const say = (content: string): AssistantMessage => ({ role: 'assistant', content });
const call = (name: string, given: { readonly [name: string]: unknown }, id = 'c1'): AssistantMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: given } }],
});

describe('retail', () => {
  const domain = loadDomain(data, 'retail');
  const order = (content: string) => JSON.parse(content);

  it('prints models in field order with floats, dicts in the file’s order', () => {
    const { content } = domain
      .open()
      .respond('get_product_details', 'assistant', args('{"product_id": "30"}'));
    expect(content).toBe(
      '{"name": "Lamp", "product_id": "30", "variants": ' +
        '{"9": {"item_id": "9", "options": {"colour": "red"}, "available": true, "price": 10.0}, ' +
        '"11": {"item_id": "11", "options": {"colour": "blue"}, "available": true, "price": 10.1}, ' +
        '"7": {"item_id": "7", "options": {"colour": "green"}, "available": true, "price": 10.35}, ' +
        '"10": {"item_id": "10", "options": {"colour": "red"}, "available": true, "price": 20.0}}}',
    );
  });

  it('gives every modified item the price of the last one, with the unrounded difference', () => {
    const { content } = domain
      .open()
      .respond(
        'modify_pending_order_items',
        'assistant',
        args(
          '{"order_id": "#W1", "item_ids": ["9", "10"], "new_item_ids": ["11", "7"], "payment_method_id": "gift_card_1"}',
        ),
      );
    const changed = order(content);
    expect(changed.items.map((item: { price: number }) => item.price)).toEqual([10.35, 10.35]);
    expect(changed.items.map((item: { item_id: string }) => item.item_id)).toEqual(['11', '7']);
    // 0 + (10.1 − 10) + (10.35 − 20), one after the other.
    expect(changed.payment_history[1].amount).toBe(Math.abs(0 + (10.1 - 10) + (10.35 - 20)));
    expect(changed.status).toBe('pending (item modified)');
  });

  it('shares no change between worlds, and hashes unchanged ones equally', () => {
    const [first, second] = [domain.open(), domain.open()];
    const before = first.hashes().agent;
    expect(second.hashes().agent).toBe(before);
    first.respond(
      'cancel_pending_order',
      'assistant',
      args('{"order_id": "#W1", "reason": "no longer needed"}'),
    );
    expect(first.hashes().agent).not.toBe(before);
    expect(second.hashes().agent).toBe(before);
    const user = first.respond('get_user_details', 'assistant', args('{"user_id": "ann_lee_1"}'));
    expect(order(user.content).payment_methods.gift_card_1.balance).toBe(35);
  });

  it.each([
    [
      'get_order_details',
      '{}',
      "RetailTools.get_order_details() missing 1 required positional argument: 'order_id'",
    ],
    ['get_order_details', '{"order_id": ["x"]}', "unhashable type: 'list'"],
    [
      'get_order_details',
      '{"order_id": "x", "y": 1}',
      "RetailTools.get_order_details() got an unexpected keyword argument 'y'",
    ],
    ['nope', '{}', "Tool 'nope' not found."],
    ['find_user_id_by_email', '{"email": null}', "'NoneType' object has no attribute 'lower'"],
    ['cancel_pending_order', '{"order_id": "#W2", "reason": "x"}', 'Non-pending order cannot be cancelled'],
  ])('answers errors in the benchmark’s words: %s %s', (name, text, message) => {
    const answer = domain.open().respond(name, 'assistant', args(text));
    expect(answer).toEqual({ content: `Error: ${message}`, error: true });
  });
});

describe('airline', () => {
  const domain = loadDomain(data, 'airline');
  const booking = (changes: object) =>
    args(
      JSON.stringify({
        user_id: 'bob_ray_2',
        origin: 'JFK',
        destination: 'SEA',
        flight_type: 'one_way',
        cabin: 'economy',
        flights: [{ flight_number: 'F1', date: '2024-05-20' }],
        passengers: [{ first_name: 'Bob', last_name: 'Ray', dob: '1990-01-01' }],
        payment_methods: [{ payment_id: 'gift_card_2', amount: 130 }],
        total_baggages: 0,
        nonfree_baggages: 0,
        insurance: 'yes',
        ...changes,
      }),
    );

  it('books: takes the seat and the gift card, numbers the reservation', () => {
    const world = domain.open();
    const answer = world.respond('book_reservation', 'assistant', booking({}));
    expect(JSON.parse(answer.content)).toMatchObject({
      reservation_id: 'HATHAT',
      flights: [{ flight_number: 'F1', price: 100 }],
      created_at: '2024-05-15T15:00:00',
      status: null,
    });
    const user = world.respond('get_user_details', 'assistant', args('{"user_id": "bob_ray_2"}'));
    expect(user.content).toContain('"amount": 0.0');
    const again = world.respond('book_reservation', 'assistant', booking({}));
    expect(again.content).toBe('Error: Not enough seats on flight F1');
  });

  it.each([
    [{ insurance: 'no' }, 'Payment amount does not add up, total price is 100, but paid 130'],
    [
      { flights: [{ flight_number: 'F1', date: '2024-05-21' }] },
      'Flight F1 not available on date 2024-05-21',
    ],
    [{ flights: '[]' }, "'str' object has no attribute 'flight_number'"],
    [{ payment_methods: [{ payment_id: 'x', amount: 130 }] }, 'Payment method x not found'],
    [{ nonfree_baggages: 'two' }, '1 validation error for Reservation\nnonfree_baggages\n'],
  ])('refuses %j and changes nothing', (changes, message) => {
    const world = domain.open();
    const before = world.hashes().agent;
    const answer = world.respond('book_reservation', 'assistant', booking(changes));
    expect(answer.error).toBe(true);
    expect(answer.content).toContain(message);
    expect(world.hashes().agent).toBe(before);
  });

  it('stores what it does not validate, and its hash shows it', () => {
    const change = (bags: string) => {
      const world = domain.open();
      world.respond('book_reservation', 'assistant', booking({}));
      const text = `{"reservation_id": "HATHAT", "total_baggages": ${bags}, "nonfree_baggages": 0, "payment_id": "gift_card_2"}`;
      world.respond('update_reservation_baggages', 'assistant', args(text));
      return world.hashes().agent;
    };
    expect(new Set(['3', '"3"', '3.0'].map(change)).size).toBe(3);
  });
});

describe('comparison of actions', () => {
  const action = (compare: string[] | null) => ({
    id: '0',
    requestor: 'assistant' as const,
    name: 'f',
    arguments: args('{"a": 1, "b": "x"}'),
    compare,
    source: new Map(),
  });

  it('looks at the arguments of the call, so that a missing one goes unnoticed', () => {
    expect(sameArguments(action(null), args('{"a": 1.0}'))).toBe(true);
    expect(sameArguments(action(null), args('{}'))).toBe(true);
    expect(sameArguments(action(null), args('{"a": 1, "b": "x", "c": 2}'))).toBe(false);
    expect(sameArguments(action(['b']), args('{"a": 7, "b": "x"}'))).toBe(true);
    expect(sameArguments(action([]), args('{"a": 7}'))).toBe(true);
  });
});

describe('an attempt', () => {
  const user = scriptedUser(['The lamp, please.', 'Thanks. ###STOP###']);
  const open = (options: Partial<Tau2Options>, id: string): Promise<Tau2Episode> => {
    const target = tau2({ data, domain: 'retail', split: 'base', user, ...options });
    const seed = target.split('train').find((candidate) => target.scenario(candidate).id === id);
    return target.open(target.scenario(seed as number));
  };
  const back = { order_id: '#W2', item_ids: ['9'], payment_method_id: 'gift_card_1' };

  it('passes when the databases end alike and everything was said, commas apart', async () => {
    const episode = await open({}, 'return-lamp');
    expect(episode.messages.map((message) => message.role)).toEqual(['system', 'assistant', 'user']);
    await episode.act(call('return_delivered_order_items', back));
    await episode.act(say('It cost $1,000.'));
    expect(episode.termination).toBe('user_stop');
    expect(await episode.score()).toEqual({
      reward: 1,
      checks: [
        { name: 'DB', passed: true },
        { name: 'COMMUNICATE', passed: true },
      ],
    });
    // User, agent, tools, agent, user.
    expect(episode.steps).toBe(5);
  });

  it('fails part by part', async () => {
    const episode = await open({}, 'return-lamp');
    await episode.act(say('No.'));
    const { reward, checks } = await episode.score();
    expect(reward).toBe(0);
    expect(checks.map(({ name, passed }) => [name, passed])).toEqual([
      ['DB', false],
      ['COMMUNICATE', false],
    ]);
  });

  it('earns nothing when it ends early: errors, steps, silence', async () => {
    const errors = await open({ maxErrors: 2 }, 'return-lamp');
    for (const id of ['a', 'b']) await errors.act(call('get_order_details', {}, id));
    expect(errors.termination).toBe('too_many_errors');
    expect((await errors.score()).reward).toBe(0);
    const steps = await open({ maxSteps: 3 }, 'return-lamp');
    await steps.act(call('return_delivered_order_items', back));
    expect(steps.termination).toBe('max_steps');
    const silent = await open({}, 'return-lamp');
    await silent.act(say(' '));
    expect(silent.termination).toBe('agent_error');
    await expect(silent.act(say('Hello?'))).rejects.toThrow('the episode is over');
  });

  it('reports natural-language assertions as not scored without a judge, and asks one where it is', async () => {
    const end = async (options: Partial<Tau2Options>) => {
      const episode = await open(options, 'judged');
      await episode.act(say('Hello.'));
      return episode.score();
    };
    const unjudged = await end({});
    expect(unjudged.reward).toBe(1);
    expect(unjudged.checks.at(-1)?.detail).toContain('NL_ASSERTION');
    const judge = (met: boolean) => ({
      name: 'judge',
      judge: async ({ conversation, assertions }: { conversation: string; assertions: readonly string[] }) =>
        assertions.map((assertion) => ({
          assertion,
          met: met && conversation.includes('assistant: Hello.'),
          justification: '',
        })),
    });
    expect((await end({ judge: judge(true) })).reward).toBe(1);
    expect((await end({ judge: judge(false) })).reward).toBe(0);
  });

  it('tells the user its scenario by the guidelines, with blank lines not indented', async () => {
    const episode = await open({}, 'return-lamp');
    expect(episode.settings.userSystem).toBe(
      'Play the user. (simulation_guidelines.md)\n\n<scenario>\nInstructions:\n\tDomain: retail\n' +
        '\tReason for call:\n\t\tReturn the lamp.\n\n\t\tIt is too bright.\n' +
        '\tTask instructions:\n\t\tBe brief.\n</scenario>',
    );
  });

  it('keeps the user’s own tool calls from the agent', async () => {
    const phone = scriptedUser([
      call('check_notifications', {}, 'u1'),
      'Complete task_1, please.',
      call('dismiss_notification', { notification_id: 'notif_1' }, 'u2'),
    ]);
    const target = tau2({ data, domain: 'mock', user: phone });
    const episode = await target.open(target.scenario(0));
    await episode.act(call('update_task_status', { task_id: 'task_1', status: 'completed' }));
    await episode.act(say('Done.'));
    expect(episode.termination).toBe('user_stop');
    expect((await episode.score()).reward).toBe(1);
    expect(JSON.stringify(episode.messages)).not.toContain('notif_1');
    expect(JSON.stringify(episode.log.map((message) => [...message.values()]))).toContain(
      'Task One is yours.',
    );
  });

  it('works alone from the ticket, with both sides’ tools, until it says that it is done', async () => {
    const target = tau2({ data, domain: 'mock', solo: true });
    expect(target.tools.map((tool) => tool.function.name)).toContain('dismiss_notification');
    const episode = await target.open(target.scenario(0));
    expect(episode.messages).toHaveLength(1);
    expect(episode.messages[0]?.content).toContain('<ticket>\nComplete task_1.\n</ticket>');
    await episode.act(call('dismiss_notification', { notification_id: 'notif_1' }, 'a'));
    await episode.act(call('update_task_status', { task_id: 'task_1', status: 'completed' }, 'b'));
    await episode.act(call('done', {}, 'c'));
    expect(episode.termination).toBe('agent_stop');
    expect((await episode.score()).reward).toBe(1);
  });

  it('is written so that it can be replayed and imported', async () => {
    const target = tau2({ data, domain: 'retail', split: 'base', user });
    const episode = await target.open(target.scenario(0));
    await episode.act(call('return_delivered_order_items', back));
    await episode.act(say('It cost 1000.'));
    const times = { start: '2026-01-01T00:00:00Z', end: '2026-01-01T00:01:00Z', duration: 60 };
    const path = join(folder, 'results.json');
    const run = { agent: 'a-model', seed: 1, timestamp: times.start };
    writeResults(path, resultsOf(target, [await simulationOf(target, episode, 0, times)], run));
    const lines: string[] = [];
    expect(await replayCommand([path], { data }, (line) => lines.push(line))).toBe(true);
    expect(lines[0]).toContain('calls 1 equal, 0 different, 0 skipped');
    expect(lines[0]).toContain('db_match 1/1 reproduced, rewards 1/1 reproduced (DB 1/1, COMMUNICATE 1/1)');
    const imported = await readAll(tau2Importer, path);
    expect(imported).toMatchObject([{ taskId: 'return-lamp', outcome: 'passed', termination: 'user_stop' }]);
    expect(JSON.parse(readFileSync(path, 'utf8')).info.agent_info.llm).toBe('a-model');
  });
});

describe('the target', () => {
  const user = scriptedUser([]);
  it('keeps test tasks apart and gives every trial its own seed', () => {
    const target = tau2({ data, domain: 'retail', user, trials: 3 });
    const scenarios = target.split('train').map((seed) => target.scenario(seed));
    expect(scenarios.map(({ id, trial }) => `${id}/${trial}`)).toEqual([
      'return-lamp/0',
      'return-lamp/1',
      'return-lamp/2',
    ]);
    expect(target.split('test').map((seed) => target.scenario(seed).id)).toEqual([
      'judged',
      'judged',
      'judged',
    ]);
    expect(tau2({ data, domain: 'retail', user, split: 'base' }).split('test')).toEqual([]);
  });

  it('knows the reference', () => {
    const target = tau2({ data, domain: 'retail', user });
    expect(target.reference?.(target.scenario(0))).toMatchObject({
      actions: [{ name: 'return_delivered_order_items', kind: 'write' }],
      requiredFacts: ['1000'],
    });
  });

  it.each([
    [{ domain: 'retail' as const }, 'nobody plays the user'],
    [{ domain: 'retail' as const, solo: true }, 'has no solo mode'],
    [{ domain: 'retail' as const, user, split: 'nope' }, 'has no split "nope"'],
    [{ domain: 'retail' as const, user, trials: 0 }, 'trials has to be a whole number from 1'],
    [{ domain: 'retail' as const, user, data: '/nowhere' }, 'holds no data of τ²-bench'],
  ])('says what is wrong with its options: %j', (options, message) => {
    expect(() => tau2({ data, ...options })).toThrow(message);
  });

  it('describes exactly the tools that the domains have', () => {
    for (const name of ['airline', 'retail', 'mock'] as const) {
      const target = tau2({ data, domain: name, user });
      const described = target.tools.map((tool) => tool.function.name).sort();
      expect(described).toEqual([...target.domain.open().agent.toolTypes().keys()].sort());
      expect(Object.keys(target.toolKinds).sort()).toEqual(described);
    }
  });
});

describe('a run', () => {
  const user = scriptedUser(['The lamp, please.']);
  const target = tau2({ data, domain: 'retail', user, split: 'base' });
  const info = { agent: 'a-model', seed: 1, timestamp: '2026-01-01T00:00:00Z' };
  const back = { order_id: '#W2', item_ids: ['9'], payment_method_id: 'gift_card_1' };
  let asked = 0;
  /** Right for every task; its connection breaks at the given requests. */
  const agent = (broken: (request: number) => boolean) => ({
    name: 'agent',
    reply({ messages }: { readonly messages: readonly { readonly role: string }[] }) {
      if (broken(asked++)) throw new Error('connection reset');
      const used = messages.some((message) => message.role === 'tool');
      return used ? say('It cost 1000.') : call('return_delivered_order_items', back);
    },
  });
  const options = (name: string) => ({
    seeds: target.split('train'),
    folder: join(folder, name),
    info,
    concurrency: 2,
    retries: 1,
    clock: () => 0,
  });

  it('tries broken attempts again, leaves the hopeless out, and goes on where it was', async () => {
    asked = 0;
    const flaky = await runTau2(
      target,
      agent((request) => request === 0),
      options('flaky'),
    );
    expect(flaky).toMatchObject({ finished: 2, resumed: 0, excluded: [] });
    const dead = await runTau2(
      target,
      agent(() => true),
      options('dead'),
    );
    expect(dead).toMatchObject({ finished: 0, reward: null });
    expect(dead.excluded.map(({ reason }) => reason)).toEqual(['connection reset', 'connection reset']);
    const later = await runTau2(
      target,
      agent(() => false),
      options('dead'),
    );
    expect(later).toMatchObject({ finished: 2, resumed: 0 });
    asked = 0;
    const again = await runTau2(
      target,
      agent(() => true),
      options('dead'),
    );
    expect(again).toMatchObject({ finished: 2, resumed: 2, excluded: [] });
    expect(asked).toBe(0);
    // Only the task that asks for a return is passed by returning.
    expect(again.reward).toBe(0.5);
    const lines: string[] = [];
    expect(await replayCommand([join(folder, 'dead')], { data }, (line) => lines.push(line))).toBe(true);
    expect(lines[0]).toContain('calls 2 equal, 0 different, 0 skipped');
    const imported = await readAll(tau2Importer, join(folder, 'dead'));
    expect(imported.map(({ taskId, outcome }) => `${taskId} ${outcome}`).sort()).toEqual([
      'judged failed',
      'return-lamp passed',
    ]);
  });
});
