import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataFolder, Tau2DataError } from './data.js';
import type { Task } from './task.js';

/** What the benchmark tells the agent; part of what a result means, so kept to the letter. */
const AGENT = `You are a customer service agent that helps the user according to the <policy> provided below.
In each turn you can either:
- Send a message to the user.
- Make a tool call.
You cannot do both at the same time.

Try to be helpful and always follow the policy. Always make sure you generate valid JSON only.`;

const SOLO = `You are a customer service agent that helps the user according to the <policy> provided below.
You will be provided with a ticket that contains the user's request.
You will need to plan and call the appropriate tools to solve the ticket.

You cannot communicate with the user, only make tool calls.
Stop when you consider that you have solved the ticket.
To do so, send a message containing a single tool call to the \`done\` tool. Do not include any other tool calls in this last message.

Always follow the policy. Always make sure you generate valid JSON only.`;

export const agentPrompt = (policy: string): string =>
  `<instructions>\n${AGENT}\n</instructions>\n<policy>\n${policy}\n</policy>`;

export const soloPrompt = (policy: string, ticket: string): string =>
  `<instructions>\n${SOLO}\n</instructions>\n<policy>\n${policy}\n</policy>\n<ticket>\n${ticket}\n</ticket>`;

/**
 * What whoever plays the user is told: the guidelines of the checkout (other ones where the user has tools) and
 * the task's scenario.
 * @throws Tau2DataError where the checkout has no guidelines.
 */
export function userPrompt(data: string, task: Task, hasTools: boolean): string {
  return `${readGuidelines(data, hasTools)}\n\n<scenario>\n${task.userScenario}\n</scenario>`;
}

/** The guidelines file of the checkout, without the place for a persona of the run. */
export function readGuidelines(data: string, hasTools: boolean): string {
  const folder = dataFolder(data);
  const name = hasTools ? 'simulation_guidelines_tools.md' : 'simulation_guidelines.md';
  const path = [join(folder, 'user_simulator', name), join(folder, name)].find((file) => existsSync(file));
  if (!path)
    throw new Tau2DataError(`${join(folder, 'user_simulator', name)} is missing: the user is told by it`);
  return readFileSync(path, 'utf8').replace('<PERSONA_GUIDELINES>', '');
}
