import fc from 'fast-check';
import { expect, test } from 'vitest';
import { batchExamples, type GateExample, targetCount, toData, toExample } from './examples.js';

const sequence = (sampled: boolean[]) => ({
  tokens: sampled.map((_, t) => 100 + t),
  sampled,
  logprobs: sampled.map(() => 0),
  promptLength: 1,
});
const example = (length: number, ...spans: [number, number][]): GateExample => ({
  tokens: Array.from({ length }, (_, t) => t),
  spans,
});

test('spans hold the sampled tokens and no other', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 2, maxLength: 30 }), (sampled) => {
      const { spans } = toExample(sequence(sampled));
      const covered = sampled.map((_, t) => spans.some(([start, end]) => t >= start && t < end));
      expect(covered).toEqual(sampled);
      // Neighbouring spans would be one.
      spans.slice(1).forEach(([start], i) => {
        expect(start).toBeGreaterThan(spans[i]![1]);
      });
    }),
  );
});

test('every sampled token is a target once, and the weights of a batch sum to 1', () => {
  // Tokens 3, 4 and 6 of the first, 1 and 2 of the second: five targets of weight 1/5.
  const batch = [example(8, [3, 5], [6, 7]), example(4, [1, 3])];
  const [first, second] = toData(batch);
  expect(Array.from(first!.targets)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(Array.from(first!.tokens)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  const w = Math.fround(1 / 5);
  expect(Array.from(first!.weights)).toEqual([0, 0, w, w, 0, w, 0]);
  expect(Array.from(second!.weights)).toEqual([w, w, 0]);
});

test('a sampled first token has no predictor and no weight', () => {
  expect(targetCount(example(3, [0, 2]))).toBe(1);
  expect(Array.from(toData([example(3, [0, 2])])[0]!.weights)).toEqual([1, 0]);
});

test('batches keep to the padded size where four sequences fit, and lose nothing', () => {
  const lengths = [10, 90, 20, 30, 50, 40, 60, 70, 80, 100, 10, 10];
  const examples = lengths.map((length) => example(length, [1, 2]));
  const batches = batchExamples(examples, 300);
  expect(batches.flat().map((item) => item.tokens.length)).toEqual([...lengths].sort((a, b) => b - a));
  expect(new Set(batches.flat()).size).toBe(lengths.length);
  for (const batch of batches.slice(0, -1)) {
    const padded = Math.max(...batch.map((item) => item.tokens.length)) * batch.length;
    expect(batch.length === 4 || (batch.length > 4 && padded <= 300)).toBe(true);
  }
});
