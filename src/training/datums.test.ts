import { describe, expect, test } from 'vitest';
import type { Rollout, TokenSequence } from '../agent/contract.js';
import type { AssistantMessage } from '../trajectory/trajectory.js';
import { toData } from './datums.js';
import { clipFraction } from './grpo.js';

/** Sampled tokens are those from 100 on; the log-probability of token n is −n/1000. */
const sequence = (tokens: number[], promptLength: number, promptWithoutHint?: number[]): TokenSequence => ({
  tokens,
  sampled: tokens.map((token) => token >= 100),
  logprobs: tokens.map((token) => (token >= 100 ? -token / 1000 : 0)),
  promptLength,
  ...(promptWithoutHint && { promptWithoutHint }),
});
const call = (name: string): AssistantMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c', type: 'function', function: { name, arguments: {} } }],
});
const rollout = (sequences: TokenSequence[], messages: AssistantMessage[] = []): Rollout => ({
  request: { scenario: 0, trial: 0 },
  scenario: { seed: 0, id: 's' },
  messages,
  score: { reward: 0, checks: [] },
  termination: 'user_stop',
  turns: messages.length,
  sequences,
});
const TOOL_KINDS = { look: 'read', change: 'write' } as const;
const attempt = (advantage: number, ...args: Parameters<typeof rollout>) => ({
  rollout: rollout(...args),
  advantage,
  toolKinds: TOOL_KINDS,
});
const TOKEN = { aggregation: 'token', dropReadTurns: false } as const;

test('a target is the next token, and only sampled ones count', () => {
  const [datum] = toData([attempt(0.5, [sequence([1, 2, 100, 101, 3, 102], 2)])], TOKEN);
  expect(datum!.tokens).toEqual([1, 2, 100, 101, 3]);
  expect(datum!.targets).toEqual([2, 100, 101, 3, 102]);
  const third = Math.fround(1 / 3);
  expect([...(datum!.weights as Float32Array)]).toEqual([0, third, third, 0, third]);
  expect([...(datum!.advantages as Float32Array)]).toEqual([0, 0.5, 0.5, 0, 0.5]);
  expect([...(datum!.logprobs as Float32Array)]).toEqual([0, -0.1, -0.101, 0, -0.102].map(Math.fround));
});

test('token-mean weighs tokens alike, sequence-mean sequences', () => {
  const batch = [attempt(1, [sequence([1, 100, 101, 102], 1)]), attempt(-1, [sequence([1, 100], 1)])];
  const sums = (aggregation: 'token' | 'sequence') =>
    toData(batch, { ...TOKEN, aggregation }).map((d) =>
      [...(d.weights as Float32Array)].reduce((a, b) => a + b),
    );
  expect(sums('token')).toEqual([0.75, 0.25]);
  sums('sequence').forEach((sum) => {
    expect(sum).toBeCloseTo(0.5, 6);
  });
});

test('the hint is taken out of the prompt, the sampled part stays as it is', () => {
  const [datum] = toData([attempt(1, [sequence([1, 2, 3, 4, 100, 5, 101], 4, [1, 9])])], TOKEN);
  expect(datum!.tokens).toEqual([1, 9, 100, 5]);
  expect(datum!.targets).toEqual([9, 100, 5, 101]);
  expect([...(datum!.weights as Float32Array)]).toEqual([0, 0.5, 0, 0.5]);
  expect([...(datum!.logprobs as Float32Array)]).toEqual([0, -0.1, 0, -0.101].map(Math.fround));
});

describe('turns that only read', () => {
  const trained = (messages: AssistantMessage[], ...sequences: TokenSequence[]) =>
    toData([attempt(1, sequences, messages)], { aggregation: 'token', dropReadTurns: true }).map((datum) =>
      [...(datum.targets as number[])].filter((_, t) => datum.weights[t] !== 0),
    );

  test('are left out, in whatever sequence they stand', () => {
    const messages = [call('look'), call('change'), { role: 'assistant', content: 'done' } as const];
    expect(trained(messages, sequence([1, 100, 2, 101, 102, 3, 103], 1))).toEqual([[101, 102, 103]]);
    // The first sequence would train nothing: it is no datum.
    expect(trained(messages, sequence([1, 100], 1), sequence([1, 4, 101, 102, 3, 103], 2))).toEqual([
      [101, 102, 103],
    ]);
  });

  test('stay where an attempt has no other', () => {
    expect(trained([call('look'), call('look')], sequence([1, 100, 2, 101], 1))).toEqual([[100, 101]]);
  });
});

test('the clipped share: ratios 1.2214 with A 1 and 0.6065 with A −1 both lie past the bounds 0.8 and 1.2', () => {
  const datum = {
    tokens: [1, 2],
    targets: [2, 3],
    weights: [0.5, 0.5],
    advantages: [1, -1],
    logprobs: [-1.2, -1.5],
  };
  expect(clipFraction([datum], [[-1, -2]], 0.8, 1.2)).toBe(1);
  expect(clipFraction([datum], [[-1, -2]], 0.8, 1.28)).toBe(0.5);
  // On the side where the advantage pulls back, nothing is clipped.
  expect(clipFraction([{ ...datum, advantages: [-1, 1] }], [[-1, -2]], 0.8, 1.2)).toBe(0);
});
