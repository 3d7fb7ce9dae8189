import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readModel } from '../model-folder.js';
import { BLOCK_TYPES, dequantize } from './dequantize.js';
import { openGguf } from './gguf-file.js';
import { ggufConfig, ggufName, unpermuted } from './gguf-model.js';

const fixtures = resolve(import.meta.dirname, '../../../../../test/fixtures/parity');
const tiny = join(fixtures, 'gguf', 'model', 'tiny.gguf');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-gguf-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Metadata values of the tests: texts, unsigned 32-bit integers, floats, lists of texts. */
type Value = string | { u32: number } | { f32: number } | readonly string[];

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const u64 = (value: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const text = (value: string) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);

function encodeValue(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.concat([u32(8), text(value)]);
  if ('u32' in value) return Buffer.concat([u32(4), u32(value.u32)]);
  if ('f32' in value) {
    const bytes = Buffer.alloc(4);
    bytes.writeFloatLE(value.f32);
    return Buffer.concat([u32(6), bytes]);
  }
  return Buffer.concat([u32(9), u32(8), u64(value.length), ...value.map(text)]);
}

/** A GGUF file of F32 tensors, or of a type given by number with no data. */
function encode(
  metadata: Record<string, Value>,
  tensors: Record<string, { shape: number[]; data?: number[]; type?: number }>,
): Buffer {
  let offset = 0;
  const infos: Buffer[] = [];
  const data: Buffer[] = [];
  for (const [name, tensor] of Object.entries(tensors)) {
    const { shape, type = 0 } = tensor;
    infos.push(text(name), u32(shape.length), ...[...shape].reverse().map(u64), u32(type), u64(offset));
    const bytes = Buffer.from(
      Float32Array.from(tensor.data ?? new Array(shape.reduce((a, b) => a * b, 1)).fill(0)).buffer,
    );
    const padded = Buffer.alloc(Math.ceil(bytes.length / 32) * 32);
    bytes.copy(padded);
    data.push(padded);
    offset += padded.length;
  }
  const header = Buffer.concat([
    Buffer.from('GGUF'),
    u32(3),
    u64(Object.keys(tensors).length),
    u64(Object.keys(metadata).length),
    ...Object.entries(metadata).flatMap(([key, value]) => [text(key), encodeValue(value)]),
    ...infos,
  ]);
  return Buffer.concat([header, Buffer.alloc((32 - (header.length % 32)) % 32), ...data]);
}

const llama: Record<string, Value> = {
  'general.architecture': 'llama',
  'llama.block_count': { u32: 1 },
  'llama.context_length': { u32: 16384 },
  'llama.embedding_length': { u32: 8 },
  'llama.feed_forward_length': { u32: 12 },
  'llama.attention.head_count': { u32: 1 },
  'llama.attention.layer_norm_rms_epsilon': { f32: 1e-5 },
  'llama.rope.freq_base': { f32: 500000 },
  'tokenizer.ggml.eos_token_id': { u32: 3 },
  'tokenizer.ggml.eot_token_id': { u32: 5 },
};
const embedding = { 'token_embd.weight': { shape: [6, 8] } };

function write(bytes: Buffer, name = 'a.gguf'): string {
  const file = join(folder, name);
  writeFileSync(file, bytes);
  return file;
}

describe('dequantisation', () => {
  const blocks = JSON.parse(readFileSync(join(fixtures, 'gguf-blocks.json'), 'utf8')) as Record<
    string,
    { bytes: string; floats: string }
  >;
  test.each(Object.entries(blocks))("%s gives the numbers of Python's gguf", (name, { bytes, floats }) => {
    const type = [...BLOCK_TYPES.values()].find((candidate) => candidate.name === name)!;
    const expected = new Float32Array(new Uint8Array(Buffer.from(floats, 'base64')).buffer);
    expect(dequantize(Buffer.from(bytes, 'base64'), type)).toEqual(expected);
  });
  test('F16 and bytes that end within a block', () => {
    // 1.5 and −2 in half precision.
    expect([...dequantize(Uint8Array.of(0x00, 0x3e, 0x00, 0xc0), BLOCK_TYPES.get(1)!)]).toEqual([1.5, -2]);
    expect(() => dequantize(new Uint8Array(33), BLOCK_TYPES.get(8)!)).toThrow('Q8_0');
  });
});

describe('a GGUF file', () => {
  test('gives metadata and tensors, outermost dimension first', () => {
    const data = [1, 2, 3, 4, 5, 6];
    const bytes = encode(
      { name: 'x', list: ['a', 'ü'], n: { u32: 7 } },
      { first: { shape: [3] }, t: { shape: [2, 3], data } },
    );
    const file = openGguf(write(bytes));
    expect(Object.fromEntries(file.metadata)).toEqual({ name: 'x', list: ['a', 'ü'], n: 7 });
    expect(file.tensors.get('t')!.shape).toEqual([2, 3]);
    expect([...file.read('t')]).toEqual(data);
    expect(() => file.read('u')).toThrow('"u"');
    file.close();
  });

  test('that is cut, has another version or type is refused by name', () => {
    const whole = encode(llama, embedding);
    for (const length of [3, 20, 100, whole.length - 1])
      expect(() => openGguf(write(whole.subarray(0, length)))).toThrow(/a\.gguf/);
    const version = Buffer.from(whole);
    version.writeUInt32LE(1, 4);
    expect(() => openGguf(write(version))).toThrow('version 1');
    expect(() => openGguf(write(Buffer.from('PK\x03\x04 and more bytes')))).toThrow('not a GGUF file');
    const other = encode(llama, { t: { shape: [256], type: 13 } });
    expect(() => openGguf(write(other))).toThrow(/"t" has type Q5_K; F32, F16, Q4_0/);
  });

  test('means a model: names, context, end tokens, tied head', () => {
    const file = openGguf(write(encode(llama, embedding)));
    expect(ggufConfig(file)).toEqual({
      vocabularySize: 6,
      hiddenSize: 8,
      layers: 1,
      heads: 1,
      kvHeads: 1,
      headDim: 8,
      intermediateSize: 12,
      ropeTheta: 500000,
      rmsEps: 1e-5,
      tied: true,
      queryKeyNorm: false,
      context: 16384,
      eosTokenIds: [3, 5],
    });
    file.close();
    expect(ggufName('model.layers.12.self_attn.k_proj.bias')).toBe('blk.12.attn_k.bias');
    expect(ggufName('lm_head.weight')).toBe('output.weight');
  });

  test("Llama 3's scaling is recognised in its factors; others are refused", () => {
    // Llama 3.1's own numbers for heads of 8 at base 500000: wavelengths 6.3, 167, 4443, 118143 beside the bounds
    // 8192/4 = 2048 and 8192/1; the third lies between: kept = (8192/4443 − 1)/3 = 0.2813.
    const kept = (8192 / (2 * Math.PI * 500000 ** 0.5) - 1) / 3;
    const factors = [1, 1, 1 / ((1 - kept) / 8 + kept), 8];
    const open = (data: number[]) =>
      openGguf(write(encode(llama, { ...embedding, 'rope_freqs.weight': { shape: [4], data } })));
    expect(ggufConfig(open(factors)).ropeScaling).toEqual({
      factor: 8,
      lowFrequencyFactor: 1,
      highFrequencyFactor: 4,
      originalContext: 8192,
    });
    expect(() => ggufConfig(open([1, 2, 3, 8]))).toThrow('rope_freqs.weight');
  });

  test.each<[Record<string, Value>, string]>([
    [{ 'general.architecture': 'mamba' }, '"mamba"'],
    [{ 'llama.expert_count': { u32: 8 } }, 'llama.expert_count'],
    [{ 'llama.rope.scaling.type': 'yarn' }, 'llama.rope.scaling.type'],
    [{ 'llama.rope.dimension_count': { u32: 4 } }, 'llama.rope.dimension_count'],
    [{ 'split.count': { u32: 3 } }, '3 parts'],
    [{ 'llama.block_count': 'many' }, 'llama.block_count'],
  ])('refuses %j', (change, message) => {
    const file = openGguf(write(encode({ ...llama, ...change }, embedding)));
    expect(() => ggufConfig(file)).toThrow(message);
    file.close();
  });

  test('rows of a head go back to halves', () => {
    // One head of 4 rows of one number: pairs (0, 2), (1, 3) stood side by side.
    expect([...unpermuted(Float32Array.of(0, 2, 1, 3), 1, 4)]).toEqual([0, 1, 2, 3]);
    const twoHeads = Float32Array.of(0, 0.5, 2, 2.5, 1, 1.5, 3, 3.5, 10, 10, 12, 12, 11, 11, 13, 13);
    expect([...unpermuted(twoHeads, 2, 4)].filter((_, i) => i % 2 === 0)).toEqual([
      0, 1, 2, 3, 10, 11, 12, 13,
    ]);
  });

  test('is read from its path, from its folder, and with a tokenizer.json beside it', () => {
    const whole = readFileSync(tiny);
    const file = write(whole, 'model.gguf');
    const model = readModel(file);
    expect(readModel(folder).parameters).toEqual(model.parameters);
    expect(model.tokenizer.tokenId('<|im_end|>')).toBe(2);
    expect(model.chatTemplate).toContain('<tool_call>');
    writeFileSync(
      join(folder, 'tokenizer.json'),
      readFileSync(join(fixtures, 'qwen3', 'model', 'tokenizer.json'), 'utf8').replaceAll(
        '<|im_end|>',
        '<|stop|>',
      ),
    );
    expect(readModel(file).tokenizer.tokenId('<|stop|>')).toBe(2);
    write(whole, 'second.gguf');
    expect(() => readModel(folder)).toThrow('2 GGUF files');
    expect(() => readModel(join(folder, 'none'))).toThrow('is missing');
  });

  test('with a tokenizer of another kind says what to put beside it', () => {
    const tensors = Object.fromEntries(
      [
        ['token_embd', [6, 8]],
        ['output_norm', [8]],
        ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((name) => [`blk.0.${name}`, [8, 8]]),
        ...['attn_norm', 'ffn_norm'].map((name) => [`blk.0.${name}`, [8]]),
        ...['ffn_gate', 'ffn_up'].map((name) => [`blk.0.${name}`, [12, 8]]),
        ['blk.0.ffn_down', [8, 12]],
      ].map(([name, shape]) => [`${name}.weight`, { shape: shape as number[] }]),
    );
    const kind = (metadata: Record<string, Value>) => write(encode({ ...llama, ...metadata }, tensors));
    expect(() => readModel(kind({ 'tokenizer.ggml.model': 'llama' }))).toThrow(
      /"llama"; put the tokenizer.json/,
    );
    const unknown = { 'tokenizer.ggml.model': 'gpt2', 'tokenizer.ggml.pre': 'falcon' };
    expect(() => readModel(kind(unknown))).toThrow(/"falcon"; known: qwen2/);
  });
});
