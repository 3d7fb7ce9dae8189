import { rotaryAngles } from '../graph/ops/index.js';
import type { ModelConfig, RopeScaling } from './config.js';

/** A model's rotary angles for positions below `context`. */
export function modelAngles(config: ModelConfig, context: number): ReturnType<typeof rotaryAngles> {
  const { headDim, ropeTheta, ropeScaling } = config;
  return rotaryAngles(context, headDim, ropeTheta, ropeScaling && ((f) => scaledFrequency(f, ropeScaling)));
}

/**
 * Llama 3's stretched frequency (radians a position): waves longer than the original context over the low factor are
 * slowed down by `factor`, those shorter than it over the high factor stay, and between them the two are blended.
 */
export function scaledFrequency(frequency: number, scaling: RopeScaling): number {
  const { factor, lowFrequencyFactor: low, highFrequencyFactor: high, originalContext } = scaling;
  const turns = (originalContext * frequency) / (2 * Math.PI);
  if (turns < low) return frequency / factor;
  if (turns > high) return frequency;
  const kept = (turns - low) / (high - low);
  return (1 - kept) * (frequency / factor) + kept * frequency;
}
