import type { CapabilityEnvironment, OpenOptions } from '../../../../environment/contract.js';
import type { Reference, ReferenceAction } from '../../../../trajectory/trajectory.js';
import { ServiceEpisode } from './episode.js';
import type { ServiceScenario } from './records.js';
import { makeScenario } from './scenario.js';
import { mistakesOf, solve } from './solutions.js';
import type { Settings, World } from './world.js';

/** The environment: `world` is what was learned of the target, `settings` what is in question. */
export function createService(world: World, settings: Settings): CapabilityEnvironment<ServiceScenario> {
  const systemPrompt = (_: ServiceScenario, options?: OpenOptions) =>
    options?.hint
      ? `${world.systemPrompt}\n<expert_guidance>${world.hint}</expert_guidance>`
      : world.systemPrompt;
  return {
    name: `${world.name}/${settings.capability}`,
    capability: settings.capability,
    rationale: settings.rationale,
    tools: world.tools,
    toolKinds: world.kinds,
    maxTurns: world.maxTurns,
    systemPrompt,
    scenario: (seed) => makeScenario(world, settings, seed),
    open: (scenario, options) =>
      new ServiceEpisode(world, settings, scenario, systemPrompt(scenario, options)),
    oracle: (scenario) => solve(world, scenario, (i) => scenario.actions[i]!, scenario.facts),
    mistakes: (scenario) => mistakesOf(world, scenario),
    reference: (scenario): Reference => ({
      actions: scenario.actions.map(
        (action): ReferenceAction => ({
          name: action.tool,
          arguments: action.arguments,
          kind: world.kinds[action.tool] ?? 'write',
        }),
      ),
      requiredFacts: scenario.facts,
      toolKinds: world.kinds,
    }),
  };
}
