import { expect, test } from 'vitest';
import target from '../examples/starter/environment.js';
import type { AssistantMessage, ReferenceAction } from '../src/index.js';

/** The environment that `trace init` writes has to be a right one: people start from it. */

const call = ({ name, arguments: given }: ReferenceAction, id: string): AssistantMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: given } }],
});

async function play(seed: number, actions: readonly ReferenceAction[]): Promise<number> {
  const episode = await target.open(target.scenario(seed));
  for (const [i, action] of actions.entries()) await episode.act(call(action, String(i)));
  await episode.act({ role: 'assistant', content: 'Done.' });
  expect(episode.done).toBe(true);
  return (await episode.score()).reward;
}

test('the reference passes, and doing otherwise fails', async () => {
  let redirected = 0;
  for (const seed of target.split('test', 60)) {
    const scenario = target.scenario(seed);
    const { actions } = target.reference!(scenario);
    expect(await play(seed, actions)).toBe(1);
    const write = actions.find((action) => action.kind === 'write');
    if (write) {
      redirected++;
      expect(await play(seed, [])).toBe(0);
    } else {
      const { id } = scenario.parcels[scenario.wanted]!;
      const wrong = {
        name: 'redirect_parcel',
        arguments: { id, address: 'elsewhere' },
        kind: 'write',
      } as const;
      expect(await play(seed, [wrong])).toBe(0);
    }
  }
  // The two kinds of task are a coin's two sides: 60 throws, 5 standard deviations around 30.
  expect(Math.abs(redirected - 30)).toBeLessThan(20);
});

test('scenarios depend on the seed alone, and splits have no seed in common', () => {
  expect(target.scenario(5)).toEqual(target.scenario(5));
  expect(target.scenario(5)).not.toEqual(target.scenario(6));
  const seeds = (['train', 'validation', 'test', 'shift'] as const).flatMap((name) => target.split(name));
  expect(new Set(seeds).size).toBe(seeds.length);
});
