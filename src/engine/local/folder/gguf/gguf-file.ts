import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { BLOCK_TYPES, type BlockType, dequantize, OTHER_TYPES } from './dequantize.js';

/** A value of the metadata; 64-bit integers become numbers. */
export type MetadataValue = number | boolean | string | readonly MetadataValue[];

export interface GgufTensor {
  readonly name: string;
  /** Outermost dimension first, as elsewhere here; the file has it the other way round. */
  readonly shape: readonly number[];
  readonly type: BlockType;
}

/**
 * A GGUF file, open for reading: metadata and the list of tensors at once, tensors one by one.
 * The header is not trusted: counts, lengths and offsets are checked against the size of the file.
 * Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */
export interface GgufFile {
  readonly path: string;
  readonly metadata: ReadonlyMap<string, MetadataValue>;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
  /** A tensor's numbers in f32. @throws Error when there is none of this name or the file ends early. */
  read(name: string): Float32Array;
  close(): void;
}

const MAGIC = 0x46554747;
const DEFAULT_ALIGNMENT = 32;
/** The header is read in pieces of this size; vocabularies make it megabytes long. */
const PIECE = 1 << 22;
const MAX_DIMENSIONS = 4;

/** @throws Error naming the file and what is wrong with it: another format or version, a tensor type that is not read. */
export function openGguf(path: string): GgufFile {
  const descriptor = openSync(path, 'r');
  try {
    const size = fstatSync(descriptor).size;
    const read = (position: number, length: number): Uint8Array => {
      const bytes = new Uint8Array(length);
      let done = 0;
      while (done < length) {
        const count = readSync(descriptor, bytes, done, length - done, position + done);
        if (count === 0) throw new Error(`${path}: ended while being read`);
        done += count;
      }
      return bytes;
    };
    const { metadata, tensors, offsets } = parseHeader(new Cursor(path, size, read), size, path);
    return {
      path,
      metadata,
      tensors,
      read(name) {
        const tensor = tensors.get(name);
        const range = offsets.get(name);
        if (!tensor || !range) throw new Error(`${path}: lacks the tensor "${name}"`);
        return dequantize(read(range.begin, range.length), tensor.type);
      },
      close: () => closeSync(descriptor),
    };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function parseHeader(cursor: Cursor, size: number, path: string) {
  if (cursor.uint32() !== MAGIC) throw new Error(`${path}: not a GGUF file`);
  const version = cursor.uint32();
  if (version !== 2 && version !== 3)
    throw new Error(`${path}: GGUF version ${version}; little-endian versions 2 and 3 are read`);
  const tensorCount = cursor.count();
  const metadataCount = cursor.count();
  const metadata = new Map<string, MetadataValue>();
  for (let i = 0; i < metadataCount; i++) metadata.set(cursor.string(), cursor.value(cursor.uint32()));
  const list: (GgufTensor & { readonly offset: number })[] = [];
  for (let i = 0; i < tensorCount; i++) {
    const name = cursor.string();
    const where = `${path}: tensor "${name}"`;
    const rank = cursor.uint32();
    if (rank < 1 || rank > MAX_DIMENSIONS) throw new Error(`${where} has ${rank} dimensions`);
    const shape = Array.from({ length: rank }, () => cursor.count()).reverse();
    const number = cursor.uint32();
    const type = BLOCK_TYPES.get(number);
    if (!type) {
      const types = [...BLOCK_TYPES.values()].map(({ name: known }) => known).join(', ');
      throw new Error(`${where} has type ${OTHER_TYPES[number] ?? number}; ${types} are read`);
    }
    if ((shape.at(-1) as number) % type.size !== 0)
      throw new Error(`${where}: rows of ${shape.at(-1)} are no whole blocks of ${type.name}`);
    list.push({ name, shape, type, offset: cursor.count() });
  }
  const alignment = metadata.get('general.alignment') ?? DEFAULT_ALIGNMENT;
  if (typeof alignment !== 'number' || !(alignment > 0))
    throw new Error(`${path}: wrong "general.alignment"`);
  const start = Math.ceil(cursor.position / alignment) * alignment;
  const tensors = new Map<string, GgufTensor>();
  const offsets = new Map<string, { readonly begin: number; readonly length: number }>();
  for (const { name, shape, type, offset } of list) {
    const length = (shape.reduce((a, b) => a * b, 1) / type.size) * type.bytes;
    if (tensors.has(name)) throw new Error(`${path}: two tensors are named "${name}"`);
    if (!Number.isSafeInteger(length) || start + offset + length > size)
      throw new Error(`${path}: tensor "${name}" lies beyond the end of the file (${size} bytes)`);
    tensors.set(name, { name, shape, type });
    offsets.set(name, { begin: start + offset, length });
  }
  return { metadata, tensors, offsets };
}

const STRING = 8;
const ARRAY = 9;
/** Bytes of a value of a fixed-size type. */
const WIDTHS: Readonly<Record<number, number>> = {
  0: 1,
  1: 1,
  2: 2,
  3: 2,
  4: 4,
  5: 4,
  6: 4,
  7: 1,
  10: 8,
  11: 8,
  12: 8,
};

/** Reads the header in order. */
class Cursor {
  position = 0;
  readonly #path: string;
  readonly #size: number;
  readonly #read: (position: number, length: number) => Uint8Array;
  #begin = 0;
  #view: DataView = new DataView(new ArrayBuffer(0));

  constructor(path: string, size: number, read: (position: number, length: number) => Uint8Array) {
    this.#path = path;
    this.#size = size;
    this.#read = read;
  }

  /** Makes `length` bytes available and steps over them; returns their place in the view. */
  #take(length: number): number {
    if (length > this.#size - this.position)
      throw new Error(`${this.#path}: the header goes on beyond the end of the file (${this.#size} bytes)`);
    if (this.position + length > this.#begin + this.#view.byteLength) {
      const bytes = this.#read(this.position, Math.min(Math.max(PIECE, length), this.#size - this.position));
      this.#begin = this.position;
      this.#view = new DataView(bytes.buffer);
    }
    const at = this.position - this.#begin;
    this.position += length;
    return at;
  }

  uint32(): number {
    const at = this.#take(4);
    return this.#view.getUint32(at, true);
  }

  /** An unsigned 64-bit integer that must be exact as a number. */
  count(): number {
    const at = this.#take(8);
    const value = Number(this.#view.getBigUint64(at, true));
    if (!Number.isSafeInteger(value)) throw new Error(`${this.#path}: a count of ${value} in the header`);
    return value;
  }

  string(): string {
    const length = this.count();
    const at = this.#take(length);
    return Buffer.from(this.#view.buffer as ArrayBuffer, at, length).toString('utf8');
  }

  value(type: number): MetadataValue {
    if (type === STRING) return this.string();
    if (type === ARRAY) {
      const itemType = this.uint32();
      const length = this.count();
      // An item takes at least one byte: no array is longer than what is left.
      if (length > this.#size - this.position)
        throw new Error(`${this.#path}: an array of ${length} in the header`);
      return Array.from({ length }, () => this.value(itemType));
    }
    const width = WIDTHS[type];
    if (width === undefined) throw new Error(`${this.#path}: metadata of unknown type ${type}`);
    const at = this.#take(width);
    const view = this.#view;
    switch (type) {
      case 0:
        return view.getUint8(at);
      case 1:
        return view.getInt8(at);
      case 2:
        return view.getUint16(at, true);
      case 3:
        return view.getInt16(at, true);
      case 4:
        return view.getUint32(at, true);
      case 5:
        return view.getInt32(at, true);
      case 6:
        return view.getFloat32(at, true);
      case 7:
        return view.getUint8(at) !== 0;
      case 10:
        return Number(view.getBigUint64(at, true));
      case 11:
        return Number(view.getBigInt64(at, true));
      default:
        return view.getFloat64(at, true);
    }
  }
}
