import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { basename, join } from 'node:path';
import { writeFileWhole } from '../../../run/files.js';
import { halfToNumber } from './half.js';

/** A dense f32 tensor, row-major. */
export interface Tensor {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}
export type Tensors = Map<string, Tensor>;

export interface SafetensorsFile {
  readonly tensors: Tensors;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Headers of real files are kilobytes; the format itself caps them at 100 MB. */
const MAX_HEADER_BYTES = 100_000_000;
const BYTES_PER_ELEMENT: Readonly<Record<string, number>> = { F32: 4, F16: 2, BF16: 2 };

interface Entry {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

/** Bytes [position, position + length) of the file, from wherever they lie. */
type ReadRange = (position: number, length: number) => Uint8Array;

/**
 * Reads a safetensors file; f16 and bf16 become f32. The header is not trusted: every length, offset and shape
 * is checked before a byte of data is touched.
 * @throws Error naming file and tensor when the file is malformed or holds another element type.
 * Format: https://github.com/huggingface/safetensors#format
 */
export function readSafetensors(file: string): SafetensorsFile {
  const descriptor = openSync(file, 'r');
  try {
    return read(file, fstatSync(descriptor).size, (position, length) => {
      const bytes = new Uint8Array(length);
      let done = 0;
      while (done < length) {
        const count = readSync(descriptor, bytes, done, length - done, position + done);
        if (count === 0) throw new Error(`${file}: ended while being read`);
        done += count;
      }
      return bytes;
    });
  } finally {
    closeSync(descriptor);
  }
}

/** `readSafetensors` of bytes in memory; `source` names them in errors. */
export function parseSafetensors(bytes: Uint8Array, source: string): SafetensorsFile {
  return read(source, bytes.byteLength, (position, length) => bytes.subarray(position, position + length));
}

/**
 * Reads the weights of a model folder: `model.safetensors`, or the shards that `model.safetensors.index.json`
 * lists.
 * @throws Error when neither is there, a shard is missing, or index and shards disagree.
 */
export function readModelTensors(folder: string): Tensors {
  const single = join(folder, 'model.safetensors');
  if (existsSync(single)) return readSafetensors(single).tensors;
  const index = join(folder, 'model.safetensors.index.json');
  if (!existsSync(index)) {
    throw new Error(`${folder}: no model.safetensors and no model.safetensors.index.json`);
  }
  const map = parseObject(readFileSync(index, 'utf8'), index).weight_map;
  if (!isRecord(map)) throw new Error(`${index}: "weight_map" must be an object`);
  const tensors: Tensors = new Map();
  const shards = new Map<string, Tensors>();
  for (const [name, shard] of Object.entries(map)) {
    if (typeof shard !== 'string' || shard === '' || shard !== basename(shard) || shard === '..') {
      throw new Error(`${index}: weight_map["${name}"] must be a file name in the same folder`);
    }
    let content = shards.get(shard);
    if (content === undefined) {
      content = readSafetensors(join(folder, shard)).tensors;
      shards.set(shard, content);
    }
    const tensor = content.get(name);
    if (tensor === undefined)
      throw new Error(`${join(folder, shard)}: lacks "${name}", which ${index} promises`);
    tensors.set(name, tensor);
  }
  return tensors;
}

/**
 * The bytes of a safetensors file: f32, header sorted by name and padded to a multiple of 8, so that equal
 * tensors give equal bytes.
 * @throws RangeError when a shape does not match its data.
 */
export function encodeSafetensors(
  tensors: ReadonlyMap<string, Tensor>,
  metadata: Readonly<Record<string, string>> = { format: 'pt' },
): Uint8Array {
  const names = [...tensors.keys()].sort();
  const header: [string, unknown][] = [];
  if (Object.keys(metadata).length > 0) header.push(['__metadata__', metadata]);
  let offset = 0;
  for (const name of names) {
    if (name === '__metadata__') throw new RangeError('a tensor cannot be named "__metadata__"');
    const { shape, data } = tensors.get(name) as Tensor;
    const size = shape.reduce((a, b) => a * b, 1);
    if (size !== data.length) {
      throw new RangeError(
        `tensor "${name}": shape [${shape.join(', ')}] holds ${size}, data ${data.length}`,
      );
    }
    header.push([name, { dtype: 'F32', shape, data_offsets: [offset, offset + 4 * size] }]);
    offset += 4 * size;
  }
  const json = Buffer.from(
    `{${header.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`,
  );
  const headerBytes = Math.ceil(json.byteLength / 8) * 8;
  const bytes = new Uint8Array(8 + headerBytes + offset);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(headerBytes), true);
  bytes.fill(0x20, 8, 8 + headerBytes);
  bytes.set(json, 8);
  let position = 8 + headerBytes;
  for (const name of names) {
    const { data } = tensors.get(name) as Tensor;
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), position);
    position += data.byteLength;
  }
  return bytes;
}

/** Writes `encodeSafetensors` whole. */
export function writeSafetensors(
  file: string,
  tensors: ReadonlyMap<string, Tensor>,
  metadata?: Readonly<Record<string, string>>,
): void {
  writeFileWhole(file, encodeSafetensors(tensors, metadata));
}

function read(source: string, size: number, range: ReadRange): SafetensorsFile {
  if (size < 8) throw new Error(`${source}: ${size} bytes are too few for a safetensors file`);
  const prefix = range(0, 8);
  const declared = new DataView(prefix.buffer, prefix.byteOffset, 8).getBigUint64(0, true);
  if (declared > BigInt(MAX_HEADER_BYTES) || declared > BigInt(size - 8)) {
    throw new Error(`${source}: header of ${declared} bytes does not fit a file of ${size} bytes`);
  }
  const headerBytes = Number(declared);
  const text = decodeUtf8(range(8, headerBytes), source);
  const { entries, metadata } = parseHeader(text, size - 8 - headerBytes, source);
  const tensors: Tensors = new Map();
  for (const { name, dtype, shape, begin, end } of entries) {
    const bytes = range(8 + headerBytes + begin, end - begin);
    tensors.set(name, { shape, data: toFloat32(bytes, dtype) });
  }
  return { tensors, metadata };
}

function parseHeader(text: string, dataBytes: number, source: string) {
  const header = parseObject(text, `${source}: header`);
  const metadata: Record<string, string> = {};
  const entries: Entry[] = [];
  for (const [name, value] of Object.entries(header)) {
    if (name === '__metadata__') {
      if (!isRecord(value)) throw new Error(`${source}: "__metadata__" must be an object`);
      for (const [key, item] of Object.entries(value)) {
        if (typeof item !== 'string') throw new Error(`${source}: metadata "${key}" must be a string`);
        Object.defineProperty(metadata, key, { value: item, enumerable: true });
      }
    } else {
      entries.push(parseEntry(name, value, dataBytes, source));
    }
  }
  checkLayout(entries, dataBytes, source);
  return { entries, metadata };
}

function parseEntry(name: string, value: unknown, dataBytes: number, source: string): Entry {
  const where = `${source}: tensor "${name}"`;
  if (!isRecord(value)) throw new Error(`${where} must be an object`);
  const { dtype, shape, data_offsets: offsets } = value;
  const width =
    typeof dtype === 'string' && Object.hasOwn(BYTES_PER_ELEMENT, dtype)
      ? BYTES_PER_ELEMENT[dtype]
      : undefined;
  if (typeof dtype !== 'string' || width === undefined) {
    throw new Error(`${where} has type ${JSON.stringify(dtype)}; F32, F16 and BF16 are read`);
  }
  if (!Array.isArray(shape) || !shape.every(isCount)) {
    throw new Error(`${where}: "shape" must be a list of counts`);
  }
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount)) {
    throw new Error(`${where}: "data_offsets" must be two counts`);
  }
  const [begin, end] = offsets as [number, number];
  if (begin > end || end > dataBytes) {
    throw new Error(`${where}: bytes [${begin}, ${end}) lie outside the ${dataBytes} bytes of data`);
  }
  const bytes = shape.reduce((product: bigint, side: number) => product * BigInt(side), BigInt(width));
  if (bytes !== BigInt(end - begin)) {
    throw new Error(`${where}: ${dtype} [${shape.join(', ')}] does not fill its ${end - begin} bytes`);
  }
  return { name, dtype, shape: shape as number[], begin, end };
}

/** The format allows neither holes nor overlaps: a hole could hide a payload, an overlap alias two tensors. */
function checkLayout(entries: readonly Entry[], dataBytes: number, source: string): void {
  const sorted = [...entries].sort((a, b) => a.begin - b.begin || a.end - b.end);
  let position = 0;
  for (const { name, begin, end } of sorted) {
    if (begin !== position) {
      throw new Error(`${source}: tensor "${name}" begins at ${begin} where ${position} was expected`);
    }
    position = end;
  }
  if (position !== dataBytes) {
    throw new Error(`${source}: tensors end at ${position} of ${dataBytes} bytes of data`);
  }
}

function toFloat32(bytes: Uint8Array, dtype: string): Float32Array {
  // A copy is always aligned and owned, wherever the bytes came from.
  const copy = new Uint8Array(bytes).buffer;
  if (dtype === 'F32') return new Float32Array(copy);
  const halves = new Uint16Array(copy);
  const data = new Float32Array(halves.length);
  if (dtype === 'BF16') {
    const bits = new Uint32Array(data.buffer);
    for (let i = 0; i < halves.length; i++) bits[i] = (halves[i] as number) << 16;
  } else {
    for (let i = 0; i < halves.length; i++) data[i] = halfToNumber(halves[i] as number);
  }
  return data;
}

function decodeUtf8(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`${source}: header is not UTF-8`);
  }
}

function parseObject(text: string, source: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${source} is not JSON: ${(error as Error).message}`);
  }
  if (!isRecord(value)) throw new Error(`${source} must be a JSON object`);
  return value;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
