import { expect, test } from 'vitest';
import { adamSettings, adamwUpdate } from './adamw.js';

function arrays(w: number, g: number) {
  return {
    parameters: Float32Array.of(w),
    gradient: Float32Array.of(g),
    first: new Float32Array(1),
    second: new Float32Array(1),
  };
}

test('two steps worked by hand', () => {
  const settings = adamSettings({ learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 0.5 });
  const a = arrays(1, 2);
  // t = 1: m = 0.2, v = 0.04; m̂ = 2, v̂ = 4; w = 1 − 0.1·2/(2 + 0.5) = 0.92
  adamwUpdate(a, 0, 1, settings, 1, 1, 0);
  expect(a.parameters[0]).toBeCloseTo(0.92, 6);
  // t = 2, g = −1: m = 0.18 − 0.1 = 0.08, v = 0.0396 + 0.01 = 0.0496;
  // m̂ = 0.08/0.19 = 0.4210526, v̂ = 0.0496/0.0199 = 2.4924623; w = 0.92 − 0.1·0.4210526/(1.5787534 + 0.5)
  a.gradient[0] = -1;
  adamwUpdate(a, 0, 1, settings, 2, 1, 0);
  expect(a.parameters[0]).toBeCloseTo(0.92 - 0.0421053 / 2.0787534, 6);
});

test('decay is decoupled: it shrinks the weight by lr·decay whatever the gradient is', () => {
  const settings = adamSettings({ learningRate: 0.1, weightDecay: 0.2 });
  const a = arrays(3, 0);
  adamwUpdate(a, 0, 1, settings, 1, 1, settings.weightDecay);
  expect(a.parameters[0]).toBeCloseTo(3 * (1 - 0.1 * 0.2), 6);
});

test('the factor scales the gradient before the moments; other elements stay', () => {
  const a = { ...arrays(0, 0), parameters: new Float32Array(3), gradient: Float32Array.of(4, 4, 4) };
  a.first = new Float32Array(3);
  a.second = new Float32Array(3);
  adamwUpdate(a, 1, 2, adamSettings({ learningRate: 1 }), 1, 0.5, 0);
  expect([...a.first]).toEqual([0, Math.fround(0.1 * 2), 0]);
  expect([...a.parameters].map((w) => w !== 0)).toEqual([false, true, false]);
});

test('settings that cannot be are refused by name', () => {
  expect(() => adamSettings({ learningRate: Number.NaN })).toThrow(/learningRate/);
  expect(() => adamSettings({ learningRate: 1, beta2: 1 })).toThrow(/beta2/);
});
