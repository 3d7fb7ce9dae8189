import type { Episode, Score } from '../../environment/contract.js';
import type { AssistantMessage, Check, Message, ToolCall } from '../../trajectory/trajectory.js';
import { goldenWrite, requiredFact } from './reference.js';
import { type DeskRequest, type DeskScenario, itemRef, variantRef } from './scenario.js';
import { DESK_TOOLS } from './tools.js';
import { joinRequests, REQUESTS, sayAddress, sayUser, wishCheapest, wishExact } from './wording.js';

/** Most assistant turns: three requests need twelve. */
export const MAX_TURNS = 20;
/** An agent that gets so many errors from its tools is stopped. */
export const MAX_ERRORS = 4;

const PARAMETERS = new Map(
  DESK_TOOLS.map((tool) => [tool.function.name, tool.function.parameters.required as readonly string[]]),
);
const OK = { ok: true };
const NOT_FOUND = { error: 'not found' };
const BAD_CALL = { error: 'bad call' };

/** One attempt at a desk task: the shop's state, the scripted user and the verifier. */
export class DeskEpisode implements Episode {
  readonly messages: Message[];
  termination: string | null = null;
  readonly #scenario: DeskScenario;
  /** Writes that took effect, in order, as canonical text by order id. */
  readonly #writes: { readonly order: string; readonly call: string }[] = [];
  #turns = 0;
  #errors = 0;

  constructor(scenario: DeskScenario, systemPrompt: string) {
    this.#scenario = scenario;
    this.messages = [
      { role: 'system', content: systemPrompt },
      { role: 'user', content: openingOf(scenario) },
    ];
  }

  get done(): boolean {
    return this.termination !== null;
  }

  act(message: AssistantMessage): void {
    if (this.done) throw new Error(`the episode is over (${this.termination}): open a new one`);
    this.messages.push(message);
    this.#turns++;
    if (message.malformed !== undefined) {
      this.termination = 'malformed';
      return;
    }
    if (message.tool_calls?.length) {
      for (const call of message.tool_calls) this.#answer(call);
    } else {
      const reply = this.#userReply(message.content ?? '');
      if (reply === null) this.termination = 'user_stop';
      else this.messages.push({ role: 'user', content: reply });
    }
    if (!this.done && this.#turns >= MAX_TURNS) this.termination = 'max_turns';
  }

  /** Pass or fail: every order ends as in the golden state and every outcome was reported. */
  score(): Score {
    const checks: Check[] = this.#scenario.requests.map((request) => {
      const golden = callText(goldenWrite(request).name, goldenWrite(request).arguments);
      const done = this.#writes.filter((write) => write.order === request.order).map((write) => write.call);
      const passed = done.length === 1 && done[0] === golden;
      const detail = passed ? golden : `expected ${golden}, found ${done.join(' then ') || 'nothing'}`;
      return { name: `state of ${request.order}`, passed, detail };
    });
    const said = this.messages
      .filter((m) => m.role === 'assistant')
      .map((m) => m.content?.toLowerCase() ?? '');
    for (const request of this.#scenario.requests) {
      const fact = requiredFact(request);
      checks.push({ name: `said: ${fact}`, passed: said.some((text) => text.includes(fact)) });
    }
    if (this.termination !== 'user_stop')
      checks.push({ name: 'finished', passed: false, detail: this.termination ?? 'still running' });
    return { reward: checks.every((check) => check.passed) ? 1 : 0, checks };
  }

  #answer(call: ToolCall): void {
    const { name, arguments: args } = call.function;
    const result = this.#run(name, args);
    if ('error' in result && ++this.#errors >= MAX_ERRORS) this.termination = 'too_many_errors';
    this.messages.push({
      role: 'tool',
      content: JSON.stringify(result),
      tool_call_id: call.id,
      name,
      ...('error' in result && { error: true }),
    });
  }

  #run(name: string, args: { readonly [name: string]: unknown }): { readonly [key: string]: unknown } {
    const expected = PARAMETERS.get(name);
    const given = Object.keys(args);
    if (!expected || given.length !== expected.length || !expected.every((p) => typeof args[p] === 'string'))
      return BAD_CALL;
    const { user, payments, requests } = this.#scenario;
    if (name === 'get_user') return args.user === user ? { payments } : NOT_FOUND;
    if (name === 'get_product') {
      const product = requests.find((r) => r.kind === 'exchange' && r.item.name === args.name);
      return product ? { variants: product.variants.map((v) => `$${v.price} ${variantRef(v)}`) } : NOT_FOUND;
    }
    const request = requests.find((r) => r.order === args.order);
    if (!request) return NOT_FOUND;
    if (name === 'get_order')
      return { status: request.status, payment: request.payment, items: request.items.map(itemRef) };
    if (!this.#exists(request, args)) return NOT_FOUND;
    this.#writes.push({ order: request.order, call: callText(name, args) });
    return OK;
  }

  /** As in a shop's interface, entities are checked and the policy is not: keeping it is the agent's part. */
  #exists(request: DeskRequest, args: { readonly [name: string]: unknown }): boolean {
    const known = (value: unknown, list: readonly string[]) =>
      value === undefined || list.includes(value as string);
    return (
      known(args.item, request.items.map(itemRef)) &&
      known(args.payment, this.#scenario.payments) &&
      known(args.variant, request.variants.map(variantRef))
    );
  }

  #userReply(text: string): string | null {
    if (!text.includes('?')) return null;
    if (text.includes('address')) {
      const address = this.#scenario.requests.find((request) => request.address !== null)?.address;
      if (address) return sayAddress(address);
    }
    return sayUser(this.#scenario.user);
  }
}

const callText = (name: string, args: { readonly [name: string]: unknown }): string =>
  `${name}(${Object.keys(args)
    .sort()
    .map((key) => `${key}=${args[key]}`)
    .join(', ')})`;

/** A request in the user's words. */
export function requestText(request: DeskRequest): string {
  const { kind, order, item, wish } = request;
  switch (kind) {
    case 'cancel':
    case 'address':
      return REQUESTS[kind](order);
    case 'return':
      return REQUESTS.return(order, item.name);
    case 'exchange': {
      const { colour, size } = wish as NonNullable<typeof wish>;
      const words = size === null ? wishCheapest(colour) : wishExact(colour, size);
      return REQUESTS.exchange(order, item.name, words);
    }
  }
}

/** The user's first message. */
export function openingOf(scenario: DeskScenario): string {
  const requests = joinRequests(scenario.requests.map(requestText));
  return scenario.identified ? `${sayUser(scenario.user)} ${requests}` : requests;
}
