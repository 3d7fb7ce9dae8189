import type { ModelConfig } from '../../src/engine/local/model/config.js';
import type { Parameters } from '../../src/engine/local/model/parameters.js';
import { type Model, Trainer } from '../../src/engine/local/train/trainer.js';
import { Random } from '../../src/run/random.js';
import {
  CONTEXT,
  choiceSequence,
  END,
  type EpisodeOptions,
  episodeSequence,
  recallSequence,
  repetitionSequence,
  type Sequence,
  type SequenceKind,
  tokenGroup,
  wishesSequence,
} from './data.js';
import { VOCABULARY } from './tokenizer.js';

export const MODEL: ModelConfig = {
  vocabularySize: VOCABULARY.length,
  hiddenSize: 128,
  layers: 4,
  heads: 4,
  kvHeads: 2,
  headDim: 32,
  intermediateSize: 352,
  ropeTheta: 10000,
  rmsEps: 1e-6,
  tied: true,
  context: CONTEXT,
  eosTokenIds: [END],
};

/** One stretch of the schedule. */
export interface Phase {
  readonly name: string;
  /** Tokens to see, padding not counted. */
  readonly tokens: number;
  /** Tokens of one optimizer step. */
  readonly batch: number;
  /** Share of tokens of each kind of sequence. */
  readonly mix: { readonly [kind in SequenceKind]?: number };
  readonly episodes: EpisodeOptions;
  /** Learning rate at the start and at the end; linear between. */
  readonly rate: readonly [number, number];
}

/** Mean probability of the learned tokens and their number, by group. */
export type Progress = Map<string, { probability: number; count: number }>;

export interface PhaseReport {
  readonly phase: string;
  readonly step: number;
  readonly tokens: number;
  readonly loss: number;
  readonly progress: Progress;
}

const WARM_UP_STEPS = 20;

/** Trains all parameters by a schedule. Deterministic: the same seed and schedule give the same parameters. */
export class Pretraining {
  readonly #trainer: Trainer;
  readonly #model: Model;
  readonly #seed: number;

  private constructor(trainer: Trainer, model: Model, seed: number) {
    this.#trainer = trainer;
    this.#model = model;
    this.#seed = seed;
  }

  static async start(config: ModelConfig, initial: Parameters, seed: number): Promise<Pretraining> {
    const trainer = new Trainer(config, initial);
    return new Pretraining(trainer, await trainer.add({ kind: 'full' }, initial), seed);
  }

  /** A copy of the parameters in memory's layout. */
  async parameters(): Promise<Parameters> {
    return (await this.#trainer.state(this.#model)).parameters;
  }

  /** Runs one phase and reports every `every` steps. */
  async run(phase: Phase, every: number, report: (report: PhaseReport) => void): Promise<void> {
    let seen = 0;
    let loss = 0;
    let progress: Progress = new Map();
    for (let step = 1; seen < phase.tokens; step++) {
      const random = new Random(this.#seed).fork(phase.name, step);
      const sequences = drawBatch(phase, random);
      const learned = sequences.reduce((n, s) => n + s.weights.reduce((a, b) => a + b, 0), 0);
      const result = await this.#trainer.forwardBackward(
        this.#model,
        sequences.map(({ tokens, weights }) => ({
          tokens: tokens.slice(0, -1),
          targets: tokens.slice(1),
          weights: weights.slice(1).map((weight) => weight / learned),
        })),
        { name: 'cross_entropy' },
      );
      const [from, to] = phase.rate;
      const rate = from + (to - from) * Math.min(1, seen / phase.tokens);
      await this.#trainer.optimStep(this.#model, {
        learningRate: rate * Math.min(1, step / WARM_UP_STEPS),
        beta1: 0.9,
        beta2: 0.95,
        gradientClip: 1,
      });
      seen += sequences.reduce((n, s) => n + s.tokens.length, 0);
      loss += result.loss;
      count(progress, sequences, result.logprobs);
      if (step % every === 0 || seen >= phase.tokens) {
        const steps = step % every || every;
        report({ phase: phase.name, step, tokens: seen, loss: loss / steps, progress });
        loss = 0;
        progress = new Map();
      }
    }
  }

  close(): Promise<void> {
    return this.#trainer.close();
  }
}

const DRAW: { readonly [kind in SequenceKind]: (random: Random, episodes: EpisodeOptions) => Sequence } = {
  recall: (random) => recallSequence(random),
  repetition: (random) => repetitionSequence(random),
  choice: (random) => choiceSequence(random),
  wishes: wishesSequence,
  episode: episodeSequence,
};

function drawBatch(phase: Phase, random: Random): Sequence[] {
  const sequences: Sequence[] = [];
  for (const [kind, share] of Object.entries(phase.mix) as [SequenceKind, number][]) {
    const stream = random.fork(kind);
    for (let tokens = 0, i = 0; tokens < share * phase.batch; i++) {
      const one = stream.fork(i);
      const sequence = DRAW[kind](one, phase.episodes);
      sequences.push(sequence);
      tokens += sequence.tokens.length;
    }
  }
  return sequences;
}

/** Adds the probabilities of learned tokens to the groups they are watched by. */
function count(progress: Progress, sequences: readonly Sequence[], logprobs: readonly Float32Array[]): void {
  sequences.forEach(({ kind, tokens, weights, groups }, s) => {
    for (let t = 1; t < tokens.length; t++) {
      if (!weights[t]) continue;
      const group =
        groups?.get(t) ?? (kind === 'episode' ? groupOf(tokens[t - 1]!, tokens[t]!) : `${kind} ids`);
      const entry = progress.get(group) ?? { probability: 0, count: 0 };
      const p = Math.exp(logprobs[s]![t - 1]!);
      entry.probability += (p - entry.probability) / ++entry.count;
      progress.set(group, entry);
    }
  });
}

function groupOf(before: number, token: number): string {
  const group = tokenGroup(before, token);
  return group === 'order' ? `order after ${VOCABULARY[before]!.replace(/.*name":"|",.*/g, '')}` : group;
}
