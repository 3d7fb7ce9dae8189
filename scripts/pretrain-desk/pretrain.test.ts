import { describe, expect, it } from 'vitest';
import { ChatFormat } from '../../src/agent/chat-format.js';
import type { Rollout } from '../../src/agent/contract.js';
import { hashParameters, type Parameters } from '../../src/engine/local/model/parameters.js';
import { playTurns } from '../../src/environment/runner.js';
import { Random } from '../../src/run/random.js';
import { COMPETENT, demonstrate, type RightRates } from '../../src/targets/desk/demonstrator.js';
import { desk } from '../../src/targets/desk/desk.js';
import { DESK_CAPABILITIES, type DeskScenario } from '../../src/targets/desk/scenario.js';
import { HINT, SYSTEM_PROMPT } from '../../src/targets/desk/wording.js';
import {
  COMPETENT_EPISODES,
  choiceSequence,
  encodeEpisode,
  episodeSequence,
  recallSequence,
  repetitionSequence,
  tokenizer,
  wishesSequence,
} from './data.js';
import { initializeForRecall } from './initialization.js';
import { behaviourOf } from './measure.js';
import { COMPETENCE, DEFICITS } from './schedule.js';
import { CHAT_TEMPLATE, KEYS, SPECIAL, VALUES, VOCABULARY } from './tokenizer.js';
import { MODEL, Pretraining } from './train.js';

const scenarios = (['train', 'validation', 'shift'] as const).flatMap((split) =>
  desk.split(split, 40).map((seed) => desk.scenario(seed)),
);
const conversation = async (scenario: DeskScenario) =>
  (await playTurns(desk, scenario, demonstrate(scenario, new Random(1), COMPETENT))).messages;

describe('the tokenizer of desk-base', () => {
  it('has one token for each entry and no entry twice', () => {
    expect(new Set(VOCABULARY).size).toBe(VOCABULARY.length);
    for (const [id, token] of VOCABULARY.entries()) expect(tokenizer.encode(token), token).toEqual([id]);
  });

  it('gives back every conversation, in few tokens and without unknown or single letters', async () => {
    const format = new ChatFormat(tokenizer, CHAT_TEMPLATE);
    const lengths: number[] = [];
    for (const scenario of scenarios) {
      const text = format.render(await conversation(scenario), desk.tools, false);
      const tokens = tokenizer.encode(text);
      expect(tokenizer.decode(tokens)).toBe(text);
      const words = tokens.map((token) => VOCABULARY[token] as string);
      expect(words).not.toContain(SPECIAL.unknown);
      expect(words.filter((word) => /^[a-zA-Z]$/.test(word) && !['S', 'M', 'L'].includes(word))).toEqual([]);
      lengths.push(tokens.length);
    }
    lengths.sort((a, b) => a - b);
    expect(lengths[lengths.length >> 1]).toBeLessThan(140);
    expect(lengths.at(-1)).toBeLessThan(320);
  });

  it('writes any printable text letter by letter, and says unknown for the rest', () => {
    const text = 'Ünrelated\ttext'.replace('Ü', 'U').replace('\t', ' ');
    expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
    expect(tokenizer.encode('é')).toEqual([VOCABULARY.indexOf(SPECIAL.unknown)]);
  });

  it('encodes guidance as a few tokens', () => {
    expect(tokenizer.decode(tokenizer.encode(SYSTEM_PROMPT + HINT))).toBe(SYSTEM_PROMPT + HINT);
    expect(tokenizer.encode(HINT).length).toBeLessThan(12);
  });
});

describe('the training sequences', () => {
  it('are what chat template and tokenizer make of the conversation', async () => {
    const format = new ChatFormat(tokenizer, CHAT_TEMPLATE);
    expect(format.local).toBe(true);
    for (const scenario of scenarios) {
      const messages = await conversation(scenario);
      const text = format.render(messages, desk.tools, false);
      expect(encodeEpisode(messages, new Set(), true).tokens).toEqual(tokenizer.encode(text));
    }
  });

  it('are the same for the same draw, and as long as their weights', () => {
    for (const draw of [
      recallSequence,
      repetitionSequence,
      choiceSequence,
      wishesSequence,
      (random: Random) => episodeSequence(random, COMPETENT_EPISODES),
    ]) {
      const one = draw(new Random(5));
      expect(draw(new Random(5))).toEqual(one);
      expect(draw(new Random(6))).not.toEqual(one);
      expect(one.weights).toHaveLength(one.tokens.length);
      expect(one.weights.some((weight) => weight > 0)).toBe(true);
    }
  });

  it('learn the assistant turns alone, and never a call that was not found', () => {
    const marks = [SPECIAL.system, SPECIAL.user, SPECIAL.tool, SPECIAL.assistant].map((mark) =>
      VOCABULARY.indexOf(mark),
    );
    const assistant = VOCABULARY.indexOf(SPECIAL.assistant);
    const notFound = VOCABULARY.indexOf('{"error":"not found"}');
    let errors = 0;
    for (let seed = 0; seed < 60; seed++) {
      const { tokens, weights } = episodeSequence(new Random(seed), { ...COMPETENT_EPISODES, slips: 0.15 });
      let speaker = -1;
      let start = 0;
      tokens.forEach((token, t) => {
        if (marks.includes(token)) {
          speaker = token;
          if (token === assistant) start = t;
        }
        if (speaker !== assistant) expect(weights[t]).toBe(0);
        if (token !== notFound) return;
        errors++;
        expect(weights.slice(start, t).every((weight) => weight === 0)).toBe(true);
      });
    }
    expect(errors).toBeGreaterThan(20);
  });

  it('weigh every learned token alike where decisions are drawn at random', () => {
    for (const phase of DEFICITS) {
      const weights = Array.from({ length: 30 }, (_, i) => episodeSequence(new Random(i), phase.episodes));
      expect([...new Set(weights.flatMap((sequence) => sequence.weights))].sort()).toEqual([0, 1]);
    }
  });

  it('ask for ids that stand beside their keys, in recall drills', () => {
    const { tokens, weights } = recallSequence(new Random(3));
    const words = tokens.map((token) => VOCABULARY[token] as string);
    weights.forEach((weight, t) => {
      if (!weight) return;
      const key = words[t - 1] as string;
      expect(KEYS).toContain(key);
      expect(words.indexOf(key)).toBeLessThan(t - 1);
      expect(words[t]).toBe(words[words.indexOf(key) + 1]);
      expect(VALUES).toContain(words[t]);
    });
  });
});

describe('the initial weights', () => {
  const parameters = initializeForRecall(MODEL, 1);
  const tensor = (name: string) => parameters[name]!.data;

  it('are a function of the seed', () => {
    expect(hashParameters(initializeForRecall(MODEL, 1))).toBe(hashParameters(parameters));
    expect(hashParameters(initializeForRecall(MODEL, 2))).not.toBe(hashParameters(parameters));
  });

  it('make layer 0 look at the previous token', () => {
    // Attention of layer 0 by its definition: RMSNorm, projection, q/k norm, rotation of half-split pairs.
    const { hiddenSize: D, headDim, kvHeads, heads, ropeTheta } = MODEL;
    const normed = (x: number[], weight: ArrayLike<number>) => {
      const scale = 1 / Math.sqrt(x.reduce((sum, v) => sum + v * v, 0) / x.length);
      return x.map((v, i) => v * scale * weight[i]!);
    };
    const project = (x: number[], w: Float32Array, head: number, count: number) =>
      Array.from({ length: headDim }, (_, i) =>
        x.reduce((sum, v, row) => sum + v * w[row * count * headDim + head * headDim + i]!, 0),
      );
    const rotate = (x: number[], position: number) =>
      x.map((v, i) => {
        const half = headDim / 2;
        const angle = position * ropeTheta ** (-(i % half) / half);
        return i < half
          ? v * Math.cos(angle) - x[i + half]! * Math.sin(angle)
          : v * Math.cos(angle) + x[i - half]! * Math.sin(angle);
      });
    const random = new Random(9);
    const inputs = Array.from({ length: 40 }, () => {
      const row = random.int(VOCABULARY.length) * D;
      const embedded = [...tensor('model.embed_tokens.weight').subarray(row, row + D)];
      return normed(embedded, tensor('model.layers.0.input_layernorm.weight'));
    });
    const vectors = (name: 'q' | 'k', head: number, count: number) =>
      inputs.map((x, t) => {
        const y = project(x, tensor(`model.layers.0.self_attn.${name}_proj.weight`), head, count);
        return rotate(normed(y, tensor(`model.layers.0.self_attn.${name}_norm.weight`)), t);
      });
    let previous = 0;
    let all = 0;
    for (let h = 0; h < heads; h++) {
      const queries = vectors('q', h, heads);
      const keys = vectors('k', Math.floor((h * kvHeads) / heads), kvHeads);
      for (let t = 1; t < inputs.length; t++) {
        const scores = keys.slice(0, t + 1).map((k) => k.reduce((sum, v, i) => sum + v * queries[t]![i]!, 0));
        if (scores.indexOf(Math.max(...scores)) === t - 1) previous++;
        all++;
      }
    }
    expect(previous / all).toBeGreaterThan(0.9);
  });

  it('say what is looked at: o is the transpose of v above layer 0', () => {
    const { hiddenSize: D, headDim, kvHeads, heads } = MODEL;
    for (let layer = 1; layer < MODEL.layers; layer++) {
      const v = tensor(`model.layers.${layer}.self_attn.v_proj.weight`);
      const o = tensor(`model.layers.${layer}.self_attn.o_proj.weight`);
      for (const [h, i, row] of [
        [0, 3, 5],
        [heads - 1, headDim - 1, D - 1],
      ] as const) {
        const kv = Math.floor((h * kvHeads) / heads);
        expect(o[(h * headDim + i) * D + row]).toBeCloseTo(v[row * kvHeads * headDim + kv * headDim + i]!, 6);
      }
    }
  });
});

describe('a short pretraining run', () => {
  const shape = { ...MODEL, hiddenSize: 64, layers: 2, intermediateSize: 96 };
  const run = async (): Promise<{ losses: number[]; parameters: Parameters }> => {
    const pretraining = await Pretraining.start(shape, initializeForRecall(shape, 3), 3);
    const losses: number[] = [];
    for (const phase of COMPETENCE)
      await pretraining.run({ ...phase, tokens: 12_000, batch: 600 }, 10, (report) =>
        losses.push(report.loss),
      );
    const parameters = await pretraining.parameters();
    await pretraining.close();
    return { losses, parameters };
  };

  it('learns, and gives the same bytes again', async () => {
    const first = await run();
    const second = await run();
    expect(first.losses[0]).toBeGreaterThan(4);
    expect(first.losses.at(-1)).toBeLessThan(first.losses[0]! - 0.4);
    expect(second.losses).toEqual(first.losses);
    expect(hashParameters(second.parameters)).toBe(hashParameters(first.parameters));
  });
});

describe('the measured behaviour', () => {
  const rolloutsOf = async (rates: RightRates): Promise<Rollout<DeskScenario>[]> =>
    Promise.all(
      scenarios.map(async (scenario) => {
        const turns = demonstrate(scenario, new Random(scenario.seed), rates);
        const { messages, score, termination, turns: taken } = await playTurns(desk, scenario, turns);
        const request = { scenario: scenario.seed, trial: 0 };
        return {
          request,
          scenario,
          messages,
          score,
          termination: termination ?? '',
          turns: taken,
          sequences: [],
        };
      }),
    );

  it('finds a faultless agent faultless', async () => {
    const b = behaviourOf(await rolloutsOf(COMPETENT));
    expect([b.passed, b.copyErrors, b.formatErrors]).toEqual([scenarios.length, 0, 0]);
    for (const capability of DESK_CAPABILITIES) {
      const { right, of } = b.decisions[capability];
      expect(of).toBeGreaterThan(15);
      expect(right).toBe(of);
    }
  });

  it.each(DESK_CAPABILITIES)('finds %s missing where it is, and nothing else', async (capability) => {
    const b = behaviourOf(await rolloutsOf({ ...COMPETENT, [capability]: 0 }));
    expect(b.decisions[capability].right).toBe(0);
    for (const other of DESK_CAPABILITIES)
      if (other !== capability) expect(b.decisions[other].right).toBe(b.decisions[other].of);
    expect([b.copyErrors, b.formatErrors]).toEqual([0, 0]);
  });
});
