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
  /** One token of each row, by its place among the row's queries, whose probabilities are wanted; null: none are. */
  readonly wanted: readonly number[] | null;
}

export interface StepOutput {
  /** [rows, vocabulary]; empty where none was wanted. */
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
      if (last && wanted === null) break;
      let query = floats(output, STEP.nextQuery);
      let hidden = floats(output, STEP.nextHidden);
      let visible = mask;
      let length = queries;
      if (last && wanted !== null && queries > 1) {
        // After the last layer's keys and values only the tokens whose probabilities are wanted go on.
        const chosenTokens = wanted.map((place, row) => row * queries + place);
        query = gather(query, chosenTokens, heads * headDim);
        hidden = gather(hidden, chosenTokens, hiddenSize);
        visible = gather(mask, chosenTokens, capacity);
        length = 1;
      }
      const range = [firstRow * cache.rowSize, (firstRow + rows) * cache.rowSize] as const;
      const keys = (cache.keys[layer] as Float32Array).subarray(...range);
      const values = (cache.values[layer] as Float32Array).subarray(...range);
      output = await this.#run(layer + 1, {
        [STEP.hidden]: new Tensor('float32', hidden, [rows * length, hiddenSize]),
        [STEP.query]: new Tensor('float32', query, [rows, length, kvHeads, shared, 1, headDim]),
        [STEP.keys]: new Tensor('float32', keys, [rows, 1, kvHeads, 1, headDim, capacity]),
        [STEP.values]: new Tensor('float32', values, [rows, 1, kvHeads, 1, capacity, headDim]),
        [STEP.mask]: new Tensor('float32', visible, [rows, length, 1, 1, 1, capacity]),
        ...(last ? {} : { [STEP.positions]: positions }),
      });
    }
    const probabilities = wanted === null ? new Float32Array(0) : floats(output, STEP.probabilities);
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

/** Rows of a matrix with `width` columns, by index. */
function gather(matrix: Float32Array, rows: readonly number[], width: number): Float32Array {
  const result = new Float32Array(rows.length * width);
  rows.forEach((row, i) => {
    result.set(matrix.subarray(row * width, (row + 1) * width), i * width);
  });
  return result;
}

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
