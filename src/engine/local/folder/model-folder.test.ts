import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Template } from '@huggingface/jinja';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { countParameters, type ModelConfig } from '../model/config.js';
import { initializeParameters, transposeLinears } from '../model/parameters.js';
import { parseModelConfig } from './config.js';
import { readModelFolder, type TokenizerFiles, writeModelFolder } from './model-folder.js';
import { encodeSafetensors, parseSafetensors } from './safetensors.js';
import { FolderTokenizer } from './tokenizer.js';

const config: ModelConfig = {
  vocabularySize: 300,
  hiddenSize: 8,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 4,
  intermediateSize: 12,
  ropeTheta: 5000,
  rmsEps: 1e-6,
  tied: true,
  context: 64,
  eosTokenIds: [256],
};

/** Byte-level BPE without merges: any text is 256 kinds of tokens. GPT-2's table from bytes to characters. */
function byteLevelTokenizer(): TokenizerFiles {
  const printable = (byte: number) =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
  const vocabulary: Record<string, number> = {};
  let next = 256;
  for (let byte = 0; byte < 256; byte++) {
    vocabulary[String.fromCharCode(printable(byte) ? byte : next++)] = byte;
  }
  const special = (id: number, content: string) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  });
  return {
    tokenizer: {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: [special(256, '<|end|>'), special(257, '<|user|>')],
      normalizer: null,
      pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
      post_processor: null,
      decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
      model: {
        type: 'BPE',
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: '',
        end_of_word_suffix: '',
        fuse_unk: false,
        byte_fallback: false,
        vocab: vocabulary,
        merges: [],
      },
    },
    tokenizerConfig: { tokenizer_class: 'PreTrainedTokenizerFast', eos_token: '<|end|>' },
    chatTemplate: '{% for m in messages %}{{ m.content }}{% endfor %}',
  };
}

const files = byteLevelTokenizer();
const parameters = new Map(Object.entries(transposeLinears(Object.entries(initializeParameters(config, 1)))));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-model-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a model folder', () => {
  test('reads back as it was written', () => {
    writeModelFolder(folder, config, parameters, files);
    const model = readModelFolder(folder);
    expect(model.config).toEqual(config);
    expect(model.parameters).toEqual(parameters);
    expect(model.chatTemplate).toBe(files.chatTemplate);
    expect(model.tokenizer.tokenId('<|end|>')).toBe(256);
    expect(model.tokenizer.eosTokenIds).toEqual([256]);
  });

  test('equal models give equal bytes', () => {
    writeModelFolder(join(folder, 'a'), config, parameters, files);
    writeModelFolder(join(folder, 'b'), config, new Map([...parameters].reverse()), files);
    for (const name of ['config.json', 'model.safetensors', 'tokenizer.json']) {
      expect(readFileSync(join(folder, 'a', name))).toEqual(readFileSync(join(folder, 'b', name)));
    }
  });

  test('a missing tensor and one of another shape are named', () => {
    writeModelFolder(folder, config, parameters, files);
    const file = join(folder, 'model.safetensors');
    const tensors = parseSafetensors(readFileSync(file), file).tensors;
    tensors.set('model.norm.weight', { shape: [4], data: new Float32Array(4) });
    writeFileSync(file, encodeSafetensors(tensors));
    expect(() => readModelFolder(folder)).toThrow('"model.norm.weight" is [4], config.json means [8]');
    tensors.delete('model.layers.1.mlp.up_proj.weight');
    writeFileSync(file, encodeSafetensors(tensors));
    expect(() => readModelFolder(folder)).toThrow('lack "model.layers.1.mlp.up_proj.weight"');
  });

  test('end tokens of generation_config.json win', () => {
    writeModelFolder(folder, config, parameters, files);
    writeFileSync(join(folder, 'generation_config.json'), '{"eos_token_id": [256, 257]}');
    expect(readModelFolder(folder).config.eosTokenIds).toEqual([256, 257]);
  });

  test('the template may stand in tokenizer_config.json, as a string or a list', () => {
    writeModelFolder(folder, config, parameters, { ...files, chatTemplate: null });
    expect(readModelFolder(folder).chatTemplate).toBeNull();
    const write = (template: unknown) =>
      writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify({ chat_template: template }));
    write('plain');
    expect(readModelFolder(folder).chatTemplate).toBe('plain');
    write([
      { name: 'tool_use', template: 'tools' },
      { name: 'default', template: 'usual' },
    ]);
    // As in transformers: conversations with tools take the template of that name.
    const template = new Template(readModelFolder(folder).chatTemplate as string);
    expect([template.render({ tools: [{}] }), template.render({})]).toEqual(['tools', 'usual']);
    write([{ name: 'rag', template: 'x' }]);
    expect(() => readModelFolder(folder)).toThrow('"default"');
  });
});

describe('config.json', () => {
  const minimal = {
    model_type: 'qwen3',
    vocab_size: 10,
    hidden_size: 8,
    num_hidden_layers: 1,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    intermediate_size: 16,
  };
  test('takes the old and the new place of the rotary base', () => {
    expect(parseModelConfig({ ...minimal, rope_theta: 1e6, rope_scaling: null }, 'c').ropeTheta).toBe(1e6);
    const nested = { rope_parameters: { rope_type: 'default', rope_theta: 2e6 } };
    expect(parseModelConfig({ ...minimal, ...nested }, 'c').ropeTheta).toBe(2e6);
    expect(parseModelConfig(minimal, 'c')).toMatchObject({ ropeTheta: 10000, headDim: 128, tied: false });
  });
  test.each([
    [{ model_type: 'mamba' }, '"mamba"'],
    [{ model_type: undefined, architectures: ['MistralForCausalLM'] }, '"MistralForCausalLM"'],
    [{ model_type: 'qwen2', architectures: ['Qwen2ForRewardModel'] }, '"Qwen2ForRewardModel"'],
    [{ model_type: 'llama', mlp_bias: true }, '"mlp_bias"'],
    [{ num_key_value_heads: 3 }, 'multiple'],
    [{ hidden_size: 'big' }, '"hidden_size"'],
    [{ attention_bias: true }, '"attention_bias"'],
    [{ rope_scaling: { rope_type: 'yarn', factor: 4 } }, '"yarn"'],
    [{ rope_parameters: { rope_type: 'llama3', rope_theta: 1 } }, '"factor"'],
    [{ layer_types: ['sliding_attention'] }, '"layer_types"'],
    [{ quantization_config: { bits: 4 } }, '"quantization_config"'],
    [{ eos_token_id: 'end' }, '"eos_token_id"'],
  ])('refuses %j', (change, message) => {
    expect(() => parseModelConfig({ ...minimal, ...change }, 'here/config.json')).toThrow(message);
    expect(() => parseModelConfig({ ...minimal, ...change }, 'here/config.json')).toThrow('here/config.json');
  });
  test('counts parameters as worked by hand', () => {
    // embedding 300·8; layer: norms 2·8 + 2·4, q and o 2·(16·8), k and v 2·(8·8), MLP 3·(12·8); final norm 8
    expect(countParameters(config)).toBe(2400 + 2 * (16 + 8 + 256 + 128 + 288) + 8);
  });
});

describe('the tokenizer', () => {
  const tokenizer = new FolderTokenizer(files.tokenizer, files.tokenizerConfig, [256]);
  test('is lossless on any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
      }),
    );
    const tricky = ' a , b .  c !\n<|user|> don ’t ’s<|end|>';
    expect(tokenizer.decode(tokenizer.encode(tricky))).toBe(tricky);
  });
  test('special tokens are one token', () => {
    expect(tokenizer.encode('A<|user|>')).toEqual([65, 257]);
    expect(tokenizer.tokenId('<|nothing|>')).toBeUndefined();
  });
  test('nothing decodes to nothing, and ids without text are left out', () => {
    expect(tokenizer.decode([])).toBe('');
    expect(tokenizer.encode('')).toEqual([]);
    expect(tokenizer.decode([299])).toBe('');
    expect(tokenizer.decode([65, 299, 66])).toBe('AB');
  });
});
