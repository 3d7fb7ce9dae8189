import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compareText, compareWithReference } from '../scripts/parity/compare.js';
import { parseModelConfig } from '../src/engine/local/folder/config.js';

/**
 * The local engine beside values that PyTorch, transformers and PEFT gave (`npm run parity -- --fixtures` wrote them):
 * models of every family, in f32, bf16 shards, f16 and GGUF.
 */
const fixtures = resolve(import.meta.dirname, 'fixtures/parity');
const models = readdirSync(fixtures, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

test('there is a fixture of every family and of GGUF', () => {
  expect(models.sort()).toEqual(['gguf', 'llama', 'qwen2', 'qwen3']);
});

describe.each(models)('%s', (name) => {
  const folder = join(fixtures, name);
  const reference = { name, model: join(folder, 'model'), folder };

  test('logits, LoRA, a GRPO step and AdamW are those of PyTorch within 1e-3', async () => {
    const found = await compareWithReference(reference, { threads: 1 });
    expect(found.length).toBeGreaterThan(10);
    for (const { quantity, error, count } of found) {
      expect(count, quantity).toBeGreaterThan(0);
      expect(error, quantity).toBeLessThan(1e-3);
      // Forward passes agree to rounding; a limit near it sees a wrong epsilon or a wrong angle.
      if (/logits|log-prob|loss/i.test(quantity)) expect(error, quantity).toBeLessThan(3e-5);
    }
  }, 600_000);

  test('texts have the tokens that tokenizers gives, chats with tools and thinking the text that transformers gives', () => {
    const { count, problems } = compareText(reference);
    expect(problems).toEqual([]);
    expect(count).toBe(7);
  });
});

test('config.json of transformers 4 and 5 mean the same model', () => {
  const read = (name: string): Record<string, unknown> =>
    JSON.parse(readFileSync(join(fixtures, name, 'model', 'config.json'), 'utf8'));
  const { rope_parameters: rope, dtype, ...rest } = read('qwen2');
  const old = { ...rest, rope_theta: (rope as { rope_theta: number }).rope_theta, torch_dtype: dtype };
  expect(parseModelConfig(old, 'old')).toEqual(parseModelConfig(read('qwen2'), 'new'));

  const { rope_theta: theta, rope_scaling: scaling, ...llama } = read('llama');
  const modern = { ...llama, rope_parameters: { ...(scaling as object), rope_theta: theta } };
  const parsed = parseModelConfig(modern, 'new');
  expect(parsed).toEqual(parseModelConfig(read('llama'), 'old'));
  expect(parsed.ropeScaling).toEqual({
    factor: 8,
    lowFrequencyFactor: 1,
    highFrequencyFactor: 4,
    originalContext: 64,
  });
});
