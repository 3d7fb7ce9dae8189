import { expect, test } from 'vitest';
import type { ModelConfig } from './config.js';
import { modelAngles, scaledFrequency } from './rope.js';

const scaling = { factor: 8, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalContext: 8192 };
/** Frequency of a wave of so many positions. */
const wave = (length: number) => (2 * Math.PI) / length;

test('Llama 3 keeps short waves, stretches long ones and blends between', () => {
  expect(scaledFrequency(wave(2000), scaling)).toBe(wave(2000));
  expect(scaledFrequency(wave(9000), scaling)).toBe(wave(9000) / 8);
  // 8192 / 4096 = 2 turns, a third of the way from 1 to 4: ⅔ of the slow frequency and ⅓ of the fast one.
  expect(scaledFrequency(wave(4096), scaling)).toBeCloseTo(wave(4096) * (2 / 3 / 8 + 1 / 3), 12);
  for (const bound of [8192, 2048]) {
    const [below, above] = [wave(bound * 1.0001), wave(bound * 0.9999)];
    expect(scaledFrequency(above, scaling) / scaledFrequency(below, scaling)).toBeCloseTo(1, 2);
  }
});

test('a model without scaling turns by position · theta^(−2i/size)', () => {
  const config = { headDim: 4, ropeTheta: 100, context: 8 } as ModelConfig;
  const { cosine, sine } = modelAngles(config, 3);
  expect(cosine[2 * 2 + 1]).toBeCloseTo(Math.cos(2 * 0.1), 6);
  expect(sine[2 * 2]).toBeCloseTo(Math.sin(2), 6);
  const scaled = modelAngles({ ...config, ropeScaling: { ...scaling, originalContext: 1 } }, 3);
  expect(scaled.sine[2 * 2]).toBeCloseTo(Math.sin(2 / 8), 6);
});
