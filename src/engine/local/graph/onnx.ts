import { create, toBinary } from '@bufbuild/protobuf';
import {
  AttributeProtoSchema,
  AttributeProto_AttributeType as AttributeType,
  GraphProtoSchema,
  ModelProtoSchema,
  NodeProtoSchema,
  OperatorSetIdProtoSchema,
  TensorProtoSchema,
  TensorShapeProto_DimensionSchema,
  TensorShapeProtoSchema,
  TypeProto_TensorSchema,
  TypeProtoSchema,
  ValueInfoProtoSchema,
} from 'onnx-buf';
import type { Shape } from './dims.js';

/** The protobuf side of a graph: plain descriptions in, the bytes of an ONNX model out. */
export type ElementType = 'float32' | 'int64' | 'int32' | 'bool';
export type Attribute =
  | { readonly int: number }
  | { readonly float: number }
  | { readonly ints: readonly number[] }
  | { readonly string: string };
export type Attributes = Readonly<Record<string, Attribute>>;

export interface NodeDescription {
  readonly name: string;
  readonly op: string;
  /** '' for ONNX itself, 'com.microsoft' for ONNX Runtime's own operators. */
  readonly domain: string;
  /** Names of values; '' leaves an optional input out. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Attributes;
}

export interface ValueDescription {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: Shape;
}

export interface ConstantDescription extends ValueDescription {
  readonly shape: readonly number[];
  readonly data: Float32Array | BigInt64Array | Int32Array;
}

const ELEMENT_TYPE: Record<ElementType, number> = { float32: 1, int32: 6, int64: 7, bool: 9 };
export const elementTypeCode = (type: ElementType): number => ELEMENT_TYPE[type];

const OPSET = 21n;
const IR_VERSION = 10n;

function valueInfo({ name, type, shape }: ValueDescription) {
  const dims = shape.map((dim) =>
    create(TensorShapeProto_DimensionSchema, {
      value:
        typeof dim === 'string' ? { case: 'dimParam', value: dim } : { case: 'dimValue', value: BigInt(dim) },
    }),
  );
  const tensor = create(TypeProto_TensorSchema, {
    elemType: ELEMENT_TYPE[type],
    shape: create(TensorShapeProtoSchema, { dim: dims }),
  });
  return create(ValueInfoProtoSchema, {
    name,
    type: create(TypeProtoSchema, { value: { case: 'tensorType', value: tensor } }),
  });
}

function attribute(name: string, value: Attribute) {
  if ('int' in value)
    return create(AttributeProtoSchema, { name, type: AttributeType.INT, i: BigInt(value.int) });
  if ('float' in value)
    return create(AttributeProtoSchema, { name, type: AttributeType.FLOAT, f: value.float });
  if ('ints' in value)
    return create(AttributeProtoSchema, { name, type: AttributeType.INTS, ints: value.ints.map(BigInt) });
  return create(AttributeProtoSchema, {
    name,
    type: AttributeType.STRING,
    s: new TextEncoder().encode(value.string),
  });
}

/**
 * Bytes of an ONNX model (opset 21 and `com.microsoft` 1). `intermediates` tell ONNX Runtime the shapes that the
 * builder knows, so that it can plan buffers where its own shape inference gives up.
 */
export function encodeModel(
  nodes: readonly NodeDescription[],
  inputs: readonly ValueDescription[],
  outputs: readonly ValueDescription[],
  constants: readonly ConstantDescription[],
  intermediates: readonly ValueDescription[],
): Uint8Array {
  const graph = create(GraphProtoSchema, {
    name: 'graph',
    node: nodes.map((node) =>
      create(NodeProtoSchema, {
        name: node.name,
        opType: node.op,
        domain: node.domain,
        input: [...node.inputs],
        output: [...node.outputs],
        attribute: Object.entries(node.attributes).map(([name, value]) => attribute(name, value)),
      }),
    ),
    input: inputs.map(valueInfo),
    output: outputs.map(valueInfo),
    valueInfo: intermediates.map(valueInfo),
    initializer: constants.map((constant) =>
      create(TensorProtoSchema, {
        name: constant.name,
        dataType: ELEMENT_TYPE[constant.type],
        dims: constant.shape.map(BigInt),
        rawData: new Uint8Array(
          constant.data.buffer as ArrayBuffer,
          constant.data.byteOffset,
          constant.data.byteLength,
        ),
      }),
    ),
  });
  return toBinary(
    ModelProtoSchema,
    create(ModelProtoSchema, {
      irVersion: IR_VERSION,
      opsetImport: [
        create(OperatorSetIdProtoSchema, { domain: '', version: OPSET }),
        create(OperatorSetIdProtoSchema, { domain: 'com.microsoft', version: 1n }),
      ],
      graph,
    }),
  );
}
