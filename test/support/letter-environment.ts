import type { Environment, Episode, OpenOptions, Scenario } from '../../src/environment/contract.js';
import { Random } from '../../src/run/random.js';
import type { AssistantMessage, Message, ToolSchema } from '../../src/trajectory/trajectory.js';

export interface LetterScenario extends Scenario {
  readonly letters: readonly string[];
}

const TOOLS: ToolSchema[] = [
  {
    type: 'function',
    function: {
      name: 'say',
      parameters: { type: 'object', properties: { letter: { type: 'string' } }, required: ['letter'] },
    },
  },
];

/**
 * A tiny environment for tests: the user asks for letters one after the other, and each has to be given back by
 * the tool `say`; a text ends the episode. The reward is the share of letters said right.
 */
export class LetterEnvironment implements Environment<LetterScenario> {
  readonly name: string = 'letters';
  readonly tools = TOOLS;
  readonly toolKinds = { say: 'write' } as const;
  readonly maxTurns: number;

  constructor(
    readonly alphabet: readonly string[] = ['a', 'b', 'c'],
    readonly length = 2,
    /** Called before each turn: a test may break the infrastructure here. */
    readonly before: (scenario: LetterScenario, turn: number) => void | Promise<void> = () => {},
  ) {
    this.maxTurns = 2 * length + 2;
  }

  systemPrompt(scenario: LetterScenario, options?: OpenOptions): string {
    return options?.hint ? `rules <expert_guidance>${scenario.letters.join('')}</expert_guidance>` : 'rules';
  }

  scenario(seed: number): LetterScenario {
    const random = new Random(seed).fork('letters');
    const letters = Array.from({ length: this.length }, () => random.pick(this.alphabet));
    return { seed, id: `letters-${seed}`, letters };
  }

  open(scenario: LetterScenario, options?: OpenOptions): Episode {
    const { letters } = scenario;
    const before = this.before;
    const messages: Message[] = [
      { role: 'system', content: this.systemPrompt(scenario, options) },
      { role: 'user', content: `say ${letters[0]}` },
    ];
    let right = 0;
    let asked = 0;
    let turn = 0;
    let termination: string | null = null;
    return {
      messages,
      get done() {
        return termination !== null;
      },
      get termination() {
        return termination;
      },
      async act(message: AssistantMessage) {
        if (termination !== null) throw new Error('the episode is over');
        await before(scenario, turn++);
        messages.push(message);
        const calls = message.tool_calls ?? [];
        if (message.malformed !== undefined) termination = 'malformed';
        else if (calls.length === 0) termination = 'agent_stop';
        if (termination !== null) return;
        for (const call of calls) {
          if (call.function.arguments.letter === letters[asked]) right++;
          messages.push({ role: 'tool', content: 'heard', tool_call_id: call.id, name: call.function.name });
          asked++;
        }
        if (asked < letters.length) messages.push({ role: 'user', content: `say ${letters[asked]}` });
        else termination = 'user_stop';
      },
      score() {
        const reward = Math.min(1, right / letters.length);
        return { reward, checks: [{ name: 'letters', passed: reward === 1 }] };
      },
    };
  }
}
