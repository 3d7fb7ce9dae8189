import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Datum } from '../src/engine/contract.js';
import type { ModelConfig } from '../src/engine/local/model/config.js';
import { initializeGates } from '../src/engine/local/model/gates.js';
import { concatenateAdapters, initializeAdapter } from '../src/engine/local/model/lora.js';
import { initializeParameters } from '../src/engine/local/model/parameters.js';
import { Trainer } from '../src/engine/local/train/trainer.js';
import { Random } from '../src/run/random.js';

/** The shape of the reference: 984,192 parameters, batches of 16 × 128 tokens. */
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
/** The embedded target's model: grouped queries, query and key norms, tied head. */
const DESK_SHAPE: ModelConfig = {
  ...REFERENCE_SHAPE,
  kvHeads: 2,
  intermediateSize: 352,
  tied: true,
  queryKeyNorm: true,
};
const ROWS = 16;
const LENGTH = 128;
const WARM_STEPS = 3;
const STEPS = 20;
const ROUNDS = 3;

/** Sequences that count upwards by a step of their own, modulo the vocabulary: learnable in a few steps. */
function countingData(random: Random, rows: number, size: number): Datum[] {
  return Array.from({ length: rows }, () => {
    const step = 1 + random.int(8);
    let token = random.int(size);
    const tokens: number[] = [];
    for (let t = 0; t <= LENGTH; t++) {
      tokens.push(token);
      token = (token + step) % size;
    }
    const constant = (value: number) => new Float32Array(LENGTH).fill(value);
    return {
      tokens: tokens.slice(0, LENGTH),
      targets: tokens.slice(1),
      weights: constant(1 / (rows * LENGTH)),
      advantages: constant(1),
      logprobs: constant(-6),
    };
  });
}

/** Milliseconds of every timed step. */
async function timed(step: (k: number) => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  for (let k = 1; k <= WARM_STEPS + STEPS; k++) {
    const start = performance.now();
    await step(k);
    if (k > WARM_STEPS) times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b);
}

interface Rate {
  readonly best: number;
  readonly median: number;
}

const rateOf = (times: readonly number[], tokens: number): Rate => ({
  best: (tokens / times[0]!) * 1000,
  median: (tokens / times[times.length >> 1]!) * 1000,
});

const line = (label: string, { best, median }: Rate, extra = '') =>
  `${label.padEnd(52)} tokens/s best ${Math.round(best)} median ${Math.round(median)} ${extra}`;

/** Full-parameter steps with AdamW. */
async function fullSteps(seed: number): Promise<{ rate: Rate; loss: number }> {
  const random = new Random(seed);
  const base = initializeParameters(REFERENCE_SHAPE, seed, { embeddingScale: 0.02 });
  const trainer = new Trainer(REFERENCE_SHAPE, base);
  const model = await trainer.add({ kind: 'full' }, base);
  let loss = 0;
  const times = await timed(async (k) => {
    const data = countingData(random, ROWS, REFERENCE_SHAPE.vocabularySize);
    ({ loss } = await trainer.forwardBackward(model, data, { name: 'cross_entropy' }));
    await trainer.optimStep(model, { learningRate: 3e-3 * Math.min(1, k / 10), weightDecay: 0.01 });
  });
  await trainer.close();
  return { rate: rateOf(times, ROWS * LENGTH), loss };
}

/** Policy-gradient steps of a LoRA (rank 8, 64 × 128 tokens) and of the gates of four of them. */
async function adapterSteps(seed: number): Promise<{ adapter: Rate; gates: Rate }> {
  const rows = 64;
  const random = new Random(seed);
  const config = DESK_SHAPE;
  const trainer = new Trainer(config, initializeParameters(config, seed));
  const data = countingData(random, rows, config.vocabularySize);
  const rateFor = async (model: Awaited<ReturnType<Trainer['add']>>) =>
    rateOf(
      await timed(async () => {
        await trainer.forwardBackward(model, data, { name: 'ppo', clipLow: 0.8, clipHigh: 1.28 });
        await trainer.optimStep(model, { learningRate: 1e-3, gradientClip: 1 });
      }),
      rows * LENGTH,
    );
  const adapters = [1, 2, 3, 4].map((k) => initializeAdapter(config, 8, 16, seed + k));
  const adapter = await rateFor(
    await trainer.add({ kind: 'adapter', rank: 8, alpha: 16 }, adapters[0]!.parameters),
  );
  const frozen = concatenateAdapters(config, adapters);
  const gates = await rateFor(
    await trainer.add({ kind: 'gates', ranks: [8, 8, 8, 8] }, initializeGates(config, 4), { frozen }),
  );
  await trainer.close();
  return { adapter, gates };
}

/**
 * Another engine's `train.mjs` at the same shape, run in a copy of its folder (it writes there), with this
 * project's packages. It prints `tokens/s median N best N`.
 */
function referenceSteps(folder: string): { rate: Rate; output: string } {
  const copy = mkdtempSync(join(tmpdir(), 'trace-bench-'));
  try {
    cpSync(folder, copy, { recursive: true, filter: (path) => !path.includes('node_modules') });
    symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
    const command = ['train.mjs', 'cpu', '2', String(WARM_STEPS + STEPS)];
    const output = execFileSync('node', command, { cwd: copy, encoding: 'utf8' });
    const found = /tokens\/s median (\d+) best (\d+)/.exec(output);
    if (!found) throw new Error(`${folder}: train.mjs printed no tokens/s`);
    return { rate: { median: Number(found[1]), best: Number(found[2]) }, output };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/**
 * Training speed. @param reference folder of another engine to run in turn with this one, so that both see the
 * same machine.
 */
export async function benchTraining(reference?: string): Promise<void> {
  if (reference !== undefined && !existsSync(join(reference, 'train.mjs')))
    throw new Error(`${reference} holds no train.mjs`);
  console.log(`training, ${ROUNDS} rounds of ${STEPS} steps`);
  const ratios: Rate[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const { rate, loss } = await fullSteps(round);
    console.log(line('full parameters, L4 d128 ff384 V512, 16 × 128', rate, `loss ${loss.toFixed(3)}`));
    if (reference === undefined) continue;
    const other = referenceSteps(reference).rate;
    console.log(line('  reference', other));
    ratios.push({ best: rate.best / other.best, median: rate.median / other.median });
  }
  if (ratios.length > 0) {
    const middle = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]!.toFixed(2);
    console.log(
      `ratio to the reference, median of rounds: best ${middle(ratios.map((r) => r.best))}, ` +
        `median ${middle(ratios.map((r) => r.median))}`,
    );
  }
  const { adapter, gates } = await adapterSteps(1);
  console.log(line('LoRA r8, policy gradient, 64 × 128', adapter));
  console.log(line('gates of four LoRAs, policy gradient, 64 × 128', gates));
  console.log(`peak RSS ${process.resourceUsage().maxRSS >> 10} MB`);
}
