import type { CapabilityEnvironment, Scenario } from '../environment/contract.js';
import { Random } from '../run/random.js';
import type { AssistantMessage, Message, ToolSchema } from '../trajectory/trajectory.js';

/** A policy without the capability: it may look at the conversation, and at what the verifier wants said. */
export interface Cheat {
  readonly name: string;
  turns(
    environment: CapabilityEnvironment,
    scenario: Scenario,
  ): readonly AssistantMessage[] | ((messages: readonly Message[]) => AssistantMessage | null);
}

const say = (content: string): AssistantMessage => ({ role: 'assistant', content });
const call = (name: string, args: { readonly [name: string]: unknown }, n: number): AssistantMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: `call_${n}`, type: 'function', function: { name, arguments: args } }],
});

const parameters = (tool: ToolSchema): string[] => {
  const { required, properties } = tool.function.parameters as { required?: string[]; properties?: object };
  return required ?? Object.keys(properties ?? {});
};

/** Strings and numbers that a conversation shows: words of the texts, and whole leaves of the results. */
function visibleValues(messages: readonly Message[]): string[] {
  const values: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === 'string' || typeof value === 'number') values.push(String(value));
    else if (value && typeof value === 'object') Object.values(value).forEach(walk);
  };
  for (const { role, content } of messages) {
    if (role === 'user') values.push(...(content.match(/[\p{L}\p{N}$#_-]+/gu) ?? []));
    if (role !== 'tool') continue;
    try {
      walk(JSON.parse(content));
    } catch {
      values.push(content);
    }
  }
  return values;
}

const readTools = (environment: CapabilityEnvironment): ToolSchema[] =>
  environment.tools.filter((tool) => environment.toolKinds[tool.function.name] === 'read');

/** Policies that must not pay, whatever the environment is about. */
export const CHEATS: readonly Cheat[] = [
  { name: 'do nothing', turns: () => [say('')] },
  {
    name: 'reply at once',
    turns: (environment, scenario) => {
      const facts = environment.reference?.(scenario).requiredFacts ?? [];
      return [say(facts.length > 0 ? facts.join(', ') : 'Everything is done.')];
    },
  },
  {
    name: 'echo',
    turns: () => {
      let said = false;
      return (messages) => {
        if (said) return null;
        said = true;
        return say(String(messages.findLast((message) => message.role === 'user')?.content ?? ''));
      };
    },
  },
  {
    name: 'repeat reads',
    turns: (environment, scenario) => {
      const random = new Random(scenario.seed, 'repeat reads');
      const [tool] = readTools(environment);
      let n = 0;
      return (messages) => {
        if (!tool || n++ >= 8) return say('Done.');
        const values = visibleValues(messages);
        return call(
          tool.function.name,
          Object.fromEntries(
            parameters(tool).map((name) => [name, values.length > 0 ? random.pick(values) : '']),
          ),
          n,
        );
      };
    },
  },
  {
    name: 'random valid calls',
    turns: (environment, scenario) => {
      const random = new Random(scenario.seed, 'random calls');
      let n = 0;
      return (messages) => {
        if (n++ >= 8) return say((environment.reference?.(scenario).requiredFacts ?? ['Done.']).join(', '));
        const values = visibleValues(messages);
        const tool = random.pick(environment.tools);
        return call(
          tool.function.name,
          Object.fromEntries(
            parameters(tool).map((name) => [name, values.length > 0 ? random.pick(values) : '']),
          ),
          n,
        );
      };
    },
  },
];

/**
 * The oracle's turns with every change replaced by a hand-over: what an agent earns that reads everything and then
 * always gives the case away. Null where the environment has no hand-over.
 */
export function alwaysHandOver(
  environment: CapabilityEnvironment,
  oracle: readonly AssistantMessage[],
): readonly AssistantMessage[] | null {
  const handover = environment.tools.find((tool) => environment.toolKinds[tool.function.name] === 'handover');
  if (!handover) return null;
  return oracle.map((turn) => ({
    ...turn,
    ...(turn.tool_calls
      ? {
          tool_calls: turn.tool_calls.map((one) => {
            if (environment.toolKinds[one.function.name] !== 'write') return one;
            const args = Object.entries(one.function.arguments).filter(([name]) =>
              parameters(handover).includes(name),
            );
            return {
              ...one,
              function: { name: handover.function.name, arguments: Object.fromEntries(args) },
            };
          }),
        }
      : {}),
  }));
}
