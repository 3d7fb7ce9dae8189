import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ModelConfig } from '../src/engine/local/model/config.js';
import { initializeGates } from '../src/engine/local/model/gates.js';
import { initializeAdapter } from '../src/engine/local/model/lora.js';
import { initializeParameters } from '../src/engine/local/model/parameters.js';
import { BASE_POLICY, Sampler } from '../src/engine/local/sample/sampler.js';
import { Random } from '../src/run/random.js';

/** The shape of the reference, and the embedded target's. */
const REFERENCE_SHAPE: ModelConfig = {
  vocabularySize: 512,
  hiddenSize: 128,
  layers: 4,
  heads: 4,
  kvHeads: 4,
  headDim: 32,
  intermediateSize: 384,
  ropeTheta: 10000,
  rmsEps: 1e-6,
  tied: false,
  queryKeyNorm: false,
  context: 512,
  eosTokenIds: [],
};
const DESK_SHAPE: ModelConfig = {
  ...REFERENCE_SHAPE,
  kvHeads: 2,
  intermediateSize: 352,
  tied: true,
  queryKeyNorm: true,
};
const NEW_TOKENS = 127;
const REPEATS = 3;
const ROUNDS = 3;
/** An agent's episode: a prompt that all share and one of its own, then turns with a tool's answer between. */
const EPISODE = { shared: 60, own: 20, turns: 5, sampled: 16, answer: 24 };

interface Rate {
  readonly best: number;
  readonly median: number;
}

/** Tokens per second of several runs; `run` returns how many tokens it made. */
async function rate(run: (repeat: number) => Promise<number>): Promise<Rate> {
  await run(0);
  const rates: number[] = [];
  for (let repeat = 1; repeat <= REPEATS; repeat++) {
    const start = performance.now();
    const tokens = await run(repeat);
    rates.push((1000 * tokens) / (performance.now() - start));
  }
  rates.sort((a, b) => b - a);
  return { best: rates[0] as number, median: rates[rates.length >> 1] as number };
}

const tokensOf = (random: Random, count: number, size: number): number[] =>
  Array.from({ length: count }, () => random.int(size));

/** Completions of 127 tokens after a prompt of one: decoding alone. */
function decoding(sampler: Sampler, policy: string, rows: number): Promise<Rate> {
  return rate(async (repeat) => {
    const random = new Random(repeat).fork('decode', rows);
    const results = await Promise.all(
      Array.from({ length: rows }, (_, seed) =>
        sampler.sample({
          policy,
          tokens: tokensOf(random, 1, REFERENCE_SHAPE.vocabularySize),
          maxTokens: NEW_TOKENS,
          temperature: 1,
          seed,
          stop: [],
        }),
      ),
    );
    return results.reduce((sum, { tokens }) => sum + tokens.length, 0);
  });
}

/** Episodes of several turns; all tokens count that a sampler without shared prefixes has to feed. */
function episodes(sampler: Sampler, rows: number): Promise<Rate> {
  return rate(async (repeat) => {
    const size = REFERENCE_SHAPE.vocabularySize;
    const prompt = tokensOf(new Random(1), EPISODE.shared, size);
    const lengths = await Promise.all(
      Array.from({ length: rows }, async (_, i) => {
        const random = new Random(repeat).fork('episode', i);
        const sequence = `${repeat}/${i}`;
        const transcript = [...prompt, ...tokensOf(random, EPISODE.own, size)];
        for (let turn = 0; turn < EPISODE.turns; turn++) {
          if (turn > 0) transcript.push(...tokensOf(random, EPISODE.answer, size));
          const { tokens } = await sampler.sample({
            policy: BASE_POLICY,
            tokens: transcript,
            maxTokens: EPISODE.sampled,
            temperature: 1,
            seed: turn,
            stop: [],
            sequence,
          });
          transcript.push(...tokens);
        }
        sampler.releaseSequence(sequence);
        return transcript.length;
      }),
    );
    return lengths.reduce((a, b) => a + b, 0);
  });
}

/**
 * Another engine's `decode2.mjs` at the same shape: tokens/s by batch size, best of weights fed and constant. It
 * runs in a copy of its folder, where its waits for a quiet machine are taken out (both have to see the same
 * machine) and batches of 32 and 128 on two threads are asked for.
 */
function referenceDecoding(copy: string): Map<number, number> {
  const output = execFileSync('node', ['decode2.mjs'], { cwd: copy, encoding: 'utf8' });
  const rates = new Map<number, number>();
  for (const found of output.matchAll(/B (\d+) .*tokens\/s (\d+)/g)) {
    const rows = Number(found[1]);
    rates.set(rows, Math.max(rates.get(rows) ?? 0, Number(found[2])));
  }
  if (!rates.has(32) || !rates.has(128)) throw new Error(`decode2.mjs printed no tokens/s: ${output}`);
  return rates;
}

function prepareReference(folder: string): string {
  const script = join(folder, 'decode2.mjs');
  if (!existsSync(script)) throw new Error(`${folder} holds no decode2.mjs`);
  const copy = mkdtempSync(join(tmpdir(), 'trace-bench-'));
  cpSync(folder, copy, { recursive: true, filter: (path) => !path.includes('node_modules') });
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
  const source = readFileSync(script, 'utf8')
    .replace('of [1,2])for(const B of [1,32])', 'of [2])for(const B of [32,128])')
    .replaceAll(/waitQuiet\(\d+\)/g, '0')
    .replace('w.end()<0.15', 'true');
  writeFileSync(join(copy, 'decode2.mjs'), source);
  // It decodes with the weights that its training script leaves behind.
  execFileSync('node', ['train.mjs', 'cpu', '2', '2'], { cwd: copy, stdio: 'ignore' });
  return copy;
}

const line = (label: string, { best, median }: Rate, ratio = '') =>
  console.log(`${label.padEnd(56)} tokens/s best ${Math.round(best)} median ${Math.round(median)} ${ratio}`);

/** Sampling speed. @param reference folder of another engine to run in turn with this one. */
export async function benchSampling(reference?: string): Promise<void> {
  console.log(`sampling, two threads, ${ROUNDS} rounds, best and median of ${REPEATS} runs`);
  const copy = reference === undefined ? null : prepareReference(reference);
  const ratios = new Map<string, number[]>();
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const other = copy === null ? null : referenceDecoding(copy);
      const sampler = new Sampler(REFERENCE_SHAPE, initializeParameters(REFERENCE_SHAPE, 1), { workers: 2 });
      for (const rows of [32, 128]) {
        for (const [name, run] of [
          ['decoding', () => decoding(sampler, BASE_POLICY, rows)],
          ['episodes of several turns', () => episodes(sampler, rows)],
        ] as const) {
          const label = `${name}, ${rows} rows`;
          const own = await run();
          const theirs = other?.get(rows);
          const ratio = theirs === undefined ? null : own.best / theirs;
          if (ratio !== null) ratios.set(label, [...(ratios.get(label) ?? []), ratio]);
          line(label, own, ratio === null ? '' : `${ratio.toFixed(2)}× the reference's ${theirs}`);
        }
      }
      await sampler.close();
    }
  } finally {
    if (copy !== null) rmSync(copy, { recursive: true, force: true });
  }
  for (const [label, values] of ratios) {
    const middle = values.sort((a, b) => a - b)[values.length >> 1] as number;
    console.log(`ratio to the reference, median of rounds: ${label} ${middle.toFixed(2)}`);
  }
  await deskPolicies();
  console.log(`peak RSS ${process.resourceUsage().maxRSS >> 10} MB`);
}

/** The embedded target's shape: single requests, base, adapter and mixture. */
async function deskPolicies(): Promise<void> {
  const sampler = new Sampler(DESK_SHAPE, initializeParameters(DESK_SHAPE, 1), { workers: 2 });
  const adapters = [1, 2, 3, 4].map((seed) => initializeAdapter(DESK_SHAPE, 8, 16, seed));
  sampler.setPolicy('adapter', { kind: 'adapter', adapter: adapters[0]! });
  sampler.setPolicy('mixture', { kind: 'mixture', adapters, gates: initializeGates(DESK_SHAPE, 4) });
  line('desk shape, base, decoding 1 row', await decoding(sampler, BASE_POLICY, 1));
  for (const policy of [BASE_POLICY, 'adapter', 'mixture'])
    line(`desk shape, ${policy}, decoding 128 rows`, await decoding(sampler, policy, 128));
  line('desk shape, base, episodes of several turns, 128 rows', await episodes(sampler, 128));
  const start = performance.now();
  for (let k = 0; k < 5; k++) {
    sampler.setPolicy('adapter', { kind: 'adapter', adapter: adapters[k % 4]! });
    const request = { policy: 'adapter', tokens: [1], maxTokens: 1, temperature: 1, seed: 1, stop: [] };
    await Promise.all([sampler.sample(request), sampler.sample(request)]);
  }
  console.log(`new adapter weights to the first token: ${Math.round((performance.now() - start) / 5)} ms`);
  await sampler.close();
}
