import type { AuthoredEnvironment } from '../../src/analyst/contract.js';
import type { ToolKind, ToolSchema, Trajectory } from '../../src/trajectory/trajectory.js';

const tool = (name: string, parameter: string): ToolSchema => ({
  type: 'function',
  function: {
    name,
    description: name,
    parameters: { type: 'object', properties: { [parameter]: { type: 'string' } }, required: [parameter] },
  },
});
export const TINY_TOOLS: readonly ToolSchema[] = [
  tool('look', 'box'),
  tool('open', 'box'),
  tool('refuse', 'box'),
];
export const TINY_KINDS: { readonly [tool: string]: ToolKind } = {
  look: 'read',
  open: 'write',
  refuse: 'handover',
};

/**
 * A whole capability environment in forty lines: a box may be opened when it is green and has to be refused when it
 * is red. Tests break it in one place at a time.
 */
const SOURCE = `
import type { CapabilityEnvironment } from 'trace-agents';
const TOOLS = ${JSON.stringify(TINY_TOOLS)};
const KINDS = ${JSON.stringify(TINY_KINDS)};
interface Settings { readonly level: number; readonly red: number }
const mix = (n: number) => { let t = Math.imul(n ^ (n >>> 15), 0x2c1b3c6d); t = Math.imul(t ^ (t >>> 12), 0x297a2d39); return ((t ^ (t >>> 15)) >>> 0) / 4294967296; };
const call = (name: string, box: string) => ({ role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name, arguments: { box } } }] });
const say = (content: string) => ({ role: 'assistant', content });
export default (settings: Settings) => ({
  name: 'tiny', capability: 'looking_first', maxTurns: 8,
  rationale: 'Boxes are looked at first. Colours differ. The same holds in the target.',
  tools: TOOLS, toolKinds: KINDS,
  systemPrompt: () => 'Open green boxes. Refuse red ones. Level ' + settings.level + '.',
  scenario: (seed: number) => ({ seed, id: 'tiny-' + seed, box: 'b' + Math.floor(mix(seed + 1) * 1e9), red: mix(seed + 7777) < settings.red }),
  open(scenario: { box: string; red: boolean }) {
    const messages: unknown[] = [{ role: 'system', content: this.systemPrompt() }, { role: 'user', content: 'Open box ' + scenario.box + '.' }];
    const log: string[] = [];
    const episode = {
      messages, done: false, termination: null as string | null,
      act(message: { content: string | null; malformed?: string; tool_calls?: { id: string; function: { name: string; arguments: { box: string } } }[] }) {
        messages.push(message);
        if (message.malformed || !message.tool_calls) { episode.done = true; episode.termination = 'agent_stop'; return; }
        for (const { id, function: { name, arguments: { box } } } of message.tool_calls) {
          const known = box === scenario.box;
          if (known && name !== 'look') log.push(name);
          messages.push({ role: 'tool', tool_call_id: id, content: JSON.stringify(known ? (name === 'look' ? { colour: scenario.red ? 'red' : 'green' } : { ok: true }) : { error: 'no box' }) });
        }
      },
      score: () => ({ reward: episode.done && log.join() === (scenario.red ? 'refuse' : 'open') ? 1 : 0, checks: [] }),
    };
    return episode;
  },
  oracle: (scenario: { box: string; red: boolean }) => [call('look', scenario.box), call(scenario.red ? 'refuse' : 'open', scenario.box), say('done')],
  mistakes: (scenario: { box: string; red: boolean }) => [{ name: 'decides without looking', turns: [call(scenario.red ? 'open' : 'refuse', scenario.box), say('done')] }],
}) as unknown as CapabilityEnvironment;
`;

/** The tiny environment with one part of its text replaced. */
export function tinyEnvironment(
  replace?: readonly [from: string, to: string],
  level = 1,
): AuthoredEnvironment {
  if (replace && !SOURCE.includes(replace[0])) throw new Error(`nothing to replace: ${replace[0]}`);
  return {
    source: replace ? SOURCE.replace(replace[0], replace[1]) : SOURCE,
    card: '# looking_first\n',
    settings: { level, red: 0.5 },
  };
}

/** A rollout of a target with the same tools and result shapes. */
export const tinyTrajectory = (box = 'b12', id = 'task-1'): Trajectory => ({
  id,
  taskId: id,
  trial: 0,
  source: 'rollout',
  messages: [
    { role: 'system', content: 'Open green boxes.' },
    { role: 'user', content: `Open box ${box} for my aunt.` },
    ...(['look', 'open', 'refuse'] as const).flatMap((name) => [
      {
        role: 'assistant' as const,
        content: null,
        tool_calls: [{ id: name, type: 'function' as const, function: { name, arguments: { box } } }],
      },
      {
        role: 'tool' as const,
        tool_call_id: name,
        content: name === 'look' ? '{"colour":"red"}' : '{"ok":true}',
      },
    ]),
  ],
  tools: TINY_TOOLS,
  reward: 0,
  outcome: 'failed',
  termination: 'agent_stop',
  reference: {
    actions: [
      { name: 'look', arguments: { box }, kind: 'read' },
      { name: 'open', arguments: { box }, kind: 'write' },
    ],
    requiredFacts: [],
    toolKinds: TINY_KINDS,
  },
  metadata: {},
});
