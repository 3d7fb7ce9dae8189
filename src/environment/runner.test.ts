import { describe, expect, test } from 'vitest';
import { LetterEnvironment } from '../../test/support/letter-environment.js';
import type { AssistantMessage } from '../trajectory/trajectory.js';
import { playTurns } from './runner.js';

const environment = new LetterEnvironment(['a', 'b'], 3);
const scenario = environment.scenario(4);
const say = (letter: string, i: number): AssistantMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: `call_${i}`, type: 'function', function: { name: 'say', arguments: { letter } } }],
});

describe('playing given turns', () => {
  test('the right ones reach the end; what is left over is not played', async () => {
    const turns = [...scenario.letters.map(say), say('a', 9)];
    const played = await playTurns(environment, scenario, turns);
    expect(played).toMatchObject({ done: true, termination: 'user_stop', turns: 3, score: { reward: 1 } });
    expect(played.messages.filter((message) => message.role === 'assistant')).toEqual(turns.slice(0, 3));
  });

  test('too few leave it unfinished, scored as it stands', async () => {
    const played = await playTurns(environment, scenario, [say(scenario.letters[0]!, 0)]);
    expect(played).toMatchObject({ done: false, termination: null, turns: 1 });
    expect(played.score.reward).toBeCloseTo(1 / 3, 12);
  });

  test('a function sees the conversation so far and may stop', async () => {
    const seen: number[] = [];
    const played = await playTurns(
      environment,
      scenario,
      (messages) => {
        seen.push(messages.length);
        const asked = messages.at(-1)!.content!.at(-1)!;
        return seen.length > 2 ? null : say(asked, seen.length);
      },
      { hint: true },
    );
    // System and first request; then each turn adds the call, its result and the next request.
    expect(seen).toEqual([2, 5, 8]);
    expect(played.score.reward).toBeCloseTo(2 / 3, 12);
    expect(played.messages[0]!.content).toContain('<expert_guidance>');
  });

  test('an endless policy is stopped at the most turns of the environment', async () => {
    const patient = new LetterEnvironment(['a'], 2);
    const played = await playTurns({ ...proxy(patient), maxTurns: 1 }, patient.scenario(0), () =>
      say('b', 0),
    );
    expect(played).toMatchObject({ turns: 1, done: false });
  });
});

/** The environment's members as an object's own, so that one can be replaced. */
const proxy = (from: LetterEnvironment) => ({
  name: from.name,
  tools: from.tools,
  toolKinds: from.toolKinds,
  maxTurns: from.maxTurns,
  systemPrompt: from.systemPrompt.bind(from),
  scenario: from.scenario.bind(from),
  open: from.open.bind(from),
});
