import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ScriptedEngine } from '../../test/support/scripted-engine.js';
import { LOCAL_TEMPLATE } from '../../test/support/templates.js';
import {
  TINY_KINDS,
  TINY_TOOLS,
  tinyEnvironment,
  tinyTrajectory,
} from '../../test/support/tiny-environment.js';
import type { AuthoredEnvironment, Capability, Finding } from '../analyst/contract.js';
import { loadCapabilityEnvironment } from '../environment/load-generated.js';
import { digestTree } from '../run/digest.js';
import type { RunEvent } from '../run/events.js';
import { writeJsonWhole } from '../run/files.js';
import { runPaths } from '../run/paths.js';
import { Random } from '../run/random.js';
import { writeTrajectories } from '../trajectory/store.js';
import type { SynthesisOptions } from './options.js';
import { runSynthesis, type SynthesisDeps } from './synthesis-step.js';

let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'synthesis-'));
  await run(folder, ['looking', 'opening']);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function run(target: string, capabilities: readonly string[]): Promise<void> {
  writeJsonWhole(runPaths.capabilities(target), {
    capabilities: [
      ...capabilities.map((name) => ({ name, definition: `Shows ${name}.`, retained: true })),
      { name: 'style', definition: 'Not retained.', retained: false },
    ],
  });
  await writeTrajectories(runPaths.baseTrajectories(target), [tinyTrajectory()]);
}

/** An agent that looks first and then decides rightly with a chance that falls with the level. */
const RATES = [0.02, 0.4, 0.9];
function engine(): ScriptedEngine {
  const scripted = new ScriptedEngine(LOCAL_TEMPLATE, (prompt, request) => {
    const box = /Open box (b\d+)/.exec(prompt)![1]!;
    const call = (name: string) => `{"name":"${name}","arguments":{"box":"${box}"}}`;
    if (prompt.includes('"ok":true')) return 'done';
    const colour = /"colour":"(red|green)"/.exec(prompt)?.[1];
    if (!colour) return call('look');
    const right = new Random(request.seed).chance(RATES[Number(/Level (\d)/.exec(prompt)![1])]!);
    return call((colour === 'red') === right ? 'refuse' : 'open');
  });
  scripted.hash = async () => 'base';
  return scripted;
}

const analyst = (start = 1) => ({
  name: 'scripted',
  asked: [] as string[],
  async author({ name }: Capability): Promise<AuthoredEnvironment> {
    this.asked.push(name);
    if (name === 'impossible') throw new Error('no archetype shows the capability impossible');
    return tinyEnvironment(undefined, start);
  },
  async repair(environment: AuthoredEnvironment, findings: readonly Finding[]): Promise<AuthoredEnvironment> {
    const level = Number(environment.settings.level) + (findings[0]!.check === 'too hard' ? 1 : -1);
    return RATES[level] === undefined ? environment : tinyEnvironment(undefined, level);
  },
});

const OPTIONS: Partial<SynthesisOptions> = {
  checkSeeds: 40,
  calibrationSeeds: 12,
  calibrationGroup: 8,
  rounds: 3,
};
const deps = (author = analyst(), sampler = engine()): SynthesisDeps => ({
  engine: sampler,
  analyst: author,
  target: { name: 'boxes', tools: TINY_TOOLS, toolKinds: TINY_KINDS, maxTurns: 8, successThreshold: 1 },
});
const events: RunEvent[] = [];
const context = (signal = new AbortController().signal) => ({
  folder,
  seed: 3,
  signal,
  emit: (event: RunEvent) => void events.push(event),
});
const read = (...path: string[]) => JSON.parse(readFileSync(join(folder, 'environments', ...path), 'utf8'));

test('writes an environment for each retained capability and each pair, checked and calibrated', async () => {
  const summary = await runSynthesis(context(), OPTIONS, deps());
  expect(summary.environments.map(({ capability, accepted }) => [capability, accepted])).toEqual([
    ['looking', true],
    ['opening', true],
  ]);
  expect(summary.pairs.map(({ capability }) => capability)).toEqual(['looking+opening']);
  expect(readdirSync(join(folder, 'environments', 'looking')).sort()).toEqual([
    'CARD.md',
    'calibration.json',
    'calibration.jsonl',
    'checks.json',
    'environment.ts',
    'settings.json',
    'status.json',
  ]);
  const environment = await loadCapabilityEnvironment(runPaths.environment(folder, 'looking'));
  expect(environment.capability).toBe('looking_first');
  expect(existsSync(join(folder, 'environments', 'pairs', 'looking+opening', 'environment.ts'))).toBe(true);

  const calibration = read('looking', 'calibration.json');
  expect(calibration).toMatchObject({ accepted: true, rollouts: 96, groupSize: 8, chosen: 1 });
  // 96 attempts at 0.4: standard deviation 0.05; four of them.
  expect(Math.abs(calibration.figures.successRate - 0.4)).toBeLessThan(0.2);
  const lines = readFileSync(join(folder, 'environments', 'looking', 'calibration.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  const rewards = lines.map((line) => JSON.parse(line).reward as number);
  expect(rewards.filter((reward) => reward === 1).length / 96).toBeCloseTo(
    calibration.figures.successRate,
    12,
  );
});

test('moves the difficulty into range, and counts every rollout it took', async () => {
  await runSynthesis(context(), OPTIONS, deps(analyst(2)));
  expect(read('looking', 'settings.json').level).toBe(1);
  expect(
    read('looking', 'calibration.json').rounds.map(({ verdict }: { verdict: string }) => verdict),
  ).toEqual(['too easy', expect.stringMatching(/in range|usable/)]);
  expect(read('looking', 'status.json').rollouts).toBe(192);
  expect(read('summary.json').rollouts).toBe(384);
});

test('what stays too easy is kept for reading and marked: it is not trained on', async () => {
  events.length = 0;
  const failing = runSynthesis(context(), { ...OPTIONS, rounds: 1 }, deps(analyst(2)));
  await expect(failing).rejects.toThrow(/no environment was accepted/);
  expect(read('looking', 'calibration.json')).toMatchObject({ accepted: false, verdict: 'too easy' });
  expect(existsSync(join(folder, 'environments', 'looking', 'environment.ts'))).toBe(true);
  expect(events).toContainEqual(
    expect.objectContaining({
      type: 'message',
      level: 'warning',
      text: expect.stringMatching(/looking is not trained on: too easy/),
    }),
  );
});

test('a capability that nobody can write an environment for does not stop the others', async () => {
  await run(folder, ['impossible', 'looking']);
  const summary = await runSynthesis(context(), OPTIONS, deps());
  expect(summary.environments).toMatchObject([
    { capability: 'impossible', accepted: false, rollouts: 0, reason: expect.stringMatching(/no archetype/) },
    { capability: 'looking', accepted: true },
  ]);
  expect(summary.pairs).toEqual([]);
  expect(read('impossible', 'calibration.json').accepted).toBe(false);
});

test('an environment that fails its checks costs no rollout', async () => {
  const broken = analyst();
  broken.author = async () => tinyEnvironment(['Math.floor(mix(seed + 1) * 1e9)', '(seed % 3)']);
  broken.repair = async (environment) => environment;
  const sampler = engine();
  await expect(runSynthesis(context(), OPTIONS, deps(broken, sampler))).rejects.toThrow(/no environment/);
  expect(sampler.requests).toEqual([]);
  expect(read('looking', 'status.json').reason).toMatch(/checks failed: diversity/);
});

test('stopped and started again, it repeats nothing that was finished and ends with the same bytes', async () => {
  await runSynthesis(context(), OPTIONS, deps());
  const whole = digestTree(join(folder, 'environments'));
  rmSync(join(folder, 'environments'), { recursive: true });

  const stop = new AbortController();
  const sampler = engine();
  const { script } = sampler;
  const dying = Object.assign(sampler, {
    script: (...args: Parameters<typeof script>) => {
      // In the middle of the second environment's calibration.
      if (sampler.requests.length === 350) stop.abort(new Error('stopped'));
      return script(...args);
    },
  });
  await expect(runSynthesis(context(stop.signal), OPTIONS, deps(analyst(), dying))).rejects.toThrow(
    'stopped',
  );
  expect(existsSync(join(folder, 'environments', 'looking', 'status.json'))).toBe(true);
  expect(existsSync(join(folder, 'environments', 'opening', 'status.json'))).toBe(false);

  const again = analyst();
  await runSynthesis(context(), OPTIONS, deps(again));
  expect(again.asked).toEqual(['opening', 'looking+opening']);
  expect(digestTree(join(folder, 'environments'))).toBe(whole);
});

test('other inputs make another environment', async () => {
  await runSynthesis(context(), OPTIONS, deps());
  const again = analyst();
  await runSynthesis(context(), { ...OPTIONS, checkSeeds: 50 }, deps(again));
  expect(again.asked).toEqual(['looking', 'opening', 'looking+opening']);
});

test('says which step is missing', async () => {
  rmSync(runPaths.baseTrajectories(folder));
  await expect(runSynthesis(context(), OPTIONS, deps())).rejects.toThrow(/no base rollouts/);
  writeFileSync(runPaths.capabilities(folder), '{"capabilities": [{"name": "Bad Name"}]}');
  await expect(runSynthesis(context(), OPTIONS, deps())).rejects.toThrow(
    /capabilities\[0\] needs a snake_case name/,
  );
  rmSync(runPaths.capabilities(folder));
  await expect(runSynthesis(context(), OPTIONS, deps())).rejects.toThrow(/there is no diagnosis/);
  await run(folder, []);
  await expect(runSynthesis(context(), OPTIONS, deps())).rejects.toThrow(/no capability was retained/);
});
