import type { TokenSequence } from '../agent/contract.js';
import type { Datum } from '../engine/contract.js';

/** A token sequence that the gates learn from: which tokens the assistant wrote, as half-open spans. */
export interface GateExample {
  readonly tokens: readonly number[];
  readonly spans: readonly (readonly [start: number, end: number])[];
}

/** The assistant's tokens of an episode's sequence, as spans. */
export function toExample(sequence: TokenSequence): GateExample {
  const spans: [number, number][] = [];
  let start = -1;
  for (let t = 0; t <= sequence.tokens.length; t++) {
    const sampled = t < sequence.tokens.length && sequence.sampled[t] === true;
    if (sampled && start < 0) start = t;
    else if (!sampled && start >= 0) {
      spans.push([start, t]);
      start = -1;
    }
  }
  return { tokens: [...sequence.tokens], spans };
}

/** Number of the assistant's tokens that something predicts (a sequence's first token has no predictor). */
export function targetCount(example: GateExample): number {
  return example.spans.reduce((sum, [start, end]) => sum + Math.max(0, end - Math.max(1, start)), 0);
}

/**
 * Groups examples of similar length, longest first, so that little is padded: a batch holds as many sequences
 * as fit into `batchTokens` when padded to its longest, but at least four, so that one long sequence is never
 * a gradient of its own. Every example is in exactly one batch; the order is a pure function of the input.
 */
export function batchExamples(
  examples: readonly GateExample[],
  batchTokens: number,
  atLeast = 4,
): GateExample[][] {
  const order = examples
    .map((example, index) => ({ example, index }))
    .sort((a, b) => b.example.tokens.length - a.example.tokens.length || a.index - b.index);
  const batches: GateExample[][] = [];
  for (let i = 0; i < order.length; ) {
    const longest = order[i]!.example.tokens.length;
    const size = Math.max(atLeast, Math.floor(batchTokens / longest));
    batches.push(order.slice(i, i + size).map(({ example }) => example));
    i += size;
  }
  return batches;
}

/**
 * Training data of one gradient step: cross-entropy of the assistant's tokens, each weighted 1/n with n their
 * number in the batch, so that the summed loss is the mean negative log-likelihood (nats a token).
 */
export function toData(batch: readonly GateExample[]): Datum[] {
  const n = batch.reduce((sum, example) => sum + targetCount(example), 0);
  return batch.map(({ tokens, spans }) => {
    const weights = new Float32Array(tokens.length - 1);
    for (const [start, end] of spans) weights.fill(1 / n, Math.max(0, start - 1), end - 1);
    return { tokens: tokens.slice(0, -1), targets: tokens.slice(1), weights };
  });
}
