import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Random } from '../../run/random.js';
import { readSafetensors, type Tensor, writeSafetensors } from './folder/safetensors.js';
import { type GateFile, readGateFile, writeGateFile } from './gate-file.js';
import { type ModelConfig, PROJECTIONS, projectionShape } from './model/config.js';
import { type PeftAdapter, readPeftFolder, writePeftFolder } from './peft.js';

const config: ModelConfig = {
  vocabularySize: 20,
  hiddenSize: 8,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 4,
  intermediateSize: 12,
  ropeTheta: 10000,
  rmsEps: 1e-6,
  tied: true,
  context: 32,
  eosTokenIds: [],
};
const random = new Random(5);
const tensor = (...shape: number[]): Tensor => ({
  shape,
  data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => random.gaussian()),
});
const adapter: PeftAdapter = {
  rank: 3,
  alpha: 6,
  baseModel: 'models/base',
  layers: Array.from({ length: 2 }, () => {
    const pairs = PROJECTIONS.map((projection) => {
      const [out, input] = projectionShape(config, projection);
      return [projection, { a: tensor(3, input), b: tensor(out, 3) }] as const;
    });
    return Object.fromEntries(pairs) as PeftAdapter['layers'][number];
  }),
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-peft-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('an adapter reads back as it was written', () => {
  writePeftFolder(folder, adapter);
  expect(readPeftFolder(folder, config)).toEqual(adapter);
});

test('the files carry PEFT’s names, shapes and keys', () => {
  writePeftFolder(folder, adapter);
  const { tensors, metadata } = readSafetensors(join(folder, 'adapter_model.safetensors'));
  expect(metadata).toEqual({ format: 'pt' });
  expect(tensors.size).toBe(2 * 7 * 2);
  // As listed by safetensors for an adapter that PEFT 0.21.2 saved for a Qwen3 model.
  const prefix = 'base_model.model.model.layers.1';
  expect(tensors.get(`${prefix}.self_attn.k_proj.lora_A.weight`)?.shape).toEqual([3, 8]);
  expect(tensors.get(`${prefix}.self_attn.k_proj.lora_B.weight`)?.shape).toEqual([8, 3]);
  expect(tensors.get(`${prefix}.mlp.down_proj.lora_A.weight`)?.shape).toEqual([3, 12]);
  expect([...tensors.keys()]).toEqual([...tensors.keys()].sort());
  const json = JSON.parse(readFileSync(join(folder, 'adapter_config.json'), 'utf8'));
  expect(json).toMatchObject({
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    r: 3,
    lora_alpha: 6,
    bias: 'none',
    base_model_name_or_path: 'models/base',
    fan_in_fan_out: false,
    use_rslora: false,
  });
  expect(new Set(json.target_modules)).toEqual(
    new Set(['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj']),
  );
  expect(Object.keys(json)).toHaveLength(41);
});

test('what would load to another adapter is refused', () => {
  writePeftFolder(folder, adapter);
  const file = join(folder, 'adapter_config.json');
  const good = JSON.parse(readFileSync(file, 'utf8'));
  const withConfig = (change: object) => {
    writeFileSync(file, JSON.stringify({ ...good, ...change }));
    return () => readPeftFolder(folder, config);
  };
  expect(withConfig({ peft_type: 'IA3' })).toThrow('"peft_type"');
  expect(withConfig({ r: undefined })).toThrow('"r"');
  expect(withConfig({ lora_alpha: undefined })).toThrow('"lora_alpha"');
  expect(withConfig({ use_rslora: true })).toThrow('"use_rslora"');
  expect(withConfig({ rank_pattern: { q_proj: 4 } })).toThrow('"rank_pattern"');
  expect(withConfig({ r: 4 })).toThrow('the model needs [4, 8]');
  writeFileSync(file, JSON.stringify(good));
  const weights = join(folder, 'adapter_model.safetensors');
  const { tensors } = readSafetensors(weights);
  writeSafetensors(weights, new Map([...tensors, ['base_model.model.lm_head.lora_A.weight', tensor(3, 8)]]));
  expect(() => readPeftFolder(folder, config)).toThrow('lm_head');
  tensors.delete('base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight');
  writeSafetensors(weights, tensors);
  expect(() => readPeftFolder(folder, config)).toThrow('layers.0.self_attn.q_proj.lora_B');
});

test('gates read back, and gates of another model are refused', () => {
  const gate: GateFile = {
    adapters: ['choose', 'verify'],
    layers: [0, 1].map(() => ({ weight: tensor(3, 8), bias: tensor(3) })),
  };
  writeGateFile(folder, gate, config);
  expect(readGateFile(folder, config)).toEqual(gate);
  expect(() => readGateFile(folder, { ...config, hiddenSize: 16 })).toThrow('"hidden_size"');
  const file = join(folder, 'gate_config.json');
  const json = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...json, slots: ['none', 'choose'] }));
  expect(() => readGateFile(folder, config)).toThrow('[3, 8], expected [2, 8]');
});
