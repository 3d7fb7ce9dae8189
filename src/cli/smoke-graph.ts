import { create, toBinary } from '@bufbuild/protobuf';
import {
  GraphProtoSchema,
  ModelProtoSchema,
  NodeProtoSchema,
  OperatorSetIdProtoSchema,
  TensorShapeProto_DimensionSchema,
  TensorShapeProtoSchema,
  TypeProto_TensorSchema,
  TypeProtoSchema,
  ValueInfoProtoSchema,
} from 'onnx-buf';

const FLOAT = 1;

/** Runs [[1,2],[3,4]] · [[5,6],[7,8]] in ONNX Runtime: the smallest proof that its kernels work here. */
export async function runSmokeGraph(): Promise<number[]> {
  const { InferenceSession, Tensor } = await import('onnxruntime-node');
  const session = await InferenceSession.create(productModel());
  try {
    const matrix = (values: number[]) => new Tensor('float32', Float32Array.from(values), [2, 2]);
    const { c } = await session.run({ a: matrix([1, 2, 3, 4]), b: matrix([5, 6, 7, 8]) });
    return [...(c!.data as Float32Array)];
  } finally {
    await session.release();
  }
}

/** ONNX bytes of c = a · b for 2 × 2 matrices. */
function productModel(): Uint8Array {
  const two = create(TensorShapeProto_DimensionSchema, { value: { case: 'dimValue', value: 2n } });
  const type = create(TypeProtoSchema, {
    value: {
      case: 'tensorType',
      value: create(TypeProto_TensorSchema, {
        elemType: FLOAT,
        shape: create(TensorShapeProtoSchema, { dim: [two, two] }),
      }),
    },
  });
  const value = (name: string) => create(ValueInfoProtoSchema, { name, type });
  const graph = create(GraphProtoSchema, {
    name: 'product',
    node: [create(NodeProtoSchema, { opType: 'MatMul', input: ['a', 'b'], output: ['c'] })],
    input: [value('a'), value('b')],
    output: [value('c')],
  });
  return toBinary(
    ModelProtoSchema,
    create(ModelProtoSchema, {
      irVersion: 10n,
      opsetImport: [create(OperatorSetIdProtoSchema, { version: 21n })],
      graph,
    }),
  );
}
