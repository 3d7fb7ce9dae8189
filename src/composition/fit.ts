import type { Engine, MixtureHandle } from '../engine/contract.js';
import type { Random } from '../run/random.js';
import { batchExamples, type GateExample, targetCount, toData } from './examples.js';

/** How gates are fitted; see `CompositionOptions` for the meanings. */
export interface FitOptions {
  readonly epochs: number;
  readonly learningRate: number;
  readonly warmupSteps: number;
  readonly batchTokens: number;
}

/** What a fit did. */
export interface FitResult {
  readonly examples: number;
  readonly steps: number;
  /** Mean negative log-likelihood of the assistant's tokens in each epoch, nats a token. */
  readonly epochLoss: readonly number[];
}

/**
 * Learning rate of a step (from 0) of `total`: rises linearly over the warm-up, is held until half of the
 * steps are done, then falls linearly to a tenth.
 */
export function gateLearningRate(step: number, total: number, options: FitOptions): number {
  const warm = Math.min(1, (step + 1) / Math.max(1, options.warmupSteps));
  const fall = Math.max(0.1, 1 - 1.8 * Math.max(0, (step + 1) / total - 0.5));
  return options.learningRate * warm * fall;
}

/**
 * Fits a mixture's gates to episodes that passed: minimises the negative log-likelihood of their assistant
 * tokens under hard top-1 routing (the engine passes the gradient straight through). No slot label is used:
 * a gate learns to open an adapter exactly where that adapter makes the passed episode likelier.
 * @param random order of the batches; each epoch draws from a fork of its own.
 * @param onStep called after every gradient step with its number (from 1), the total and its loss.
 * @throws the signal's reason when aborted; Error when no example has an assistant token.
 */
export async function fitGates(
  engine: Engine,
  mixture: MixtureHandle,
  examples: readonly GateExample[],
  options: FitOptions,
  random: Random,
  signal?: AbortSignal,
  onStep?: (step: number, total: number, loss: number) => void,
): Promise<FitResult> {
  const usable = examples.filter((example) => targetCount(example) > 0);
  if (usable.length === 0) throw new Error('no passed episode with assistant tokens to fit the gates to');
  const batches = batchExamples(usable, options.batchTokens);
  const total = batches.length * options.epochs;
  const epochLoss: number[] = [];
  let step = 0;
  for (let epoch = 0; epoch < options.epochs; epoch++) {
    let sum = 0;
    let count = 0;
    for (const batch of random.fork('epoch', epoch).shuffle(batches)) {
      signal?.throwIfAborted();
      const { loss } = await engine.forwardBackward(mixture, toData(batch), { name: 'cross_entropy' });
      await engine.optimStep(mixture, {
        learningRate: gateLearningRate(step, total, options),
        beta2: 0.95,
        gradientClip: 1,
      });
      const n = batch.reduce((tokens, example) => tokens + targetCount(example), 0);
      sum += loss * n;
      count += n;
      step++;
      onStep?.(step, total, loss);
    }
    epochLoss.push(sum / count);
  }
  return { examples: usable.length, steps: total, epochLoss };
}
