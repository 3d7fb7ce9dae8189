import type { Episode, Score } from '../../../../environment/contract.js';
import type { AssistantMessage, Message } from '../../../../trajectory/trajectory.js';
import {
  type Action,
  attributesOf,
  type Case,
  canonical,
  fill,
  listOf,
  render,
  type ServiceScenario,
} from './records.js';
import { referring } from './scenario.js';
import type { Lookup, Settings, Template, Values, World } from './world.js';

/** One attempt at a scenario. */
export class ServiceEpisode implements Episode {
  readonly messages: Message[];
  done = false;
  termination: string | null = null;
  #turns = 0;
  #errors = 0;
  /** Writes and hand-overs that changed something, in order. */
  readonly #changes: Action[] = [];
  readonly #said: string[] = [];

  constructor(
    readonly world: World,
    readonly settings: Settings,
    readonly scenario: ServiceScenario,
    systemPrompt: string,
  ) {
    this.messages = [
      { role: 'system', content: systemPrompt },
      { role: 'user', content: scenario.request },
    ];
  }

  act(message: AssistantMessage): void {
    if (this.done) throw new Error('the episode is over');
    this.messages.push(message);
    this.#turns++;
    if (message.malformed !== undefined) {
      this.#end('malformed');
      return;
    }
    const calls = message.tool_calls ?? [];
    if (message.content) this.#said.push(message.content);
    if (calls.length === 0) {
      const content = this.#reply(message.content ?? '');
      if (content === null) {
        this.#end('user_stop');
        return;
      }
      this.messages.push({ role: 'user', content });
    }
    for (const call of calls) {
      const answer = this.#answer({ tool: call.function.name, arguments: call.function.arguments });
      this.messages.push({
        role: 'tool',
        tool_call_id: call.id,
        name: call.function.name,
        content: typeof answer.result === 'string' ? answer.result : JSON.stringify(answer.result),
        ...(answer.error ? { error: true } : {}),
      });
      if (answer.error) this.#errors++;
    }
    if (this.#errors >= (this.world.mostErrors ?? Number.POSITIVE_INFINITY)) this.#end('too_many_errors');
    else if (this.#turns >= this.world.maxTurns) this.#end('max_turns');
  }

  /** The person's answer to a question of the dialogue; null: nothing was asked, the conversation is over. */
  #reply(text: string): string | null {
    const plain = (value: string | number) => String(value).trim().toLowerCase();
    for (const { question, answer } of this.world.dialogue)
      for (const one of this.scenario.cases) {
        const known = attributesOf([question, answer]).every((attribute) => attribute in one.values);
        if (known && plain(fill(question, one.values)) === plain(text))
          return String(fill(answer, one.values));
      }
    // A question that the person does not understand gets the answer they give most often.
    const [usual] = this.world.dialogue;
    const { values } = this.scenario.account;
    if (!usual || !text.includes('?') || !attributesOf(usual.answer).every((name) => name in values))
      return null;
    return String(fill(usual.answer, values));
  }

  #end(termination: string): void {
    this.done = true;
    this.termination = termination;
  }

  #answer(call: Action): { result: unknown; error?: boolean } {
    const { world, scenario } = this;
    const asked = (lookup: Lookup) => call.arguments[lookup.parameter];
    const unknown = { result: render(world.unknown, scenario.account), error: true };
    if (world.account && call.tool === world.account.tool) {
      const own = scenario.account.values[`${world.account.parameter}.key`];
      return asked(world.account) === own
        ? { result: render(world.account.result, scenario.account) }
        : unknown;
    }
    if (call.tool === world.entity.tool) {
      const found = scenario.cases.find((one) => one.values[this.#key] === asked(world.entity));
      return found ? { result: render(world.entity.result, found.entity) } : unknown;
    }
    if (world.catalog && call.tool === world.catalog.tool) {
      const { key } = world.catalog;
      const found = scenario.cases.find((one) => one.catalog && one.values[key] === asked(world.catalog!));
      return found ? { result: render(world.catalog.result, found.catalog!) } : unknown;
    }
    const does = world.writes.find(({ tool }) => tool === call.tool) ?? world.handover;
    if (does?.tool !== call.tool) return unknown;
    const one = scenario.cases.find(({ values }) =>
      Object.values(call.arguments).includes(values[this.#key]!),
    );
    if (!one || !this.#exists(call, does.arguments, one)) return unknown;
    // What exists is taken as it is: whether it was right is for the score to say.
    this.#changes.push(call);
    return { result: render(does.done, { values: one.values, lists: {} }) };
  }

  /** The right parameters, and values that some record of this person has (or that only the person knows). */
  #exists(call: Action, expected: { readonly [parameter: string]: Template }, one: Case): boolean {
    const { world, scenario } = this;
    const names = Object.keys(expected);
    if (Object.keys(call.arguments).sort().join() !== [...names].sort().join()) return false;
    if (!world.checksArguments) return true;
    const accountRows = world.reference ? (scenario.account.lists[world.reference.list] ?? []) : [];
    const rows: Values[] = [
      {},
      ...(one.entity.lists[world.lines ?? ''] ?? []).map(({ values }) => values),
      ...(one.catalog?.lists[world.catalog!.list] ?? []).map(({ values }) => values),
      ...accountRows.map((row) => referring(world.reference!, row)),
    ];
    return names.every((name) => {
      const template = expected[name]!;
      if (attributesOf(template).some((attribute) => listOf(attribute) === call.tool)) return true;
      return rows.some((row) => {
        const values = { ...one.values, ...row };
        // A write that this request is not about may need what it has not.
        const known = attributesOf(template).every((attribute) => attribute in values);
        return known && render(template, { values, lists: {} }) === call.arguments[name];
      });
    });
  }

  get #key(): string {
    return `${this.world.entity.parameter}.key`;
  }

  score(): Score {
    const { scenario } = this;
    const rest = this.#changes.map(canonical);
    const right = scenario.actions.map((action) => {
      const at = rest.indexOf(canonical(action));
      if (at >= 0) rest.splice(at, 1);
      return at >= 0;
    });
    const said = this.#said.join('\n').toLowerCase();
    const facts = scenario.facts.map((fact) => said.includes(fact.toLowerCase()));
    const checks = [
      ...scenario.actions.map((action, i) => ({
        name: `request ${i + 1}: ${action.tool}`,
        passed: right[i]!,
      })),
      { name: 'nothing else was changed', passed: rest.length === 0 },
      ...scenario.facts.map((fact, i) => ({ name: `said: ${fact}`, passed: facts[i]! })),
      { name: 'the agent ended the conversation', passed: this.termination === 'user_stop' },
    ];
    if (checks.every(({ passed }) => passed)) return { reward: 1, checks };
    const share = right.filter(Boolean).length / right.length;
    const readable = this.done && this.termination !== 'malformed';
    return { reward: readable ? this.settings.partial * share : 0, checks };
  }
}
