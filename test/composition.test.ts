import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { runComposition } from '../src/composition/composition-step.js';
import { digestTree } from '../src/run/digest.js';
import type { RunEvent } from '../src/run/events.js';
import { runPaths } from '../src/run/paths.js';
import { tabularEngine } from './support/tabular-engine.js';
import { CAPABILITIES, context, dyingEngine, tabularBase, tabularRun } from './support/tabular-world.js';

const folders: string[] = [];
const newRun = (strength?: number) => {
  const folder = tabularRun(strength);
  folders.push(folder);
  return folder;
};
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
const settings = { rollouts: 40, pairRollouts: 16, learningRate: 0.2, batchTokens: 64 };
const readJson = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'));

test('the gates learn, from passed episodes alone, to open each adapter where it is right', async () => {
  const folder = newRun();
  const engine = tabularEngine(tabularBase());
  const result = await runComposition(context(folder), settings, { engine });

  const adapters = [];
  for (const name of result.slots) adapters.push(await engine.loadAdapter(runPaths.adapter(folder, name)));
  const mixture = await engine.gates!.loadMixture(runPaths.composed(folder), adapters);
  for (const [slot, name] of Object.keys(CAPABILITIES).entries())
    for (const question of CAPABILITIES[name]!) {
      const { tokens, routes } = await engine.sample({
        policy: mixture,
        tokens: engine.tokenizer.encode(`<|user|>q${question}<|end|><|assistant|>`),
        maxTokens: 4,
        temperature: 0,
        seed: 1,
        stop: engine.tokenizer.eosTokenIds,
        routes: true,
      });
      expect(engine.tokenizer.decode(tokens)).toBe(`a${question}<|end|>`);
      expect(routes![0]).toEqual([slot + 1]);
    }

  // One layer, hidden size 6, three adapters and the base: 1 × (6 × 4 + 4).
  expect(result.gateParameters).toBe(28);
  expect(result.rollouts).toBe(3 * 40 + 3 * 16);
  expect(result.fits.map((fit) => fit.epochLoss.length)).toEqual([4, 4]);
  expect(result.fits[1]!.examples).toBeGreaterThan(result.fits[0]!.examples);
  const pairs = readJson(runPaths.composed(folder), 'pairs.json');
  expect(pairs.map((pair: { pair: string[] }) => pair.pair)).toEqual([
    ['alpha', 'beta'],
    ['alpha', 'gamma'],
    ['beta', 'gamma'],
  ]);
  // Two right answers of probability e^5/(e^5+5) each: 0.935. Misrouted ones would pass 0.1 or less.
  for (const { rate } of pairs) expect(rate).toBeGreaterThan(0.6);
});

test('a run killed at any completion ends with the same bytes, and repeats no finished environment', async () => {
  const whole = newRun();
  const events: RunEvent[] = [];
  const uninterrupted = tabularEngine(tabularBase());
  await runComposition(context(whole, events), settings, { engine: uninterrupted });
  const expected = digestTree(runPaths.composed(whole));

  for (const death of [1, 45, 100, 130, 170]) {
    const folder = newRun();
    const dying = dyingEngine(death);
    await expect(runComposition(context(folder), settings, { engine: dying })).rejects.toThrow('killed');
    expect(dying.held).toBe(0);
    const second = tabularEngine(tabularBase());
    await runComposition(context(folder), settings, { engine: second });
    expect(digestTree(runPaths.composed(folder))).toBe(expected);
    expect(second.held).toBe(0);
    // Whole environments (40 one-turn episodes each) that were done before are not played again.
    const finished = Math.min(3, Math.floor(death / 40));
    expect(second.sampled).toBeLessThanOrEqual(uninterrupted.sampled - 40 * finished);
  }
});

test('what was made from another adapter is made again', async () => {
  const folder = newRun();
  await runComposition(context(folder), settings, { engine: tabularEngine(tabularBase()) });
  const again = tabularEngine(tabularBase());
  await runComposition(context(folder), settings, { engine: again });
  expect(again.sampled).toBe(0);

  const other = newRun(3);
  rmSync(runPaths.adapter(folder, 'alpha'), { recursive: true });
  const { cpSync } = await import('node:fs');
  cpSync(runPaths.adapter(other, 'alpha'), runPaths.adapter(folder, 'alpha'), { recursive: true });
  await runComposition(context(folder), settings, { engine: again });
  expect(again.sampled).toBeGreaterThan(0);
});

test('a base or adapter that does not stay frozen is found, and nothing is saved', async () => {
  const folder = newRun();
  const engine = tabularEngine(tabularBase());
  const { hash, optimStep } = engine;
  let steps = 0;
  engine.optimStep = (...args) => {
    steps++;
    return optimStep(...args);
  };
  engine.hash = async (policy) => (policy.kind === 'base' && steps > 0 ? 'moved' : hash(policy));
  await expect(runComposition(context(folder), settings, { engine })).rejects.toThrow(
    /changed the base model; nothing was saved/,
  );
  expect(existsSync(join(runPaths.composed(folder), 'composition.json'))).toBe(false);
  expect(existsSync(join(runPaths.composed(folder), 'gate.safetensors'))).toBe(false);
});

test('without adapters, or with adapters that pass nothing, the error says what to do', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'trace-run-'));
  folders.push(empty);
  const engine = tabularEngine(tabularBase());
  await expect(runComposition(context(empty), settings, { engine })).rejects.toThrow(/no adapters/);

  // Answers that are never right: no episode passes.
  const folder = newRun(-60);
  const never = tabularEngine(tabularBase());
  const events: RunEvent[] = [];
  await expect(runComposition(context(folder, events), settings, { engine: never })).rejects.toThrow(
    /no adapter passed an episode/,
  );
  expect(events.filter((event) => event.type === 'message' && event.level === 'warning')).toHaveLength(3);
});
