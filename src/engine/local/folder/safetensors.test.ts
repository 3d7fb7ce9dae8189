import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  encodeSafetensors,
  parseSafetensors,
  readModelTensors,
  readSafetensors,
  type Tensor,
  writeSafetensors,
} from './safetensors.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-safetensors-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A file from a header text and data bytes, whatever they say. */
function file(header: string, data: Uint8Array = new Uint8Array(0)): Uint8Array {
  const text = Buffer.from(header);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.byteLength));
  return Buffer.concat([length, text, data]);
}

const tensor = fc.array(fc.nat({ max: 4 }), { maxLength: 3 }).chain((shape) =>
  fc
    .array(fc.float({ noNaN: true }), {
      minLength: shape.reduce((a, b) => a * b, 1),
      maxLength: shape.reduce((a, b) => a * b, 1),
    })
    .map((values): Tensor => ({ shape, data: Float32Array.from(values) })),
);
const name = fc.string({ minLength: 1, unit: 'binary' }).filter((text) => text !== '__metadata__');

test('what is written reads back, names and metadata of any kind', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(name, tensor), { maxLength: 5 }),
      fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }),
      (entries, metadata) => {
        const tensors = new Map(entries);
        const back = parseSafetensors(encodeSafetensors(tensors, metadata), 'bytes');
        expect([...back.tensors].sort()).toEqual([...tensors].sort());
        expect(Object.entries(back.metadata).sort()).toEqual(Object.entries(metadata).sort());
      },
    ),
  );
});

test('the layout is the format’s: length, JSON padded to 8, little-endian floats', () => {
  const bytes = encodeSafetensors(
    new Map([
      ['b', { shape: [2], data: Float32Array.of(1, -2) }],
      ['a', { shape: [1, 1], data: Float32Array.of(0.5) }],
    ]),
  );
  const view = Buffer.from(bytes);
  const length = Number(view.readBigUInt64LE(0));
  expect(length % 8).toBe(0);
  expect(JSON.parse(view.subarray(8, 8 + length).toString())).toEqual({
    __metadata__: { format: 'pt' },
    a: { dtype: 'F32', shape: [1, 1], data_offsets: [0, 4] },
    b: { dtype: 'F32', shape: [2], data_offsets: [4, 12] },
  });
  expect([0, 4, 8].map((at) => view.readFloatLE(8 + length + at))).toEqual([0.5, 1, -2]);
});

test('half precision: bfloat16 is the upper half of f32, float16 is IEEE binary16', () => {
  const bits = Uint16Array.of(0x3f80, 0xc2f7, 0x0001); // 1, −123.5, 2⁻¹³³
  const header = '{"x":{"dtype":"BF16","shape":[3],"data_offsets":[0,6]}}';
  const bf16 = parseSafetensors(file(header, new Uint8Array(bits.buffer)), 'x').tensors.get('x');
  expect([...(bf16?.data ?? [])]).toEqual([1, -123.5, 2 ** -133]);
  const half = Uint16Array.of(0x3c00, 0xc000, 0x3555, 0x7bff, 0x0001, 0xfc00, 0x8000);
  const f16 = parseSafetensors(
    file('{"x":{"dtype":"F16","shape":[7],"data_offsets":[0,14]}}', new Uint8Array(half.buffer)),
    'x',
  ).tensors.get('x');
  expect([...(f16?.data ?? [])]).toEqual([1, -2, 1365 / 4096, 65504, 2 ** -24, -Infinity, -0]);
});

describe('hostile files', () => {
  const entry = (fields: object) =>
    JSON.stringify({ x: { dtype: 'F32', shape: [2], data_offsets: [0, 8], ...fields } });
  const eight = new Uint8Array(8);
  test.each([
    ['too short', new Uint8Array(7), 'too few'],
    ['header longer than the file', Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0), 'does not fit'],
    ['header of 2^63 bytes', Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 128, 1), 'does not fit'],
    ['no JSON', file('{"x":'), 'not JSON'],
    ['a list', file('[]'), 'JSON object'],
    ['not UTF-8', Buffer.concat([Uint8Array.of(2, 0, 0, 0, 0, 0, 0, 0), Uint8Array.of(0xff, 0xfe)]), 'UTF-8'],
    ['other type', file(entry({ dtype: 'I64' }), eight), 'I64'],
    ['type from the prototype', file(entry({ dtype: 'constructor' }), eight), 'constructor'],
    ['negative side', file(entry({ shape: [-2] }), eight), 'counts'],
    ['fraction', file(entry({ shape: [0.5] }), eight), 'counts'],
    ['shape that overflows', file(entry({ shape: [2 ** 40, 2 ** 40] }), eight), 'does not fill'],
    ['shape larger than its bytes', file(entry({ shape: [3] }), eight), 'does not fill'],
    ['offsets backwards', file(entry({ data_offsets: [8, 0] }), eight), 'outside'],
    ['offsets past the end', file(entry({ data_offsets: [0, 16], shape: [4] }), eight), 'outside'],
    ['a hole', file(entry({ data_offsets: [4, 8], shape: [1] }), eight), 'expected'],
    ['unclaimed bytes', file(entry({ data_offsets: [0, 4], shape: [1] }), eight), 'end at 4'],
    [
      'overlap',
      file(
        '{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"y":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}',
        eight,
      ),
      'expected',
    ],
    ['metadata that is no text', file('{"__metadata__":{"a":1}}'), 'metadata "a"'],
  ])('%s', (_, bytes, message) => {
    expect(() => parseSafetensors(bytes, 'evil.safetensors')).toThrow(message);
    expect(() => parseSafetensors(bytes, 'evil.safetensors')).toThrow('evil.safetensors');
  });

  test('one changed byte gives an error or tensors of sound shape, never a crash', () => {
    const good = encodeSafetensors(new Map([['w', { shape: [2, 2], data: Float32Array.of(1, 2, 3, 4) }]]));
    fc.assert(
      fc.property(fc.nat({ max: good.length - 1 }), fc.nat({ max: 255 }), (at, value) => {
        const bytes = good.slice();
        bytes[at] = value;
        let tensors: Iterable<Tensor>;
        try {
          tensors = parseSafetensors(bytes, 'evil').tensors.values();
        } catch (error) {
          expect((error as Error).message).toContain('evil');
          return;
        }
        for (const { shape, data } of tensors) expect(shape.reduce((a, b) => a * b, 1)).toBe(data.length);
      }),
      { numRuns: 500 },
    );
  });
});

describe('shards', () => {
  const a: Tensor = { shape: [2], data: Float32Array.of(1, 2) };
  const b: Tensor = { shape: [1], data: Float32Array.of(3) };
  const index = (map: object) =>
    writeFileSync(join(folder, 'model.safetensors.index.json'), JSON.stringify({ weight_map: map }));

  test('are read by the index', () => {
    writeSafetensors(join(folder, 'one.safetensors'), new Map([['a', a]]));
    writeSafetensors(join(folder, 'two.safetensors'), new Map([['b', b]]));
    index({ a: 'one.safetensors', b: 'two.safetensors' });
    expect(readModelTensors(folder)).toEqual(
      new Map([
        ['a', a],
        ['b', b],
      ]),
    );
  });

  test('outside the folder are refused, as are broken promises', () => {
    index({ a: '../secret.safetensors' });
    expect(() => readModelTensors(folder)).toThrow('weight_map["a"]');
    writeSafetensors(join(folder, 'one.safetensors'), new Map([['a', a]]));
    index({ b: 'one.safetensors' });
    expect(() => readModelTensors(folder)).toThrow('lacks "b"');
  });
});

test('a folder without weights says so; a single file is read', () => {
  expect(() => readModelTensors(folder)).toThrow('no model.safetensors');
  writeSafetensors(
    join(folder, 'model.safetensors'),
    new Map([['w', { shape: [0, 3], data: new Float32Array(0) }]]),
  );
  expect(readModelTensors(folder).get('w')?.shape).toEqual([0, 3]);
  expect(readSafetensors(join(folder, 'model.safetensors')).metadata).toEqual({ format: 'pt' });
});
