import type { CapabilityEnvironment, Scenario } from '../environment/contract.js';
import { canonicalJson } from '../run/digest.js';
import type { AssistantMessage, Trajectory } from '../trajectory/trajectory.js';
import type { EnvironmentCheck } from './checks.js';

/**
 * Share of scenarios that may coincide with a training task by chance: targets with few ids (a hundred, say) meet
 * the same simple request again now and then, though nothing was copied.
 */
export const MOST_COINCIDENCES = 0.01;

/**
 * Looks for tasks of the target in an environment: a training request in its text, or scenarios whose whole
 * solution (every call with every argument) or request is one of the target's.
 */
export function findLeaks(
  environment: CapabilityEnvironment,
  scenarios: readonly Scenario[],
  source: string,
  trajectories: readonly Trajectory[],
): EnvironmentCheck {
  const requests = new Set<string>();
  const solutions = new Set<string>();
  for (const { messages, reference } of trajectories) {
    const request = messages.find(({ role }) => role === 'user')?.content;
    if (request) requests.add(request);
    if (reference) solutions.add(fingerprint(reference.actions));
  }
  const copied = [...requests].filter(
    (request) => source.includes(request) || source.includes(JSON.stringify(request).slice(1, -1)),
  );
  if (copied.length > 0)
    return {
      name: 'no target data',
      passed: false,
      detail: `the source holds ${copied.length} request(s) of the training tasks, such as ${JSON.stringify(copied[0])}`,
    };
  const same = scenarios.filter((scenario) => {
    const calls = environment.oracle(scenario).flatMap((turn: AssistantMessage) => turn.tool_calls ?? []);
    return solutions.has(
      fingerprint(calls.map(({ function: { name, arguments: args } }) => ({ name, arguments: args }))),
    );
  });
  const share = same.length / scenarios.length;
  return {
    name: 'no target data',
    passed: share <= MOST_COINCIDENCES,
    detail: `${same.length} of ${scenarios.length} scenarios have the solution of a training task (at most ${100 * MOST_COINCIDENCES} %, by chance)`,
    figures: { coincidences: same.length, seeds: scenarios.length },
  };
}

const fingerprint = (actions: readonly { readonly name: string; readonly arguments: unknown }[]): string =>
  canonicalJson(actions.map(({ name, arguments: args }) => [name, args]));
