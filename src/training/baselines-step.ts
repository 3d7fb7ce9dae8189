import type { Engine } from '../engine/contract.js';
import type { Target } from '../environment/contract.js';
import { type Budget, readBudget } from '../run/budget.js';
import { TraceError } from '../run/errors.js';
import type { RunEvent } from '../run/events.js';
import type { StepContext } from '../run/step.js';
import type { TrainingSummary } from './adapter-folder.js';
import { type BaselineOptions, runBaselines } from './baselines.js';

/** What the baselines were given. */
export interface BaselinesResult {
  readonly budget: Budget;
  readonly summaries: readonly TrainingSummary[];
}

/**
 * The step `baselines`: trains the mixed LoRA and direct GRPO with as many rollouts as the mixture cost in all
 * (rollouts of the diagnosis, calibration, training and composition, as the run's own summaries say), by the same
 * loop and settings as the adapters.
 * @param options GRPO settings of the adapters; `mixedLora` and `directGrpo` switch a baseline off.
 * @throws TraceError when the run has spent nothing yet; what `runBaselines` throws.
 */
export async function runBaselinesStep(
  context: StepContext,
  options: Partial<Omit<BaselineOptions, 'rollouts'>>,
  deps: { readonly engine: Engine; readonly target: Target },
): Promise<BaselinesResult> {
  const budget = readBudget(context.folder);
  if (budget.total === 0)
    throw new TraceError(
      `${context.folder} has no rollouts to be matched`,
      'Train and compose first: `trace run --until compose`.',
    );
  const parts = [
    `${budget.rollout} diagnosis`,
    `${total(budget.calibration)} calibration`,
    `${total(budget.training)} training`,
    `${budget.composition} composition`,
  ];
  const emit = (event: RunEvent) =>
    // The loop speaks of the step `train`; here it works for this one.
    context.emit('step' in event && event.step === 'train' ? { ...event, step: 'baselines' } : event);
  emit({
    type: 'message',
    step: 'baselines',
    level: 'info',
    text: `each baseline gets the mixture's ${budget.total} rollouts (${parts.join(', ')})`,
  });
  const settings = { ...options, stopAt: NEVER, rollouts: budget.total };
  const summaries = await runBaselines({ ...context, emit }, settings, deps);
  return { budget, summaries };
}

/** A held-out success that cannot be reached: a baseline spends its whole budget, so that the totals are equal. */
const NEVER = 2;

const total = (counts: { readonly [name: string]: number }) =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);
