import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Template } from '@huggingface/jinja';
import type { AdapterHandle, Datum, PolicyRef } from '../../src/engine/contract.js';
import { LocalEngine } from '../../src/engine/local/engine.js';
import { type ModelFolder, readModel } from '../../src/engine/local/folder/model-folder.js';
import { readSafetensors, type Tensor, type Tensors } from '../../src/engine/local/folder/safetensors.js';
import { transposed, transposeLinears } from '../../src/engine/local/model/parameters.js';
import { modelLogits } from './logits.js';

/** One quantity of the engine beside PyTorch's. */
export interface Comparison {
  readonly quantity: string;
  /** Numbers compared. */
  readonly count: number;
  /** Largest |ours − theirs| over the largest |theirs| of the same tensor, of the worst tensor. */
  readonly error: number;
  /** The worst tensor, where there are several. */
  readonly where?: string;
}

/** What `reference.py` made of a model. */
export interface Reference {
  readonly name: string;
  /** A Hugging Face folder, or a GGUF file. */
  readonly model: string;
  /** Holds adapter/, expected.safetensors and text.json. */
  readonly folder: string;
}

/** As `reference.py` has them. */
const LOSS = { name: 'ppo', clipLow: 0.8, clipHigh: 1.28 } as const;
const ADAM = {
  beta1: 0.9,
  beta2: 0.95,
  epsilon: 1e-8,
  weightDecay: 0.1,
  gradientClip: 0.1,
} as const;
const STEPS = 5;
const PEFT_PREFIX = 'base_model.model.';
const BASE: PolicyRef = { kind: 'base' };

interface Expected {
  readonly tensors: Tensors;
  readonly sequences: readonly (readonly number[])[];
}

export function readExpected(folder: string): Expected {
  const { tensors } = readSafetensors(join(folder, 'expected.safetensors'));
  const lengths = [...values(tensors, 'lengths')];
  const tokens = [...values(tensors, 'tokens')];
  const ends = lengths.map((_, i) => lengths.slice(0, i + 1).reduce((a, b) => a + b, 0));
  return { tensors, sequences: lengths.map((n, i) => tokens.slice(ends[i]! - n, ends[i])) };
}

/**
 * Compares the local engine with what PyTorch, transformers and PEFT gave for the same files: logits, log-probabilities,
 * greedy sampling, LoRA forward, one GRPO step, five steps of AdamW with clipping.
 * @param options.saveTo where the adapter is saved after those steps, for PEFT to load.
 */
export async function compareWithReference(
  reference: Reference,
  options: { readonly threads?: number; readonly saveTo?: string } = {},
): Promise<Comparison[]> {
  const { threads = 2, saveTo } = options;
  const model = readModel(reference.model);
  const { tensors, sequences } = readExpected(reference.folder);
  const found: Comparison[] = [];
  const check = (quantity: string, ours: ArrayLike<number>, name: string) =>
    found.push({ quantity, ...difference(ours, values(tensors, name)) });

  const base = transposeLinears(model.parameters);
  check('logits', joined(await modelLogits(model.config, base, sequences)), 'logits');

  const engine = new LocalEngine(model, { threads });
  const scratch = mkdtempSync(join(tmpdir(), 'trace-parity-'));
  try {
    check('log-probabilities', joined(await engine.logprobs(BASE, sequences)), 'logprobs');
    const greedy = await sampleGreedily(engine, sequences[0]!, values(tensors, 'greedy/tokens').length);
    if (greedy.tokens.join() !== [...values(tensors, 'greedy/tokens')].join())
      throw new Error(`${reference.name}: greedy tokens are ${greedy.tokens}, not PyTorch's`);
    check('greedy sampling', greedy.logprobs, 'greedy/logprobs');

    const adapter = await engine.loadAdapter(join(reference.folder, 'adapter'), 'parity');
    check(
      'LoRA: logits',
      await adapterLogits(model, base, engine, adapter, sequences, scratch),
      'adapter/logits',
    );
    check('LoRA: log-probabilities', joined(await engine.logprobs(adapter, sequences)), 'adapter/logprobs');

    const data = trainingData(tensors, sequences);
    const state = join(scratch, 'state.safetensors');
    await engine.saveState(adapter, state);
    const { loss } = await engine.forwardBackward(adapter, data, LOSS);
    check('GRPO: loss', [loss], 'grpo/loss');
    // With β₁ = 0 AdamW's first moment is the gradient; with a learning rate of 0 nothing moves.
    await engine.optimStep(adapter, { learningRate: 0, beta1: 0, beta2: 0 });
    const after = join(scratch, 'after.safetensors');
    await engine.saveState(adapter, after);
    const gradients = new Map<string, Tensor>();
    for (const [name, tensor] of readSafetensors(after).tensors) {
      if (name.startsWith('first/'))
        gradients.set(PEFT_PREFIX + name.slice('first/'.length), transposed(tensor));
    }
    found.push({ quantity: 'GRPO: LoRA gradients', ...worst(gradients, tensors, 'grpo/gradient/') });

    await engine.loadState(adapter, state);
    const learningRate = values(tensors, 'adamw/rate')[0]!;
    const losses: number[] = [];
    const norms: number[] = [];
    for (let step = 0; step < STEPS; step++) {
      losses.push((await engine.forwardBackward(adapter, data, LOSS)).loss);
      norms.push((await engine.optimStep(adapter, { ...ADAM, learningRate })).gradientNorm);
    }
    check('AdamW: losses of 5 steps', losses, 'adamw/losses');
    check('AdamW: gradient norms', norms, 'adamw/norms');
    const saved = saveTo ?? join(scratch, 'adapter');
    await engine.saveAdapter(adapter, saved);
    const parameters = readSafetensors(join(saved, 'adapter_model.safetensors')).tensors;
    found.push({
      quantity: 'AdamW: adapter after 5 steps',
      ...worst(parameters, tensors, 'adamw/parameters/'),
    });
    const start = readSafetensors(join(reference.folder, 'adapter', 'adapter_model.safetensors')).tensors;
    found.push({
      quantity: 'AdamW: movement (2-norm)',
      ...movement(parameters, tensors, 'adamw/parameters/', start),
    });
    check(
      'AdamW: logits',
      await adapterLogits(model, base, engine, adapter, sequences, scratch),
      'adamw/logits',
    );
  } finally {
    await engine.close();
    rmSync(scratch, { recursive: true, force: true });
  }
  return found;
}

/** Token ids and rendered chats that differ from transformers', in words; empty when all agree. */
export function compareText(reference: Reference): { readonly count: number; readonly problems: string[] } {
  const file = join(reference.folder, 'text.json');
  if (!existsSync(file)) return { count: 0, problems: [] };
  const { tokenizer, chatTemplate } = readModel(reference.model);
  const expected = JSON.parse(readFileSync(file, 'utf8')) as {
    tokens: [string, number[]][];
    chats?: { messages: unknown[]; options: Record<string, unknown>; text: string }[];
  };
  const problems: string[] = [];
  const check = (what: string, ours: string, theirs: string) => {
    if (ours !== theirs) problems.push(`${what}: ${JSON.stringify(ours)}, not ${JSON.stringify(theirs)}`);
  };
  for (const [text, ids] of expected.tokens) {
    check(`tokens of ${JSON.stringify(text)}`, tokenizer.encode(text).join(), ids.join());
  }
  for (const { messages, options, text } of expected.chats ?? []) {
    const eos = tokenizer.eosTokenIds[0];
    const ours = new Template(chatTemplate ?? '').render({
      messages,
      ...options,
      eos_token: eos === undefined ? '' : tokenizer.decode([eos]),
      bos_token: tokenizer.bosToken ?? '',
    });
    check(`chat with ${JSON.stringify(options)}`, ours, text);
  }
  return { count: expected.tokens.length + (expected.chats?.length ?? 0), problems };
}

async function sampleGreedily(engine: LocalEngine, tokens: readonly number[], maxTokens: number) {
  return engine.sample({ policy: BASE, tokens, maxTokens, temperature: 0, seed: 1, stop: [] });
}

/** Logits of every sequence's last position, from the graph that trains the adapter. */
async function adapterLogits(
  model: ModelFolder,
  base: Record<string, Tensor>,
  engine: LocalEngine,
  adapter: AdapterHandle,
  sequences: readonly (readonly number[])[],
  scratch: string,
): Promise<Float32Array> {
  const file = join(scratch, 'logits-state.safetensors');
  await engine.saveState(adapter, file);
  const parameters: Record<string, Tensor> = {};
  for (const [name, tensor] of readSafetensors(file).tensors) {
    if (name.startsWith('parameters/')) parameters[name.slice('parameters/'.length)] = tensor;
  }
  const { rank, alpha } = LORA;
  const rows = await modelLogits(model.config, base, sequences, { rank, alpha, parameters });
  return joined(rows.map((row, i) => row.subarray(row.length - row.length / sequences[i]!.length)));
}

/** Of the adapters that `reference.py` makes. */
const LORA = { rank: 4, alpha: 8 } as const;

function trainingData(tensors: Tensors, sequences: readonly (readonly number[])[]): Datum[] {
  let offset = 0;
  return sequences.map((tokens) => {
    const part = (name: string) => values(tensors, `grpo/${name}`).slice(offset, offset + tokens.length - 1);
    const datum: Datum = {
      tokens: tokens.slice(0, -1),
      targets: tokens.slice(1),
      weights: part('weights'),
      advantages: part('advantages'),
      logprobs: part('old'),
    };
    offset += tokens.length - 1;
    return datum;
  });
}

function values(tensors: ReadonlyMap<string, Tensor>, name: string): Float32Array {
  const tensor = tensors.get(name);
  if (!tensor) throw new Error(`the reference lacks "${name}"`);
  return tensor.data;
}

function joined(rows: readonly Float32Array[]): Float32Array {
  const result = new Float32Array(rows.reduce((sum, row) => sum + row.length, 0));
  let offset = 0;
  for (const row of rows) {
    result.set(row, offset);
    offset += row.length;
  }
  return result;
}

/** Largest difference over the largest magnitude; NaN anywhere is an infinite error. */
export function difference(ours: ArrayLike<number>, theirs: Float32Array): { count: number; error: number } {
  if (ours.length !== theirs.length)
    throw new Error(`${ours.length} numbers beside the reference's ${theirs.length}`);
  let largest = 0;
  let scale = 0;
  for (let i = 0; i < theirs.length; i++) {
    const gap = Math.abs(ours[i]! - theirs[i]!);
    largest = Number.isFinite(gap) ? Math.max(largest, gap) : Infinity;
    scale = Math.max(scale, Math.abs(theirs[i]!));
  }
  return { count: theirs.length, error: largest === 0 ? 0 : largest / scale };
}

/** Every reference tensor under a prefix beside ours. */
function worst(
  ours: ReadonlyMap<string, Tensor>,
  tensors: Tensors,
  prefix: string,
): { count: number; error: number; where: string } {
  let result = { count: 0, error: -1, where: '' };
  for (const { name, own, expected } of pairs(ours, tensors, prefix)) {
    const { count, error } = difference(own, expected);
    const total = result.count + count;
    result = error > result.error ? { count: total, error, where: name } : { ...result, count: total };
  }
  if (result.count === 0) throw new Error(`the reference has no tensors "${prefix}…"`);
  return result;
}

/**
 * How far the parameters moved from `start`, all as one vector: ‖ours − theirs‖ / ‖theirs‖. Single elements with
 * almost no gradient move by rounding alone, for AdamW divides by its size.
 */
function movement(
  ours: ReadonlyMap<string, Tensor>,
  tensors: Tensors,
  prefix: string,
  start: ReadonlyMap<string, Tensor>,
): { count: number; error: number } {
  let count = 0;
  let gap = 0;
  let length = 0;
  for (const { name, own, expected } of pairs(ours, tensors, prefix)) {
    const from = values(start, name);
    for (let i = 0; i < expected.length; i++) {
      gap += (own[i]! - expected[i]!) ** 2;
      length += (expected[i]! - from[i]!) ** 2;
    }
    count += expected.length;
  }
  return { count, error: Math.sqrt(gap / length) };
}

function* pairs(ours: ReadonlyMap<string, Tensor>, tensors: Tensors, prefix: string) {
  for (const [key, { shape, data }] of tensors) {
    if (!key.startsWith(prefix)) continue;
    const name = key.slice(prefix.length);
    const own = ours.get(name);
    if (own?.shape.join() !== shape.join()) throw new Error(`no tensor "${name}" of shape [${shape}]`);
    yield { name, own: own.data, expected: data };
  }
}
