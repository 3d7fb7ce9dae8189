/**
 * The search that the default GRPO settings come from: the same grid of learning rate and groups for adapters and
 * baselines, judged on validation slices. The splits `test` and `shift` are never looked at.
 *
 *   npx tsx bench/tune.ts RUN [--model models/desk-base] [--systems adapters,direct-grpo,mixed-lora]
 *       [--rates 4e-3,6e-3,8e-3] [--groups 4,8,16] [--adapter-rollouts 1300] [--rollouts 6144] [--seed 1]
 *
 * RUN is a run's folder with finished environments (`.trace/main`). Adapters are scored by their success on fresh
 * scenarios of their own environments, baselines by their success on the target's validation tasks beyond those that
 * choose checkpoints. One line a candidate; takes hours for the whole grid.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { passed, runRollouts } from '../src/agent/rollout.js';
import { openLocalEngine } from '../src/engine/local/engine.js';
import type { Environment } from '../src/environment/contract.js';
import { loadCapabilityEnvironment } from '../src/environment/load-generated.js';
import { runPaths } from '../src/run/paths.js';
import type { StepContext } from '../src/run/step.js';
import { wilson } from '../src/statistics/proportion.js';
import { desk } from '../src/targets/desk/desk.js';
import { runBaselines } from '../src/training/baselines.js';
import { GRPO_DEFAULTS, withBudget } from '../src/training/settings.js';
import { runTraining } from '../src/training/train-step.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: 'string', default: 'models/desk-base' },
    systems: { type: 'string', default: 'adapters,direct-grpo,mixed-lora' },
    rates: { type: 'string', default: '4e-3,6e-3,8e-3' },
    groups: { type: 'string', default: '4,8,16' },
    'adapter-rollouts': { type: 'string', default: '1300' },
    rollouts: { type: 'string', default: '6144' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
});
const [run] = positionals;
if (!run) throw new Error('name a run folder: npx tsx bench/tune.ts .trace/main');

/** Beyond the seeds of training, checkpoint choice and composition. */
const SCORE_SEEDS = 60_000_000;
const SCORE_TASKS = 256;

const engine = await openLocalEngine({ model: values.model });
const seed = Number(values.seed);
const work = mkdtempSync(join(tmpdir(), 'trace-tune-'));
const context: StepContext = { folder: work, emit: () => {}, signal: new AbortController().signal, seed };
cpSync(join(resolve(run), 'environments'), join(work, 'environments'), { recursive: true });

/** Passed attempts of a saved adapter at temperature 1. */
async function score(folder: string, environment: Environment, seeds: readonly number[], threshold: number) {
  const adapter = await engine.loadAdapter(folder);
  const requests = seeds.map((scenario) => ({ scenario, trial: 0 }));
  const rollouts = await runRollouts(engine, environment, requests, {
    policy: adapter,
    temperature: 1,
    seed,
    maxTurnTokens: GRPO_DEFAULTS.maxTurnTokens,
    concurrency: 128,
  });
  await engine.release(adapter);
  return rollouts.filter((rollout) => passed(rollout, threshold)).length;
}

async function scoreAdapters(settings: typeof GRPO_DEFAULTS): Promise<[number, number]> {
  rmSync(join(work, 'adapters'), { recursive: true, force: true });
  const summaries = await runTraining(context, settings, { engine });
  const seeds = Array.from({ length: SCORE_TASKS }, (_, i) => SCORE_SEEDS + i);
  let total = 0;
  for (const { name } of summaries) {
    const environment = await loadCapabilityEnvironment(runPaths.environment(work, name));
    total += await score(runPaths.adapter(work, name), environment, seeds, 1);
  }
  return [total, SCORE_TASKS * summaries.length];
}

async function scoreBaseline(name: string, settings: typeof GRPO_DEFAULTS): Promise<[number, number]> {
  rmSync(join(work, 'baselines'), { recursive: true, force: true });
  await runBaselines(
    context,
    {
      ...settings,
      stopAt: 2,
      rollouts: Number(values.rollouts),
      mixedLora: name === 'mixed-lora',
      directGrpo: name === 'direct-grpo',
    },
    { engine, target: desk },
  );
  // The first validation tasks choose the checkpoint; these come after them.
  const seeds = desk.split('validation', 2 * SCORE_TASKS).slice(SCORE_TASKS);
  return [await score(runPaths.baseline(work, name), desk, seeds, desk.successThreshold), SCORE_TASKS];
}

try {
  for (const system of values.systems.split(','))
    for (const groups of values.groups.split(',').map(Number))
      for (const learningRate of values.rates.split(',').map(Number)) {
        const candidate = { ...GRPO_DEFAULTS, groups, learningRate };
        const [hits, n] =
          system === 'adapters'
            ? await scoreAdapters(withBudget(candidate, Number(values['adapter-rollouts'])))
            : await scoreBaseline(system, candidate);
        const [low, high] = wilson(hits, n);
        const line = { system, groups, learningRate, passed: hits, n, rate: hits / n, interval: [low, high] };
        console.log(
          values.json
            ? JSON.stringify(line)
            : `${system.padEnd(12)} groups ${String(groups).padStart(2)} lr ${learningRate}: ${(100 * line.rate).toFixed(1)} % (${hits} of ${n}) [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`,
        );
      }
} finally {
  rmSync(work, { recursive: true, force: true });
  await engine.close();
}
