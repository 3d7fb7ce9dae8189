import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  AdamParams,
  AdapterConfig,
  AdapterHandle,
  Datum,
  Engine,
  ForwardBackwardResult,
  Loss,
  MixtureConfig,
  MixtureHandle,
  PolicyRef,
  SampleRequest,
  SampleResult,
  Tokenizer,
  Trainable,
} from '../../src/engine/contract.js';
import { writeFileWhole, writeJsonWhole } from '../../src/run/files.js';
import { Random } from '../../src/run/random.js';

/**
 * A whole engine in a table, for tests of the steps: it samples, learns by gradient, merges and routes like any
 * engine, in microseconds. Its model answers the last question seen (`q3`) with one word (`a1`) drawn from
 * softmax(base[question] + delta[question]), then ends the turn. An adapter is a delta; a mixture's gate reads
 * the question (one-hot: hidden size = questions) in its single layer, hard top-1 forward, straight-through
 * backward.
 */
export const QUESTIONS = 6;
export const ANSWERS = 6;
const SPECIAL = ['<|end|>', '<|system|>', '<|user|>', '<|assistant|>'];
const WORDS = [
  ...SPECIAL,
  ...Array.from({ length: QUESTIONS }, (_, i) => `q${i}`),
  ...Array.from({ length: ANSWERS }, (_, i) => `a${i}`),
];
const END = 0;
const ASSISTANT = 3;
const FIRST_QUESTION = SPECIAL.length;
const FIRST_ANSWER = SPECIAL.length + QUESTIONS;
const TEMPLATE =
  '{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}';

const tokenizer: Tokenizer = {
  encode: (text) => (text.match(/<\|\w+\|>|[qa]\d/g) ?? []).map((word) => WORDS.indexOf(word)),
  decode: (tokens) => tokens.map((token) => WORDS[token]).join(''),
  tokenId: (word) => (WORDS.includes(word) ? WORDS.indexOf(word) : undefined),
  eosTokenIds: [END],
};

interface Parameters {
  values: Float64Array;
  readonly gradient: Float64Array;
  readonly first: Float64Array;
  readonly second: Float64Array;
  steps: number;
  /** Adapter ids of a mixture's slots from 1. */
  readonly slots?: readonly string[];
}

export interface TabularEngine extends Engine {
  /** Completions sampled so far. */
  sampled: number;
  /** Adapters and mixtures that were not released. */
  readonly held: number;
}

const softmax = (logits: readonly number[]): number[] => {
  const top = Math.max(...logits);
  const exp = logits.map((value) => Math.exp(value - top));
  const sum = exp.reduce((a, b) => a + b, 0);
  return exp.map((value) => value / sum);
};

/** @param base logits [question][answer] of the base model. */
export function tabularEngine(base: readonly (readonly number[])[]): TabularEngine {
  const held = new Map<string, Parameters>();
  let ids = 0;
  const fresh = (values: Float64Array, slots?: readonly string[]): Parameters => ({
    values,
    gradient: new Float64Array(values.length),
    first: new Float64Array(values.length),
    second: new Float64Array(values.length),
    steps: 0,
    ...(slots && { slots }),
  });
  const get = (handle: { readonly id: string }): Parameters => {
    const parameters = held.get(handle.id);
    if (!parameters) throw new Error(`unknown handle ${handle.id}`);
    return parameters;
  };
  const add = (values: Float64Array, slots?: readonly string[]) => {
    const id = `h${ids++}`;
    held.set(id, fresh(values, slots));
    return id;
  };
  const delta = (values: Float64Array, question: number, answer: number) =>
    values[question * ANSWERS + answer] as number;
  /** Gate logits of a question: weight [slots × questions], then bias [slots]. */
  const gateLogits = ({ values, slots }: Parameters, question: number) =>
    Array.from({ length: slots!.length + 1 }, (_, slot) => {
      const bias = values[(slots!.length + 1) * QUESTIONS + slot] as number;
      return (values[slot * QUESTIONS + question] as number) + bias;
    });
  const route = (mixture: Parameters, question: number) => {
    const logits = gateLogits(mixture, question);
    return logits.indexOf(Math.max(...logits));
  };
  const answerLogits = (policy: PolicyRef, question: number): number[] =>
    base[question]!.map((value, answer) => {
      if (policy.kind === 'base') return value;
      const parameters = get(policy);
      if (policy.kind === 'adapter') return value + delta(parameters.values, question, answer);
      const slot = route(parameters, question);
      return slot === 0
        ? value
        : value + delta(get({ id: parameters.slots![slot - 1]! }).values, question, answer);
    });
  const lastQuestion = (tokens: ArrayLike<number>, end: number): number => {
    for (let t = end; t >= 0; t--) {
      const question = (tokens[t] as number) - FIRST_QUESTION;
      if (question >= 0 && question < QUESTIONS) return question;
    }
    return 0;
  };
  /** Probabilities of the token after position t. */
  const next = (policy: PolicyRef, tokens: ArrayLike<number>, t: number): number[] => {
    if (tokens[t] !== ASSISTANT) return WORDS.map((_, id) => (id === END ? 1 : 0));
    const answers = softmax(answerLogits(policy, lastQuestion(tokens, t)));
    return WORDS.map((_, id) => answers[id - FIRST_ANSWER] ?? 0);
  };

  /** d loss / d log p of a target. */
  const slope = (datum: Datum, loss: Loss, t: number, logprob: number): number => {
    const weight = datum.weights[t] as number;
    if (loss.name === 'cross_entropy') return -weight;
    const advantage = datum.advantages![t] as number;
    const ratio = Math.exp(logprob - (datum.logprobs![t] as number));
    if (loss.name === 'ppo') {
      const clipped = Math.min(Math.max(ratio, loss.clipLow), loss.clipHigh);
      if (clipped * advantage < ratio * advantage) return 0;
    }
    return -weight * advantage * ratio;
  };

  function accumulate(model: Trainable, question: number, answer: number, dLogprob: number): void {
    const parameters = get(model);
    const p = softmax(answerLogits(model, question));
    const dLogits = p.map((value, a) => dLogprob * ((a === answer ? 1 : 0) - value));
    if (model.kind === 'adapter') {
      dLogits.forEach((value, a) => {
        parameters.gradient[question * ANSWERS + a]! += value;
      });
      return;
    }
    const slots = parameters.slots!;
    const weights = softmax(gateLogits(parameters, question));
    const dSlot = weights.map((_, slot) =>
      slot === 0
        ? 0
        : dLogits.reduce(
            (sum, value, a) => sum + value * delta(get({ id: slots[slot - 1]! }).values, question, a),
            0,
          ),
    );
    const mean = dSlot.reduce((sum, value, slot) => sum + value * weights[slot]!, 0);
    dSlot.forEach((value, slot) => {
      const gradient = weights[slot]! * (value - mean);
      parameters.gradient[slot * QUESTIONS + question]! += gradient;
      parameters.gradient[weights.length * QUESTIONS + slot]! += gradient;
    });
  }

  const read = (file: string) => Float64Array.from(JSON.parse(readFileSync(file, 'utf8')) as number[]);
  const write = (file: string, values: Float64Array) => writeFileWhole(file, JSON.stringify([...values]));

  const engine: TabularEngine = {
    sampled: 0,
    get held() {
      return held.size;
    },
    info: {
      model: 'tabular',
      context: 256,
      hiddenSize: QUESTIONS,
      layers: 1,
      vocabulary: WORDS.length,
      parameters: QUESTIONS * ANSWERS,
    },
    tokenizer,
    chatTemplate: TEMPLATE,
    async sample(request: SampleRequest): Promise<SampleResult> {
      engine.sampled++;
      const random = new Random(request.seed);
      const tokens = [...request.tokens];
      const logprobs: number[] = [];
      const routes: number[][] = [];
      for (let n = 0; n < request.maxTokens; n++) {
        const p = next(request.policy, tokens, tokens.length - 1);
        let id = p.indexOf(Math.max(...p));
        if (request.temperature > 0) {
          let u = random.float();
          id = p.findIndex((value) => {
            u -= value;
            return u < 0;
          });
        }
        if (request.policy.kind === 'mixture')
          routes.push([route(get(request.policy), lastQuestion(tokens, tokens.length - 1))]);
        tokens.push(id);
        logprobs.push(Math.log(p[id]!));
        if (request.stop.includes(id)) break;
      }
      const stopped = request.stop.includes(tokens.at(-1)!);
      return {
        tokens: tokens.slice(request.tokens.length),
        logprobs,
        stopReason: stopped ? 'stop' : 'length',
        ...(request.routes && { routes }),
      };
    },
    releaseSequence() {},
    async logprobs(policy, sequences) {
      return sequences.map((tokens) =>
        Float32Array.from(tokens.slice(1), (token, t) => Math.log(next(policy, tokens, t)[token]!)),
      );
    },
    async createAdapter({ name: _, seed: __ }: AdapterConfig): Promise<AdapterHandle> {
      return { kind: 'adapter', id: add(new Float64Array(QUESTIONS * ANSWERS)) };
    },
    async forwardBackward(
      model: Trainable,
      data: readonly Datum[],
      loss: Loss,
    ): Promise<ForwardBackwardResult> {
      let total = 0;
      const logprobs = data.map((datum) => {
        const result = new Float32Array(datum.tokens.length);
        for (let t = 0; t < datum.tokens.length; t++) {
          const target = datum.targets[t] as number;
          const logprob = Math.log(next(model, datum.tokens, t)[target]!);
          result[t] = logprob;
          if (datum.weights[t] === 0 || datum.tokens[t] !== ASSISTANT) continue;
          const dLogprob = slope(datum, loss, t, logprob);
          total += loss.name === 'cross_entropy' ? dLogprob * logprob : dLogprob;
          accumulate(model, lastQuestion(datum.tokens, t), target - FIRST_ANSWER, dLogprob);
        }
        return result;
      });
      return { loss: total, logprobs };
    },
    async optimStep(model: Trainable, adam: AdamParams) {
      const p = get(model);
      const norm = Math.hypot(...p.gradient);
      const scale = adam.gradientClip && norm > adam.gradientClip ? adam.gradientClip / norm : 1;
      const [b1, b2] = [adam.beta1 ?? 0.9, adam.beta2 ?? 0.999];
      p.steps++;
      for (let i = 0; i < p.values.length; i++) {
        const g = p.gradient[i]! * scale;
        p.first[i] = b1 * p.first[i]! + (1 - b1) * g;
        p.second[i] = b2 * p.second[i]! + (1 - b2) * g * g;
        const m = p.first[i]! / (1 - b1 ** p.steps);
        const v = p.second[i]! / (1 - b2 ** p.steps);
        p.values[i]! -= (adam.learningRate * m) / (Math.sqrt(v) + 1e-8);
      }
      p.gradient.fill(0);
      return { gradientNorm: norm };
    },
    async saveAdapter(adapter, folder) {
      writeJsonWhole(join(folder, 'adapter_config.json'), { peft_type: 'LORA', r: 1 });
      write(join(folder, 'adapter_model.safetensors'), get(adapter).values);
    },
    async loadAdapter(folder) {
      return { kind: 'adapter', id: add(read(join(folder, 'adapter_model.safetensors'))) };
    },
    async saveState(model, file) {
      const { values, first, second, steps } = get(model);
      writeFileWhole(file, JSON.stringify([[...values], [...first], [...second], steps]));
    },
    async loadState(model, file) {
      const p = get(model);
      const [values, first, second, steps] = JSON.parse(readFileSync(file, 'utf8')) as [
        number[],
        number[],
        number[],
        number,
      ];
      p.values.set(values);
      p.first.set(first);
      p.second.set(second);
      p.steps = steps;
    },
    async mergeAdapters(_, parts) {
      const merged = new Float64Array(QUESTIONS * ANSWERS);
      for (const { adapter, weight } of parts)
        get(adapter).values.forEach((value, i) => {
          merged[i]! += weight * value;
        });
      return { kind: 'adapter', id: add(merged) };
    },
    gates: {
      async createMixture({ adapters }: MixtureConfig): Promise<MixtureHandle> {
        const slots = adapters.length + 1;
        return {
          kind: 'mixture',
          id: add(
            new Float64Array(slots * QUESTIONS + slots),
            adapters.map(({ id }) => id),
          ),
        };
      },
      async saveMixture(mixture, folder) {
        writeJsonWhole(join(folder, 'gate_config.json'), { slots: get(mixture).slots!.length + 1 });
        write(join(folder, 'gate.safetensors'), get(mixture).values);
      },
      async loadMixture(folder, adapters) {
        return {
          kind: 'mixture',
          id: add(
            read(join(folder, 'gate.safetensors')),
            adapters.map(({ id }) => id),
          ),
        };
      },
      async adaptersOf(mixture) {
        return get(mixture).slots!.map((id) => ({
          kind: 'adapter',
          id: add(Float64Array.from(get({ id }).values)),
        }));
      },
      parameterCount: (mixture) => get(mixture).values.length,
    },
    async hash(policy) {
      const values = policy.kind === 'base' ? base.flat() : [...get(policy).values];
      return createHash('sha256').update(JSON.stringify(values)).digest('hex');
    },
    async release({ id }) {
      if (!held.delete(id)) throw new Error(`released twice: ${id}`);
    },
    async close() {
      held.clear();
    },
  };
  return engine;
}
