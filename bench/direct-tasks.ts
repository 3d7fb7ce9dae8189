/**
 * How much does direct GRPO on the target gain from more training tasks? Trains it again on so many compound tasks,
 * with the rollouts that the run's mixture cost, and measures it on the same held-out tasks as the run.
 *
 *   npx tsx bench/direct-tasks.ts RUN [--tasks 64] [--model models/desk-base]
 *
 * RUN is the folder of a finished run (`.trace/main`); it is left as it is.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openLocalEngine } from '../src/engine/local/engine.js';
import { runEvaluation } from '../src/evaluation/evaluation-step.js';
import type { EvaluationOptions } from '../src/evaluation/options.js';
import { runPaths } from '../src/run/paths.js';
import type { StepContext } from '../src/run/step.js';
import { desk } from '../src/targets/desk/desk.js';
import { runBaselinesStep } from '../src/training/baselines-step.js';
import type { GrpoSettings } from '../src/training/settings.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tasks: { type: 'string', default: '64' },
    model: { type: 'string', default: 'models/desk-base' },
  },
});
const [run] = positionals;
if (!run) throw new Error('name a finished run: npx tsx bench/direct-tasks.ts .trace/main');
const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'trace-direct-'));
const engine = await openLocalEngine({ model: values.model });
try {
  cpSync(resolve(run), folder, { recursive: true, filter: (path) => !/journal|lock\./.test(path) });
  const direct = runPaths.baseline(folder, 'direct-grpo');
  const { settings } = read(join(direct, 'summary.json')) as { settings: GrpoSettings };
  const evaluation = read(runPaths.evaluation(folder)) as { seed: number; settings: EvaluationOptions };
  rmSync(direct, { recursive: true });
  const context: StepContext = {
    folder,
    emit: () => {},
    signal: new AbortController().signal,
    seed: evaluation.seed,
  };
  await runBaselinesStep(
    context,
    { ...settings, mixedLora: false, directGrpo: true, targetTasks: Number(values.tasks) },
    { engine, target: desk },
  );
  // Only the cells of the new adapter are measured: the others stand in the copied folder.
  const { systems, comparisons } = await runEvaluation(context, evaluation.settings, {
    engine,
    target: desk,
  });
  for (const row of systems.filter(({ name }) => name === 'direct-grpo'))
    console.log(
      `direct GRPO, ${values.tasks} tasks, ${row.rollouts} rollouts, ${row.split}, ${row.decoding}: ${(100 * row.rate).toFixed(1)} % [${row.interval.map((x) => (100 * x).toFixed(1)).join(', ')}]`,
    );
  for (const row of comparisons.filter(({ of, against }) => of === 'mixture' && against === 'direct-grpo'))
    console.log(
      `mixture minus it, ${row.split}, ${row.decoding}: ${(100 * row.difference).toFixed(1)} points [${row.interval.map((x) => (100 * x).toFixed(1)).join(', ')}], p ${row.p.toPrecision(2)}`,
    );
} finally {
  rmSync(folder, { recursive: true, force: true });
  await engine.close();
}
