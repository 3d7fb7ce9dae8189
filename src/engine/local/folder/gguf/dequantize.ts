import { halfToNumber } from '../half.js';

/** How a GGUF tensor type is stored: blocks of `size` numbers in `bytes` bytes. */
export interface BlockType {
  readonly name: string;
  readonly size: number;
  readonly bytes: number;
  /** Writes the numbers of the block that begins at `at`. */
  readonly decode: (view: DataView, at: number, out: Float32Array, to: number) => void;
}

const half = (view: DataView, at: number): number => halfToNumber(view.getUint16(at, true));

/** Tensor types by their number in the file. Layouts: ggml's quants (`ggml-common.h`), re-derived. */
export const BLOCK_TYPES: ReadonlyMap<number, BlockType> = new Map<number, BlockType>([
  [
    0,
    {
      name: 'F32',
      size: 1,
      bytes: 4,
      decode: (view, at, out, to) => {
        out[to] = view.getFloat32(at, true);
      },
    },
  ],
  [
    1,
    {
      name: 'F16',
      size: 1,
      bytes: 2,
      decode: (view, at, out, to) => {
        out[to] = half(view, at);
      },
    },
  ],
  [2, { name: 'Q4_0', size: 32, bytes: 18, decode: decodeQ4_0 }],
  [3, { name: 'Q4_1', size: 32, bytes: 20, decode: decodeQ4_1 }],
  [8, { name: 'Q8_0', size: 32, bytes: 34, decode: decodeQ8_0 }],
  [12, { name: 'Q4_K', size: 256, bytes: 144, decode: decodeQ4K }],
  [14, { name: 'Q6_K', size: 256, bytes: 210, decode: decodeQ6K }],
]);

/** Names of types that are not read, for errors. */
export const OTHER_TYPES: Readonly<Record<number, string>> = {
  6: 'Q5_0',
  7: 'Q5_1',
  9: 'Q8_1',
  10: 'Q2_K',
  11: 'Q3_K',
  13: 'Q5_K',
  15: 'Q8_K',
  16: 'IQ2_XXS',
  17: 'IQ2_XS',
  18: 'IQ3_XXS',
  19: 'IQ1_S',
  20: 'IQ4_NL',
  21: 'IQ3_S',
  22: 'IQ2_S',
  23: 'IQ4_XS',
  29: 'IQ1_M',
  30: 'BF16',
  34: 'TQ1_0',
  35: 'TQ2_0',
  39: 'MXFP4',
};

/** Dequantises whole blocks to f32. @throws RangeError when the bytes are no whole number of blocks. */
export function dequantize(bytes: Uint8Array, type: BlockType): Float32Array {
  if (bytes.byteLength % type.bytes !== 0)
    throw new RangeError(`${bytes.byteLength} bytes are no whole blocks of ${type.name}`);
  const blocks = bytes.byteLength / type.bytes;
  const out = new Float32Array(blocks * type.size);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let i = 0; i < blocks; i++) type.decode(view, i * type.bytes, out, i * type.size);
  return out;
}

/** d · (q − 8); q of number i in the low half of byte i, of number i + 16 in its high half. */
function decodeQ4_0(view: DataView, at: number, out: Float32Array, to: number): void {
  const scale = half(view, at);
  for (let i = 0; i < 16; i++) {
    const byte = view.getUint8(at + 2 + i);
    out[to + i] = scale * ((byte & 15) - 8);
    out[to + i + 16] = scale * ((byte >> 4) - 8);
  }
}

/** d · q + m. */
function decodeQ4_1(view: DataView, at: number, out: Float32Array, to: number): void {
  const scale = half(view, at);
  const least = half(view, at + 2);
  for (let i = 0; i < 16; i++) {
    const byte = view.getUint8(at + 4 + i);
    out[to + i] = scale * (byte & 15) + least;
    out[to + i + 16] = scale * (byte >> 4) + least;
  }
}

/** d · q with signed bytes. */
function decodeQ8_0(view: DataView, at: number, out: Float32Array, to: number): void {
  const scale = half(view, at);
  for (let i = 0; i < 32; i++) out[to + i] = scale * view.getInt8(at + 2 + i);
}

/**
 * Eight groups of 32: d·s·q − dmin·m. Twelve bytes hold eight 6-bit scales and minima: those of groups 0–3 in the
 * low six bits of bytes 0–3 and 4–7; those of groups 4–7 in the halves of bytes 8–11, their upper two bits above the
 * first ones.
 */
function decodeQ4K(view: DataView, at: number, out: Float32Array, to: number): void {
  const scale = half(view, at);
  const least = half(view, at + 2);
  const packed = (i: number) => view.getUint8(at + 4 + i);
  for (let group = 0; group < 8; group++) {
    const low = group < 4;
    const s = low ? packed(group) & 63 : (packed(group + 4) & 15) | ((packed(group - 4) >> 6) << 4);
    const m = low ? packed(group + 4) & 63 : (packed(group + 4) >> 4) | ((packed(group) >> 6) << 4);
    const from = at + 16 + 32 * (group >> 1);
    const shift = group % 2 === 0 ? 0 : 4;
    for (let i = 0; i < 32; i++) {
      const q = (view.getUint8(from + i) >> shift) & 15;
      out[to + 32 * group + i] = scale * s * q - least * m;
    }
  }
}

/**
 * d·s·(q − 32) with a signed scale for every 16 numbers. Of each half of 128: the low four bits of numbers i and
 * i + 64 share byte i of 64, the high two bits of i, i + 32, i + 64 and i + 96 share byte i of 32.
 */
function decodeQ6K(view: DataView, at: number, out: Float32Array, to: number): void {
  const scale = half(view, at + 208);
  for (let part = 0; part < 2; part++) {
    for (let quarter = 0; quarter < 4; quarter++) {
      for (let i = 0; i < 32; i++) {
        const lowByte = view.getUint8(at + 64 * part + 32 * (quarter % 2) + i);
        const low = quarter < 2 ? lowByte & 15 : lowByte >> 4;
        const high = (view.getUint8(at + 128 + 32 * part + i) >> (2 * quarter)) & 3;
        const s = view.getInt8(at + 192 + 8 * part + 2 * quarter + (i >> 4));
        out[to + 128 * part + 32 * quarter + i] = scale * s * ((low | (high << 4)) - 32);
      }
    }
  }
}
