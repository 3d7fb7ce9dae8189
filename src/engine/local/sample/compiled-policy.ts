import { InferenceSession, Tensor } from 'onnxruntime-node';
import type { ModelConfig } from '../model/config.js';
import type { Parameters } from '../model/parameters.js';
import type { KvCache } from './kv-cache.js';
import type { PolicyWeights } from './policy.js';
import { STEP, stepGraphs } from './step-graphs.js';

/** Tokens of one forward step: `rows` consecutive rows of the cache with `queries` consecutive tokens each. */
export interface StepInput {
  readonly firstRow: number;
  readonly rows: number;
  readonly queries: number;
  /** [rows · queries]. */
  readonly tokens: Int32Array;
  readonly positions: Int32Array;
  /** 1 where the token's key and value are to be kept; rows that only fill a gap have 0. */
  readonly kept: Uint8Array;
  /** [rows · queries, capacity]: 0 at slots a query may look at, `MASKED` elsewhere. */
  readonly mask: Float32Array;
  /** Probabilities of which tokens: of all, of the last alone, or of none. */
  readonly wanted: 'all' | 'last' | 'none';
}

export interface StepOutput {
  /** [wanted tokens, vocabulary]; empty where none was wanted. */
  readonly probabilities: Float32Array;
  /** Slot of every token in every layer, slots[layer][token]; empty but for mixtures. */
  readonly slots: readonly Uint8Array[];
}

/** Added to the scores of slots a query may not look at: its exponential is exactly 0 in f32. */
export const MASKED = -1e9;

/** A policy ready to be sampled: the sessions of its step graphs, one thread each. */
export class CompiledPolicy {
  readonly #sessions: readonly InferenceSession[];
  readonly #config: ModelConfig;

  private constructor(sessions: readonly InferenceSession[], config: ModelConfig) {
    this.#sessions = sessions;
    this.#config = config;
  }

  static async compile(
    config: ModelConfig,
    base: Parameters,
    policy: PolicyWeights,
    context: number,
  ): Promise<CompiledPolicy> {
    const sessions: InferenceSession[] = [];
    for (const model of stepGraphs(config, base, policy, context)) {
      // One thread: the sampler runs several workers instead, which scales better on products this small.
      sessions.push(
        await InferenceSession.create(model, {
          intraOpNumThreads: 1,
          interOpNumThreads: 1,
          executionMode: 'sequential',
          logSeverityLevel: 3,
        }),
      );
    }
    return new CompiledPolicy(sessions, config);
  }

  /** Runs the tokens through the model; their keys and values enter the cache. */
  async step(cache: KvCache, input: StepInput): Promise<StepOutput> {
    const { kvHeads, heads, headDim, layers, hiddenSize } = this.#config;
    const { firstRow, rows, queries, mask, wanted } = input;
    const count = rows * queries;
    const shared = heads / kvHeads;
    const { capacity } = cache;
    const positions = new Tensor('int64', toInt64(input.positions, count), [count, 1]);
    const slots: Uint8Array[] = [];
    let output = await this.#run(0, {
      [STEP.tokens]: new Tensor('int64', toInt64(input.tokens, count), [count]),
      [STEP.positions]: positions,
    });
    for (let layer = 0; layer < layers; layer++) {
      const chosen = output[STEP.slots];
      if (chosen) slots.push(indicesOfOnes(chosen.data as Float32Array, count));
      const newKeys = floats(output, STEP.nextKey);
      const newValues = floats(output, STEP.nextValue);
      for (let i = 0; i < count; i++) {
        if (input.kept[i] === 0) continue;
        const row = firstRow + Math.floor(i / queries);
        cache.write(layer, row, input.positions[i] as number, i, newKeys, newValues);
      }
      const last = layer === layers - 1;
      if (last && wanted === 'none') break;
      // After the last layer's keys and values only the tokens whose probabilities are wanted go on.
      const from = last && wanted === 'last' ? count - 1 : 0;
      const going = last && wanted === 'last' ? 1 : count;
      const query = floats(output, STEP.nextQuery).subarray(from * heads * headDim);
      const hidden = floats(output, STEP.nextHidden).subarray(from * hiddenSize);
      const [batch, length] = going === count ? [rows, queries] : [1, 1];
      const range = [firstRow * cache.rowSize, (firstRow + rows) * cache.rowSize] as const;
      output = await this.#run(layer + 1, {
        [STEP.hidden]: new Tensor('float32', hidden, [going, hiddenSize]),
        [STEP.query]: new Tensor('float32', query, [batch, length, kvHeads, shared, 1, headDim]),
        [STEP.keys]: new Tensor('float32', (cache.keys[layer] as Float32Array).subarray(...range), [
          rows,
          1,
          kvHeads,
          1,
          headDim,
          capacity,
        ]),
        [STEP.values]: new Tensor('float32', (cache.values[layer] as Float32Array).subarray(...range), [
          rows,
          1,
          kvHeads,
          1,
          capacity,
          headDim,
        ]),
        [STEP.mask]: new Tensor('float32', mask.subarray(from * capacity, (from + going) * capacity), [
          batch,
          length,
          1,
          1,
          1,
          capacity,
        ]),
        ...(last ? {} : { [STEP.positions]: positions }),
      });
    }
    const probabilities = wanted === 'none' ? new Float32Array(0) : floats(output, STEP.probabilities);
    return { probabilities, slots };
  }

  async release(): Promise<void> {
    for (const session of this.#sessions) await session.release();
  }

  #run(index: number, feeds: InferenceSession.FeedsType): Promise<InferenceSession.ReturnType> {
    return (this.#sessions[index] as InferenceSession).run(feeds);
  }
}

const floats = (output: InferenceSession.ReturnType, name: string): Float32Array =>
  (output[name] as Tensor).data as Float32Array;

/** Column of the 1 in every row of one-hot rows [count, width]. */
function indicesOfOnes(oneHot: Float32Array, count: number): Uint8Array {
  const width = oneHot.length / count;
  return Uint8Array.from({ length: count }, (_, i) => oneHot.indexOf(1, i * width) - i * width);
}

/** Non-negative integers as int64, written as pairs of 32-bit words: making BigInts is slow. */
function toInt64(values: Int32Array, count: number): BigInt64Array {
  const result = new BigInt64Array(count);
  const words = new Int32Array(result.buffer);
  const low = LITTLE_ENDIAN ? 0 : 1;
  for (let i = 0; i < count; i++) words[2 * i + low] = values[i] as number;
  return result;
}

const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
