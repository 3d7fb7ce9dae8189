import type { Mistake } from '../../../../environment/contract.js';
import type { AssistantMessage } from '../../../../trajectory/trajectory.js';
import { type Action, attributesOf, type Case, canonical, fill, type ServiceScenario } from './records.js';
import { asks, referring, renderArguments } from './scenario.js';
import type { Values, World } from './world.js';

export const call = (
  tool: string,
  args: { readonly [name: string]: unknown },
  n: number,
): AssistantMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: `call_${n}`, type: 'function', function: { name: tool, arguments: args } }],
});

/** Turns of an agent that reads what it needs and then does what `decide` says of each case (null: nothing). */
export function solve(
  world: World,
  scenario: ServiceScenario,
  decide: (index: number) => Action | null,
  facts: readonly string[],
): AssistantMessage[] {
  const turns: AssistantMessage[] = [];
  const add = (tool: string, args: { readonly [name: string]: unknown }) =>
    turns.push(call(tool, args, turns.length));
  const ask = (attributes: readonly string[], values: Values) => {
    for (const { question, answer } of world.dialogue)
      if (attributesOf(answer).some((attribute) => attributes.includes(attribute)))
        turns.push({ role: 'assistant', content: String(fill(question, values)) });
  };
  if (world.account) {
    const { tool, parameter } = world.account;
    ask([`${parameter}.key`], scenario.account.values);
    add(tool, { [parameter]: scenario.account.values[`${parameter}.key`] });
  }
  scenario.cases.forEach((one, i) => {
    const action = decide(i);
    if (!action) return;
    add(world.entity.tool, { [world.entity.parameter]: one.values[`${world.entity.parameter}.key`] });
    if (one.catalog && action.tool === one.write)
      add(world.catalog!.tool, { [world.catalog!.parameter]: one.values[world.catalog!.key] });
    const write = world.writes.find(({ tool }) => tool === action.tool);
    if (write && asks(world, write)) ask(attributesOf(Object.values(write.arguments)), one.values);
    add(action.tool, action.arguments);
  });
  const { before, between, after } = world.reply;
  turns.push({ role: 'assistant', content: before + facts.join(between) + after });
  return turns;
}

/** Wrong behaviours that the environment is there to unlearn, as far as the scenario has room for them. */
export function mistakesOf(world: World, scenario: ServiceScenario): Mistake[] {
  const { cases, actions, facts } = scenario;
  const mistakes: Mistake[] = [];
  const add = (name: string, wrong: (index: number) => Action | null, said = facts) =>
    mistakes.push({ name, turns: solve(world, scenario, wrong, said) });
  const write = (one: Case) => world.writes.find(({ tool }) => tool === one.write)!;
  const acting = (one: Case, values: Values = one.values): Action => ({
    tool: one.write,
    arguments: renderArguments(write(one).arguments, values),
  });
  const instead = (index: number, action: Action) => (i: number) => (i === index ? action : actions[i]!);

  add('says that all is done without doing it', () => null);
  if (cases.length > 1) {
    add('stops after the first request', (i) => (i === 0 ? actions[0]! : null), facts.slice(0, 1));
    add('does the first request and claims all', (i) => (i === 0 ? actions[0]! : null));
  }
  cases.forEach((one, index) => {
    if (one.forbidden) {
      const said = facts.map((fact, i) => (i === index ? String(fill(write(one).fact, one.values)) : fact));
      add('acts although the policy forbids it', instead(index, acting(one)), said);
      return;
    }
    if (world.handover) {
      const refusal = String(fill(world.handover.fact, one.values));
      const refused = {
        tool: world.handover.tool,
        arguments: renderArguments(world.handover.arguments, one.values),
      };
      const said = facts.map((fact, i) => (i === index ? refusal : fact));
      add('hands over although it may act', instead(index, refused), said);
    }
    for (const option of one.catalog?.lists[world.catalog!.list] ?? []) {
      const action = acting(one, { ...one.values, ...option.values });
      if (canonical(action) !== canonical(actions[index]))
        add('takes another option', instead(index, action));
    }
    for (const element of world.reference ? scenario.account.lists[world.reference.list]! : []) {
      const action = acting(one, { ...one.values, ...referring(world.reference!, element) });
      if (canonical(action) !== canonical(actions[index]))
        add('takes a value of another record', instead(index, action));
    }
  });
  return mistakes;
}
