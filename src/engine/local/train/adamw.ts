import type { AdamParams } from '../../contract.js';

/** AdamW's settings with every default filled in. */
export interface AdamSettings {
  readonly learningRate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  readonly weightDecay: number;
  /** 0: gradients are not clipped. */
  readonly gradientClip: number;
}

/** Fills defaults: β 0.9 / 0.95, ε 1e-8, no decay, no clipping. @throws RangeError that names the wrong field. */
export function adamSettings(adam: AdamParams): AdamSettings {
  const settings = {
    learningRate: adam.learningRate,
    beta1: adam.beta1 ?? 0.9,
    beta2: adam.beta2 ?? 0.95,
    epsilon: adam.epsilon ?? 1e-8,
    weightDecay: adam.weightDecay ?? 0,
    gradientClip: adam.gradientClip ?? 0,
  };
  for (const [name, value] of Object.entries(settings)) {
    if (!Number.isFinite(value) || value < 0) throw new RangeError(`adam: ${name} must be ≥ 0, got ${value}`);
  }
  for (const name of ['beta1', 'beta2'] as const) {
    if (settings[name] >= 1) throw new RangeError(`adam: ${name} must be below 1, got ${settings[name]}`);
  }
  return settings;
}

/** Flat arrays of equal length: what is trained, its gradient, and AdamW's moments. */
export interface AdamArrays {
  readonly parameters: Float32Array;
  readonly gradient: Float32Array;
  readonly first: Float32Array;
  readonly second: Float32Array;
}

/**
 * One AdamW step on elements [begin, end), in place and in double precision between loads and stores:
 * m = β₁m + (1−β₁)g, v = β₂v + (1−β₂)g², w −= lr·m̂/(√v̂ + ε) + lr·decay·w with m̂ = m/(1−β₁ᵗ), v̂ = v/(1−β₂ᵗ).
 * @param step t, counted from 1.
 * @param factor scales the gradient first (clipping).
 * @param decay weight decay of these elements; it is decoupled from the gradient (Loshchilov and Hutter 2019).
 */
export function adamwUpdate(
  { parameters, gradient, first, second }: AdamArrays,
  begin: number,
  end: number,
  settings: AdamSettings,
  step: number,
  factor: number,
  decay: number,
): void {
  const { learningRate, beta1, beta2, epsilon } = settings;
  const rate = learningRate / (1 - beta1 ** step);
  const spread = 1 / Math.sqrt(1 - beta2 ** step);
  const shrink = learningRate * decay;
  const rest1 = 1 - beta1;
  const rest2 = 1 - beta2;
  for (let i = begin; i < end; i++) {
    const g = gradient[i]! * factor;
    const m = beta1 * first[i]! + rest1 * g;
    const v = beta2 * second[i]! + rest2 * g * g;
    first[i] = m;
    second[i] = v;
    const w = parameters[i]!;
    parameters[i] = w - (rate * m) / (Math.sqrt(v) * spread + epsilon) - shrink * w;
  }
}

/** Elements summed at a time: fixed, so that a norm does not depend on how many workers share the work. */
export const NORM_CHUNK = 16384;

/** Σ x² over [begin, end) in double precision. */
export function sumOfSquares(x: Float32Array, begin: number, end: number): number {
  let sum = 0;
  for (let i = begin; i < end; i++) sum += x[i]! * x[i]!;
  return sum;
}
