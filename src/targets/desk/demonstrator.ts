import type { Random } from '../../run/random.js';
import type { AssistantMessage } from '../../trajectory/trajectory.js';
import { goldenWrite } from './reference.js';
import {
  type DeskCapability,
  type DeskRequest,
  type DeskScenario,
  usesPayment,
  variantRef,
} from './scenario.js';
import { ASK_ADDRESS, ASK_USER, joinReport, reportFact } from './wording.js';
import { OUTCOMES } from './words.js';

/** Probability that the demonstrator decides rightly, one number a capability; 1 where nothing is planted. */
export type RightRates = { readonly [capability in DeskCapability]: number };

/** Deficits that are planted, switchable one by one. */
export type DeskDeficits = { readonly [capability in DeskCapability]?: boolean };

export const COMPETENT: RightRates = { selection: 1, precondition: 1, completion: 1, arguments: 1 };

/** Rates of a demonstrator that has the given deficits: right with probability `right` where one is planted. */
export function ratesOf(deficits: DeskDeficits, right = 0.25): RightRates {
  const rate = (capability: DeskCapability) => (deficits[capability] ? right : 1);
  return {
    selection: rate('selection'),
    precondition: rate('precondition'),
    completion: rate('completion'),
    arguments: rate('arguments'),
  };
}

/**
 * The scripted demonstrator: the assistant turns of one whole episode. Wrong decisions are those of a hasty
 * agent: the first variant listed (selection), the write without a look at the status (precondition), the
 * report after some of the requests (completion), the first payment on file (arguments).
 */
export function demonstrate(scenario: DeskScenario, random: Random, rates: RightRates): AssistantMessage[] {
  const turns: AssistantMessage[] = [];
  let calls = 0;
  const say = (content: string) => turns.push({ role: 'assistant', content });
  const call = (name: string, args: { readonly [name: string]: unknown }) =>
    turns.push({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: `call_${calls++}`, type: 'function', function: { name, arguments: args } }],
    });
  if (!scenario.identified) say(ASK_USER);
  call('get_user', { user: scenario.user });
  const facts: string[] = [];
  for (const [i, request] of scenario.requests.entries()) {
    if (i > 0 && !random.chance(rates.completion)) break;
    call('get_order', { order: request.order });
    if (!request.allowed && random.chance(rates.precondition)) {
      call('transfer', { order: request.order });
      facts.push(reportFact(request.order, OUTCOMES.transfer));
      continue;
    }
    if (request.kind === 'exchange') call('get_product', { name: request.item.name });
    if (request.kind === 'address') say(ASK_ADDRESS);
    const write = intendedWrite(scenario, request, random, rates);
    call(write.name, write.arguments);
    facts.push(reportFact(request.order, OUTCOMES[request.kind]));
  }
  say(joinReport(facts));
  return turns;
}

/** The write of a request as if it were allowed, with the demonstrator's choices of variant and payment. */
function intendedWrite(
  scenario: DeskScenario,
  request: DeskRequest,
  random: Random,
  rates: RightRates,
): { readonly name: string; readonly arguments: { readonly [name: string]: unknown } } {
  const write = goldenWrite({ ...request, allowed: true });
  if (!usesPayment(request)) return write;
  const args = { ...write.arguments };
  if (request.kind === 'exchange' && !random.chance(rates.selection))
    args.variant = variantRef(request.variants[0] as (typeof request.variants)[number]);
  if (!random.chance(rates.arguments)) args.payment = scenario.payments[0];
  return { name: write.name, arguments: args };
}

/** The turns of a faultless agent; they pass every scenario. */
export const oracle = (scenario: DeskScenario, random: Random): AssistantMessage[] =>
  demonstrate(scenario, random, COMPETENT);
