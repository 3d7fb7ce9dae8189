/**
 * Episodes a second with a scripted agent, 64 at a time: in this process and in each sandbox. An episode is a
 * scenario, an attempt from its first message to its last and its score; the turns are computed beforehand, as an
 * agent is no part of what is measured.
 *
 * `npm run bench:sandbox -- [FOLDER]`: a folder with `environment.ts`; absent, the small one of the tests.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CapabilityEnvironment } from '../src/environment/contract.js';
import { type GeneratedSettings, instantiateEnvironment } from '../src/environment/load-generated.js';
import { playTurns } from '../src/environment/runner.js';
import { tryBubblewrap } from '../src/environment/sandbox/choose.js';
import { openSandboxedSource } from '../src/environment/sandbox/open.js';
import type { AssistantMessage } from '../src/trajectory/trajectory.js';
import { tinyEnvironment } from '../test/support/tiny-environment.js';

const CONCURRENCY = 64;
const ROUNDS = 5;

const folder = process.argv[2];
const { source, settings } = folder
  ? {
      source: readFileSync(join(folder, 'environment.ts'), 'utf8'),
      settings: JSON.parse(readFileSync(join(folder, 'settings.json'), 'utf8')) as GeneratedSettings,
    }
  : tinyEnvironment();
const episodes = Number(process.env.EPISODES ?? 2000);

const trusted = instantiateEnvironment(source, settings);
const turns: (readonly AssistantMessage[])[] = [];
for (let seed = 0; seed < episodes; seed++) turns.push(trusted.oracle(trusted.scenario(seed)));

/** Plays all seeds; episodes a second, and the sum of the rewards. */
async function play(environment: CapabilityEnvironment): Promise<{ rate: number; reward: number }> {
  let next = 0;
  let reward = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      while (next < episodes) {
        const seed = next++;
        const { score } = await playTurns(environment, environment.scenario(seed), turns[seed]!);
        reward += score.reward;
      }
    }),
  );
  return { rate: (1000 * episodes) / (performance.now() - began), reward };
}

const opened: [string, CapabilityEnvironment & { close?(): Promise<void> }][] = [
  ['in this process', trusted],
];
const { failure } = await tryBubblewrap();
if (failure === null)
  opened.push(['bubblewrap', await openSandboxedSource(source, settings, { kind: 'bubblewrap' })]);
else console.log(`bubblewrap is left out: ${failure}`);
opened.push(['quickjs', await openSandboxedSource(source, settings, { kind: 'quickjs' })]);

// In turns, so that what else the machine does falls on all alike; the median counts.
const rates = new Map<string, number[]>(opened.map(([name]) => [name, []]));
let expected = Number.NaN;
for (let round = 0; round <= ROUNDS; round++)
  for (const [name, environment] of opened) {
    const { rate, reward } = await play(environment);
    if (Number.isNaN(expected)) expected = reward;
    if (reward !== expected) throw new Error(`${name} scores ${reward} where ${expected} is right`);
    if (round > 0) rates.get(name)!.push(rate);
  }
const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]!;
const base = median(rates.get('in this process')!);
for (const [name, values] of rates)
  console.log(
    `${name.padEnd(16)} ${median(values).toFixed(0).padStart(7)} episodes/s  ${((100 * median(values)) / base).toFixed(0).padStart(4)} %`,
  );
for (const [, environment] of opened) await environment.close?.();
