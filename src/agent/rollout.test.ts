import { describe, expect, test } from 'vitest';
import { LetterEnvironment } from '../../test/support/letter-environment.js';
import { type Script, ScriptedEngine } from '../../test/support/scripted-engine.js';
import { FORGETFUL_TEMPLATE, LOCAL_TEMPLATE, NUMBERED_TEMPLATE } from '../../test/support/templates.js';
import { ChatFormat } from './chat-format.js';
import type { RolloutOptions } from './contract.js';
import { runRollouts, toTrajectory } from './rollout.js';

const OPTIONS: RolloutOptions = {
  policy: { kind: 'base' },
  temperature: 1,
  seed: 5,
  maxTurnTokens: 80,
  concurrency: 4,
};
const say = (letter: string) => `{"name":"say","arguments":{"letter":"${letter}"}}`;
/** Repeats the letter that was asked for last. */
const obedient: Script = (prompt) => say(prompt.slice(prompt.lastIndexOf('say ') + 4)[0]!);
const requests = (n: number, hint = false) =>
  Array.from({ length: n }, (_, i) => ({ scenario: i, trial: i % 2, hint }));

describe('exact tokens', () => {
  test.each([
    ['local', LOCAL_TEMPLATE],
    ['numbered', NUMBERED_TEMPLATE],
    ['forgetful', FORGETFUL_TEMPLATE],
  ])(
    '%s template: sampled ids are kept, everything else is the rendered conversation',
    async (_, template) => {
      const engine = new ScriptedEngine(template, obedient);
      const environment = new LetterEnvironment(['a', 'b', 'c'], 3);
      const [rollout] = await runRollouts(engine, environment, requests(1), OPTIONS);
      expect(rollout!.score.reward).toBe(1);
      expect(rollout!.turns).toBe(3);
      const [sequence, ...others] = rollout!.sequences;
      expect(others).toEqual([]);
      const { tokens, sampled, logprobs, promptLength } = sequence!;
      const { tokenizer } = engine;
      // The text is the template's own rendering of the conversation up to the last turn, tool results aside.
      const upToLast = rollout!.messages.slice(0, -2);
      const prompt = new ChatFormat(tokenizer, template).render(upToLast, environment.tools);
      const last = rollout!.messages.at(-2)!;
      expect(last.role).toBe('assistant');
      // The template would write the calls with tags and another spacing: what was sampled stays.
      const shown = prompt.replaceAll(/<\/?tool_call>/g, '').replaceAll('"letter": "', '"letter":"');
      expect(tokenizer.decode(tokens)).toBe(`${shown}${say(rollout!.scenario.letters[2]!)}<|im_end|>`);
      // Sampled tokens are the engine's spelling, with its log-probabilities; the others were never sampled.
      const turns = rollout!.scenario.letters.map((l) => [...tokenizer.spell(say(l)), 1]);
      expect(tokens.filter((_, t) => sampled[t])).toEqual(turns.flat());
      expect(logprobs).toEqual(tokens.map((token, t) => (sampled[t] ? -token / 8 : 0)));
      expect(sampled.indexOf(true)).toBe(promptLength);
      // Each prompt that the engine saw is a prefix of the sequence.
      for (const request of engine.requests)
        expect(request.tokens).toEqual(tokens.slice(0, request.tokens.length));
    },
  );

  test('thinking that the next prompt leaves out starts a new sequence, one a turn here', async () => {
    const engine = new ScriptedEngine(FORGETFUL_TEMPLATE, (p, r) => `<think>hm</think>${obedient(p, r)}`);
    const [rollout] = await runRollouts(engine, new LetterEnvironment(), requests(1), OPTIONS);
    expect(rollout!.turns).toBe(2);
    expect(rollout!.sequences).toHaveLength(2);
    const second = engine.tokenizer.decode(rollout!.sequences[1]!.tokens);
    expect(second.match(/<think>/g)).toHaveLength(1);
    expect(rollout!.sequences.map((s) => s.sampled.filter(Boolean).length)).toEqual(
      rollout!.scenario.letters.map((l) => engine.tokenizer.spell(`<think>hm</think>${say(l)}`).length + 1),
    );
  });

  test('also when only an earlier turn thought', async () => {
    const engine: ScriptedEngine = new ScriptedEngine(FORGETFUL_TEMPLATE, (p, r) =>
      engine.requests.length === 1 ? `<think>hm</think>${obedient(p, r)}` : obedient(p, r),
    );
    const [rollout] = await runRollouts(engine, new LetterEnvironment(['a', 'b'], 3), requests(1), OPTIONS);
    expect(rollout!.turns).toBe(3);
    // The thought is gone from the second prompt on; from there each prompt extends the one before it.
    expect(rollout!.sequences.map((s) => engine.tokenizer.decode(s.tokens).includes('<think>'))).toEqual([
      true,
      false,
    ]);
  });

  test('the hint is in the prompt, and the prompt without it is kept beside it', async () => {
    const engine = new ScriptedEngine(LOCAL_TEMPLATE, obedient);
    const [hinted] = await runRollouts(engine, new LetterEnvironment(), requests(1, true), OPTIONS);
    const [plain] = await runRollouts(engine, new LetterEnvironment(), requests(1), OPTIONS);
    const [sequence] = hinted!.sequences;
    expect(engine.tokenizer.decode(sequence!.tokens)).toContain('<expert_guidance>');
    const [other] = plain!.sequences;
    expect(sequence!.promptWithoutHint).toEqual(other!.tokens.slice(0, other!.promptLength));
    expect(other!.promptWithoutHint).toBeUndefined();
  });

  test('routes stand at the sampled tokens', async () => {
    const engine = new ScriptedEngine(LOCAL_TEMPLATE, obedient);
    const [rollout] = await runRollouts(engine, new LetterEnvironment(), requests(1), {
      ...OPTIONS,
      routes: true,
    });
    const { tokens, sampled, routes } = rollout!.sequences[0]!;
    expect(routes).toEqual(tokens.map((token, t) => (sampled[t] ? [token % 3] : [])));
  });
});

describe('episodes', () => {
  test('results do not depend on timing or concurrency, and stand in the order of the requests', async () => {
    const policy: Script = async (prompt, { seed }) => {
      await new Promise((resolve) => setTimeout(resolve, (seed >>> 3) % 4));
      return seed % 3 === 0 ? say('a') : obedient(prompt, {} as never);
    };
    const run = (concurrency: number) =>
      runRollouts(new ScriptedEngine(LOCAL_TEMPLATE, policy), new LetterEnvironment(), requests(12), {
        ...OPTIONS,
        concurrency,
      });
    const one = await run(1);
    expect(await run(7)).toEqual(one);
    expect(one.map((r) => r.request.scenario)).toEqual([...Array(12).keys()]);
    expect(new Set(one.map((r) => r.score.reward)).size).toBeGreaterThan(1);
  });

  test('every turn has its own seed, and another run seed gives others', async () => {
    const seeds = async (seed: number) => {
      const engine = new ScriptedEngine(LOCAL_TEMPLATE, obedient);
      await runRollouts(engine, new LetterEnvironment(), requests(6), { ...OPTIONS, seed });
      return engine.requests.map((r) => r.seed);
    };
    const [a, b] = [await seeds(1), await seeds(2)];
    expect(new Set([...a, ...b]).size).toBe(24);
  });

  test('turns that are malformed or too long end the episode through the environment', async () => {
    const broken = await runRollouts(
      new ScriptedEngine(LOCAL_TEMPLATE, () => '{"name":'),
      new LetterEnvironment(),
      requests(1),
      OPTIONS,
    );
    expect(broken[0]).toMatchObject({ termination: 'malformed', score: { reward: 0 }, turns: 1 });
    const long = await runRollouts(
      new ScriptedEngine(LOCAL_TEMPLATE, () => say('a')),
      new LetterEnvironment(),
      requests(1),
      { ...OPTIONS, maxTurnTokens: 10 },
    );
    expect(long[0]!.termination).toBe('malformed');
    expect(long[0]!.messages.at(-1)).toMatchObject({ malformed: 'the turn did not end within 10 tokens' });
    expect(long[0]!.broken).toBeUndefined();
  });

  test('a conversation that outgrows the context ends as such, with reward 0', async () => {
    const prompt = new ScriptedEngine(LOCAL_TEMPLATE, obedient);
    await runRollouts(prompt, new LetterEnvironment(['a'], 2), requests(1), OPTIONS);
    const second = prompt.requests[1]!.tokens.length;
    for (const context of [second - 3, second, second + 5]) {
      const engine = new ScriptedEngine(LOCAL_TEMPLATE, obedient, context);
      const [rollout] = await runRollouts(engine, new LetterEnvironment(['a'], 2), requests(1), OPTIONS);
      expect(rollout).toMatchObject({ termination: 'context', score: { reward: 0 } });
      expect(rollout!.sequences[0]!.tokens.length).toBeLessThanOrEqual(context);
    }
  });

  test('an exception of the environment makes the attempt broken, and no other', async () => {
    const environment = new LetterEnvironment(['a', 'b'], 2, (scenario, turn) => {
      if (scenario.seed === 1 && turn === 1) throw new Error('the database is gone');
    });
    const engine = new ScriptedEngine(LOCAL_TEMPLATE, obedient);
    const rollouts = await runRollouts(engine, environment, requests(3), OPTIONS);
    expect(rollouts.map((r) => r.broken)).toEqual([undefined, 'the database is gone', undefined]);
    expect(engine.released).toEqual(new Set(engine.requests.map((r) => r.sequence)));
    const trajectories = rollouts.map((r) => toTrajectory(r, environment));
    expect(trajectories.map((t) => [t.outcome, t.reward])).toEqual([
      ['passed', 1],
      ['excluded', null],
      ['passed', 1],
    ]);
    expect(trajectories[0]).toMatchObject({ id: 'letters-0/0', source: 'rollout', termination: 'user_stop' });
  });

  test('an exception of the engine stops everything, once the running attempts came to rest', async () => {
    let running = 0;
    const engine = new ScriptedEngine(LOCAL_TEMPLATE, async (prompt, request) => {
      running++;
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
      if (engine.requests.length > 5) throw new Error('no more memory');
      return obedient(prompt, request);
    });
    const all = runRollouts(engine, new LetterEnvironment(), requests(40), OPTIONS);
    await expect(all).rejects.toThrow('no more memory');
    expect(running).toBe(0);
    expect(engine.requests.length).toBeLessThan(20);
  });

  test('an aborted signal stops it with the signal’s reason', async () => {
    const controller = new AbortController();
    const engine = new ScriptedEngine(LOCAL_TEMPLATE, (prompt, request) => {
      if (engine.requests.length === 3) controller.abort(new Error('stopped by the user'));
      return obedient(prompt, request);
    });
    const all = runRollouts(engine, new LetterEnvironment(), requests(40), {
      ...OPTIONS,
      signal: controller.signal,
    });
    await expect(all).rejects.toThrow('stopped by the user');
    expect(engine.requests.length).toBeLessThan(10);
  });
});
