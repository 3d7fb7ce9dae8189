import { afterAll, expect, test } from 'vitest';
import { BASE_POLICY, Sampler } from './sampler.js';
import { tinyAdapter, tinyConfig, tinyParameters, tinyPrompt } from './test-model.js';

const base = tinyParameters();
const two = new Sampler(tinyConfig, base, { workers: 2, rows: 8 });
const one = new Sampler(tinyConfig, base, { workers: 1, rows: 3 });
afterAll(async () => {
  await two.close();
  await one.close();
});

const request = (i: number) => ({
  policy: BASE_POLICY,
  tokens: tinyPrompt(i, 3 + 9 * i),
  maxTokens: 20,
  temperature: 1,
  seed: i,
  stop: [0],
});

test('two threads, one thread: the same tokens', async () => {
  const requests = Array.from({ length: 12 }, (_, i) => request(i));
  const inTwo = await Promise.all(requests.map((fields) => two.sample(fields)));
  const inOne = await Promise.all(requests.reverse().map((fields) => one.sample(fields)));
  expect(inTwo).toEqual(inOne.reverse());
});

test('sequences go on where they were, across turns and releases', async () => {
  const play = async (sampler: Sampler, named: boolean) =>
    Promise.all(
      Array.from({ length: 6 }, async (_, i) => {
        const transcript = tinyPrompt(i, 12);
        for (let turn = 0; turn < 3; turn++) {
          const sequence = named ? { sequence: `episode ${i}` } : {};
          const { tokens } = await sampler.sample({
            ...request(i),
            ...sequence,
            tokens: transcript,
            seed: turn,
          });
          transcript.push(...tokens, ...tinyPrompt(turn, 4));
        }
        sampler.releaseSequence(`episode ${i}`);
        return transcript;
      }),
    );
  const continued = await play(two, true);
  expect(continued).toEqual(await play(one, false));
  expect(await play(one, true)).toEqual(continued);
});

test('new weights of a policy count from the next request on', async () => {
  const { policy: _, ...fields } = request(2);
  two.setPolicy('a', { kind: 'adapter', adapter: tinyAdapter(1) });
  const first = two.sample({ ...fields, policy: 'a', sequence: 's' });
  two.setPolicy('a', { kind: 'adapter', adapter: tinyAdapter(2) });
  const second = two.sample({ ...fields, policy: 'a', sequence: 's' });
  two.setPolicy('b', { kind: 'adapter', adapter: tinyAdapter(2) });
  const other = two.sample({ ...fields, policy: 'b' });
  expect(await second).toEqual(await other);
  expect(await first).not.toEqual(await second);
  two.removePolicy('a');
  await expect(two.sample({ ...fields, policy: 'a' })).rejects.toThrow('unknown policy "a"');
});

test('the event loop stays free while it samples', async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const requests = Array.from({ length: 40 }, (_, i) => ({ ...request(i % 10), maxTokens: 60, stop: [] }));
  await Promise.all(requests.map((fields) => two.sample(fields)));
  clearInterval(timer);
  expect(turns).toBeGreaterThan(5);
});

test('senseless requests are refused by name', async () => {
  await expect(one.sample({ ...request(0), tokens: [] })).rejects.toThrow('at least one token');
  await expect(one.sample({ ...request(0), tokens: [3, 40] })).rejects.toThrow('token 40 at position 1');
  await expect(one.sample({ ...request(0), tokens: [-1] })).rejects.toThrow('token -1');
  await expect(one.sample({ ...request(0), maxTokens: 0 })).rejects.toThrow('maxTokens');
  await expect(one.sample({ ...request(0), temperature: -1 })).rejects.toThrow('temperature');
  await expect(one.sample({ ...request(0), seed: 0.5 })).rejects.toThrow('seed');
});

test('closing rejects what is in progress', async () => {
  const sampler = new Sampler(tinyConfig, base, { workers: 1 });
  const waiting = expect(sampler.sample({ ...request(1), maxTokens: 100, stop: [] })).rejects.toThrow(
    'closed',
  );
  await sampler.close();
  await waiting;
  await expect(sampler.sample(request(1))).rejects.toThrow('closed');
});

test('weights that do not fit fail the request, not the sampler', async () => {
  two.setPolicy('broken', { kind: 'mixture', adapters: [tinyAdapter(1)], gates: {} });
  await expect(two.sample({ ...request(1), policy: 'broken' })).rejects.toThrow('lacks');
  expect((await two.sample(request(1))).tokens.length).toBeGreaterThan(0);
});
