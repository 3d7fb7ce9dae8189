import type { Rollout, TokenSequence } from '../agent/contract.js';
import type { Datum } from '../engine/contract.js';
import type { ToolKind } from '../trajectory/trajectory.js';

/** An attempt and its advantage in its group. */
export interface AdvantagedRollout {
  readonly rollout: Rollout;
  readonly advantage: number;
  /** Kinds of its environment's tools, by name. */
  readonly toolKinds: { readonly [tool: string]: ToolKind };
}

export interface DatumOptions {
  /** `token`: weight 1 / trained tokens of the batch. `sequence`: 1 / (sequences × trained tokens of its own). */
  readonly aggregation: 'token' | 'sequence';
  readonly dropReadTurns: boolean;
}

/** A sequence as it is trained: the prompt without the hint, and which of its tokens count. */
interface Trained {
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
  readonly counts: readonly boolean[];
  readonly trained: number;
  readonly advantage: number;
}

/**
 * Training data of one gradient step: the exact tokens that were sampled, with the log-probabilities they were
 * sampled with. Only sampled tokens count; the weights sum to 1 over the batch, so that the engine's summed loss is
 * the mean that `aggregation` names.
 */
export function toData(batch: readonly AdvantagedRollout[], options: DatumOptions): Datum[] {
  const sequences = batch.flatMap((attempt) => trainedSequences(attempt, options.dropReadTurns));
  const tokens = sequences.reduce((sum, sequence) => sum + sequence.trained, 0);
  return sequences.map((sequence) => {
    const n = options.aggregation === 'token' ? tokens : sequences.length * sequence.trained;
    return toDatum(sequence, 1 / n);
  });
}

function toDatum(sequence: Trained, weight: number): Datum {
  const length = sequence.tokens.length - 1;
  const weights = new Float32Array(length);
  const advantages = new Float32Array(length);
  const logprobs = new Float32Array(length);
  for (let t = 0; t < length; t++) {
    if (!sequence.counts[t + 1]) continue;
    weights[t] = weight;
    advantages[t] = sequence.advantage;
    logprobs[t] = sequence.logprobs[t + 1]!;
  }
  return {
    tokens: sequence.tokens.slice(0, -1),
    targets: sequence.tokens.slice(1),
    weights,
    advantages,
    logprobs,
  };
}

function trainedSequences(
  { rollout, advantage, toolKinds }: AdvantagedRollout,
  dropRead: boolean,
): Trained[] {
  const kept = dropRead ? keptTurns(rollout, toolKinds) : null;
  let turn = 0;
  const result: Trained[] = [];
  for (const sequence of rollout.sequences) {
    // A turn is a run of sampled tokens: something that was not sampled always stands between two of them.
    const counts = sequence.sampled.map((sampled, t) => {
      if (!sampled) return false;
      if (t > 0 && !sequence.sampled[t - 1]) turn++;
      return kept === null || kept.has(turn - 1);
    });
    const trained = counts.filter(Boolean).length;
    if (trained > 0) result.push({ ...withoutHint(sequence, counts), trained, advantage });
  }
  return result;
}

/** Turns that do more than read; all of them where there is none, so that no attempt is lost. */
function keptTurns(rollout: Rollout, toolKinds: { readonly [tool: string]: ToolKind }): Set<number> {
  const turns = rollout.messages.filter((message) => message.role === 'assistant');
  const acting = turns.flatMap((message, i) => {
    const calls = message.tool_calls ?? [];
    const reads = calls.length > 0 && calls.every((call) => toolKinds[call.function.name] === 'read');
    return reads ? [] : [i];
  });
  return new Set(acting.length > 0 ? acting : turns.map((_, i) => i));
}

/** The sequence with the prompt that had no hint; what was sampled stays as it is. */
function withoutHint(sequence: TokenSequence, counts: readonly boolean[]) {
  const { tokens, logprobs, promptLength, promptWithoutHint: prompt } = sequence;
  if (!prompt) return { tokens, logprobs, counts };
  return {
    tokens: [...prompt, ...tokens.slice(promptLength)],
    logprobs: [...prompt.map(() => 0), ...logprobs.slice(promptLength)],
    counts: [...prompt.map(() => false), ...counts.slice(promptLength)],
  };
}
