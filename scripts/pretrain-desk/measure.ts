import type { Rollout } from '../../src/agent/contract.js';
import { runRollouts } from '../../src/agent/rollout.js';
import type { Engine } from '../../src/engine/contract.js';
import { desk } from '../../src/targets/desk/desk.js';
import {
  DESK_CAPABILITIES,
  type DeskCapability,
  type DeskScenario,
  itemRef,
  usesPayment,
  variantRef,
} from '../../src/targets/desk/scenario.js';
import type { ToolCall } from '../../src/trajectory/trajectory.js';

interface Count {
  right: number;
  of: number;
}

/** Measured behaviour of a policy on desk. */
export interface Behaviour {
  readonly episodes: number;
  readonly passed: number;
  /** Decisions of each capability where a careless agent goes wrong, and how many were right. */
  readonly decisions: { readonly [capability in DeskCapability]: Count };
  /** Episodes with a call of something that does not exist, or of an item that was not meant. */
  readonly copyErrors: number;
  /** Of these, episodes that passed all the same. */
  readonly recovered: number;
  /** Episodes that ended by anything but the agent's report, or with a call that no tool takes. */
  readonly formatErrors: number;
}

/**
 * Plays tasks with the base policy at temperature 1 (0: greedy).
 * @param seeds scenario seeds; the validation split, as a rule, never the tests.
 */
export async function measure(
  engine: Engine,
  seeds: readonly number[],
  temperature: number,
): Promise<Behaviour> {
  const rollouts = await runRollouts(
    engine,
    desk,
    seeds.map((scenario) => ({ scenario, trial: 0 })),
    { policy: { kind: 'base' }, temperature, seed: 11, maxTurnTokens: 64, concurrency: 64 },
  );
  return behaviourOf(rollouts);
}

export function behaviourOf(rollouts: readonly Rollout<DeskScenario>[]): Behaviour {
  const decisions = Object.fromEntries(DESK_CAPABILITIES.map((c) => [c, { right: 0, of: 0 }])) as {
    [capability in DeskCapability]: Count;
  };
  const decide = (capability: DeskCapability, right: boolean) => {
    decisions[capability].of++;
    if (right) decisions[capability].right++;
  };
  let passed = 0;
  let copyErrors = 0;
  let recovered = 0;
  let formatErrors = 0;
  for (const { scenario, messages, score, termination } of rollouts) {
    if (score.reward === 1) passed++;
    const results = messages.filter((m) => m.role === 'tool').map((m) => m.content);
    const calls = messages.flatMap((m) => (m.role === 'assistant' ? (m.tool_calls ?? []) : []));
    const writes = calls.filter((call) => desk.toolKinds[call.function.name] !== 'read');
    let slipped = results.some((content) => content.includes('not found'));
    let handled = 0;
    for (const request of scenario.requests) {
      const write = lastWrite(writes, request.order);
      if (!write) continue;
      handled++;
      const args = write.function.arguments;
      if (!request.allowed) {
        decide('precondition', write.function.name === 'transfer');
        continue;
      }
      if (!usesPayment(request)) continue;
      if (args.item !== itemRef(request.item)) slipped = true;
      if (request.variant && request.variant !== request.variants[0] && args.variant !== undefined)
        decide('selection', args.variant === variantRef(request.variant));
      if (request.payment !== scenario.payments[0] && args.payment !== undefined)
        decide('arguments', args.payment === request.payment);
    }
    for (let i = 1; i < scenario.requests.length && i <= handled; i++) decide('completion', i < handled);
    if (slipped) copyErrors++;
    if (slipped && score.reward === 1) recovered++;
    if (termination !== 'user_stop' || results.some((content) => content.includes('bad call')))
      formatErrors++;
  }
  return { episodes: rollouts.length, passed, decisions, copyErrors, recovered, formatErrors };
}

const lastWrite = (writes: readonly ToolCall[], order: string): ToolCall | undefined =>
  writes.filter((call) => call.function.arguments.order === order).at(-1);

export function formatBehaviour(b: Behaviour): string {
  const percent = (n: number) => `${((100 * n) / b.episodes).toFixed(1)} %`;
  const rates = DESK_CAPABILITIES.map((c) => {
    const { right, of } = b.decisions[c];
    return `${c} ${(right / of).toFixed(2)} (${of})`;
  });
  return [
    `passed ${percent(b.passed)} of ${b.episodes}`,
    `right choices: ${rates.join(', ')}`,
    `copy errors ${percent(b.copyErrors)} (${percent(b.recovered)} passed all the same)`,
    `format errors ${percent(b.formatErrors)}`,
  ].join('; ');
}
