import type { OpenOptions, SplitName, Target } from '../../environment/contract.js';
import type { Reference } from '../../trajectory/trajectory.js';
import { DeskEpisode, MAX_TURNS } from './episode.js';
import { deskReference } from './reference.js';
import { capabilitiesOf, type DeskScenario } from './scenario.js';
import { scenarioOf, splitSeeds } from './splits.js';
import { DESK_TOOL_KINDS, DESK_TOOLS } from './tools.js';
import { HINT, SYSTEM_PROMPT } from './wording.js';

/**
 * The embedded target: a customer-service desk in miniature, after τ-bench retail. The user asks for two or
 * three things and gives the user id and a new address only when asked; the verdict is pass or fail.
 */
export const desk: Target<DeskScenario> = {
  name: 'desk',
  family: 'tool-use',
  successThreshold: 1,
  tools: DESK_TOOLS,
  toolKinds: DESK_TOOL_KINDS,
  maxTurns: MAX_TURNS,
  systemPrompt: (_scenario: DeskScenario, options?: OpenOptions): string =>
    options?.hint ? `${SYSTEM_PROMPT}${HINT}` : SYSTEM_PROMPT,
  scenario: scenarioOf,
  open(scenario: DeskScenario, options?: OpenOptions): DeskEpisode {
    return new DeskEpisode(scenario, this.systemPrompt(scenario, options));
  },
  reference: (scenario: DeskScenario): Reference => deskReference(scenario),
  capabilitiesOf: (scenario: DeskScenario): readonly string[] => capabilitiesOf(scenario),
  split: (name: SplitName, size?: number): readonly number[] => splitSeeds(name, size),
};
