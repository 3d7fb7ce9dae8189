import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { ModelProtoSchema, ValueInfoProtoSchema } from 'onnx-buf';
import { InferenceSession, Tensor as OrtTensor } from 'onnxruntime-node';
import type { ModelConfig } from '../../src/engine/local/model/config.js';
import type { Adapter } from '../../src/engine/local/model/lora.js';
import type { Parameters } from '../../src/engine/local/model/parameters.js';
import { trainingGraph } from '../../src/engine/local/train/training-graph.js';

/**
 * Logits [tokens · vocabulary] of each sequence, out of the very graph that the trainer runs: what it feeds to the
 * log-softmax is made an output.
 */
export async function modelLogits(
  config: ModelConfig,
  base: Parameters,
  sequences: readonly (readonly number[])[],
  adapter?: Adapter,
): Promise<Float32Array[]> {
  const mode = adapter
    ? ({ kind: 'adapter', rank: adapter.rank, alpha: adapter.alpha } as const)
    : ({ kind: 'full' } as const);
  const { model, trainable } = trainingGraph(config, base, mode, null);
  const { bytes, name } = withLogits(model);
  const session = await InferenceSession.create(bytes, { intraOpNumThreads: 1, logSeverityLevel: 3 });
  const feeds: Record<string, OrtTensor> = {};
  for (const key of trainable.keys()) {
    const { data, shape } = (adapter?.parameters ?? base)[key]!;
    feeds[key] = new OrtTensor('float32', data, shape as number[]);
  }
  const result: Float32Array[] = [];
  for (const tokens of sequences) {
    const { length } = tokens;
    const int64 = (values: readonly number[], shape: number[]) =>
      new OrtTensor('int64', BigInt64Array.from(values.map(BigInt)), shape);
    const indices = tokens.map((_, i) => i);
    const output = await session.run(
      {
        ...feeds,
        tokens: int64(tokens, [1, length]),
        positions: int64(indices, [length]),
        targets: int64(
          tokens.map(() => 0),
          [length],
        ),
      },
      [name],
    );
    result.push(output[name]!.data as Float32Array);
  }
  await session.release();
  return result;
}

function withLogits(bytes: Uint8Array): { bytes: Uint8Array; name: string } {
  const model = fromBinary(ModelProtoSchema, bytes);
  const name = model.graph?.node.find((node) => node.opType === 'LogSoftmax')?.input[0];
  if (!name) throw new Error('the graph has no LogSoftmax');
  model.graph!.output.push(create(ValueInfoProtoSchema, { name }));
  return { bytes: toBinary(ModelProtoSchema, model), name };
}
