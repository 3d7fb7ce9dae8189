import { runRollouts } from '../agent/rollout.js';
import type { Engine, MixtureHandle, Tokenizer } from '../engine/contract.js';
import type { Target } from '../environment/contract.js';
import type { StepContext } from '../run/step.js';

/** One token of the example, and where it went. */
export interface RoutedToken {
  readonly text: string;
  /** Who wrote it: `system`, `user`, `assistant`, `tool`, or `template` for marks between the turns. */
  readonly role: string;
  /** Slot in every layer; only for tokens that the mixture wrote. */
  readonly slots?: readonly number[];
}

/** `evaluation/routing-example.json`: the token routing of one held-out trajectory, and of many in sum. */
export interface RoutingExample {
  readonly task: string;
  readonly seed: number;
  readonly passed: boolean;
  /** Whether the base model fails this task, so that the example shows what routing repairs. */
  readonly baseFails: boolean;
  /** Name of every slot; slot 0 is `none`. */
  readonly slots: readonly string[];
  readonly tokens: readonly RoutedToken[];
  /** share[layer][slot] of the written tokens over `tasks` held-out tasks. */
  readonly usage: { readonly tasks: number; readonly share: readonly (readonly number[])[] };
}

/** Tasks whose routing is summed, and among which the example is looked for. */
export const ROUTED_TASKS = 32;

/**
 * Runs the mixture greedily on the first held-out tasks and keeps the routing: of one that it passes and the base
 * fails where there is such a task, else of one that it passes, else of the first.
 * @param basePassed outcome of the base on the same tasks, by seed; empty when it is not known.
 */
export async function recordRouting(
  context: StepContext,
  engine: Engine,
  target: Target,
  mixture: MixtureHandle,
  capabilities: readonly string[],
  basePassed: ReadonlyMap<number, boolean>,
  options: { readonly seeds: readonly number[]; readonly maxTurnTokens: number; readonly seed: number },
): Promise<RoutingExample> {
  const seeds = options.seeds.slice(0, ROUTED_TASKS);
  const rollouts = await runRollouts(
    engine,
    target,
    seeds.map((scenario) => ({ scenario, trial: 0 })),
    {
      policy: mixture,
      temperature: 0,
      seed: options.seed,
      maxTurnTokens: options.maxTurnTokens,
      concurrency: ROUTED_TASKS,
      routes: true,
      signal: context.signal,
    },
  );
  const passes = (index: number) => rollouts[index]!.score.reward >= target.successThreshold;
  const indices = rollouts.map((_, i) => i);
  const chosen =
    indices.find((i) => passes(i) && basePassed.get(seeds[i]!) === false) ?? indices.find(passes) ?? 0;
  const rollout = rollouts[chosen]!;
  const routed = rollouts.flatMap(({ sequences }) =>
    sequences.flatMap(({ routes, sampled }) => (routes ?? []).filter((_, t) => sampled[t])),
  );
  const { layers } = engine.info;
  const share = Array.from({ length: layers }, (_, layer) =>
    Array.from({ length: capabilities.length + 1 }, (_, slot) => {
      const hits = routed.filter((slots) => slots[layer] === slot).length;
      return routed.length === 0 ? 0 : hits / routed.length;
    }),
  );
  return {
    task: rollout.scenario.id,
    seed: rollout.request.scenario,
    passed: passes(chosen),
    baseFails: basePassed.get(seeds[chosen]!) === false,
    slots: ['none', ...capabilities],
    tokens: rollout.sequences.flatMap((sequence) =>
      labelTokens(engine.tokenizer, sequence.tokens, sequence.sampled, sequence.routes),
    ),
    usage: { tasks: seeds.length, share },
  };
}

const ROLES = ['system', 'user', 'assistant', 'tool'];

/**
 * Texts and roles of a sequence's tokens. Roles are read off the marks that chat templates write: `<|user|>`, or
 * `<|im_start|>` and the role in words; a tool's answer inside the user's turn stands in `<tool_response>`.
 */
export function labelTokens(
  tokenizer: Tokenizer,
  tokens: readonly number[],
  sampled: readonly boolean[],
  routes?: readonly (readonly number[])[],
): RoutedToken[] {
  let role = 'system';
  let header = false;
  return tokens.map((token, t) => {
    const text = tokenizer.decode([token]);
    if (sampled[t]) {
      header = false;
      const slots = routes?.[t];
      return { text, role: 'assistant', ...(slots && slots.length > 0 ? { slots } : {}) };
    }
    const mark = /^<\|?\/?([a-z_]+)\|?>$/.exec(text.trim())?.[1];
    if (mark !== undefined) {
      if (ROLES.includes(mark)) role = mark;
      else if (mark === 'tool_response') role = text.includes('/') ? 'user' : 'tool';
      header = mark === 'im_start' || mark === 'start_header_id';
      return { text, role: 'template' };
    }
    if (header) {
      const name = text.trim();
      if (ROLES.includes(name)) role = name;
      if (name === '' || text.includes('\n')) header = false;
      return { text, role: 'template' };
    }
    return { text, role };
  });
}
