/**
 * Benchmark of planted deficits: does the diagnosis find what was planted, and nothing else?
 *
 *   npm run bench:diagnosis [-- --trials 8 --seed 1 --json]
 *   npm run bench:diagnosis -- --rollouts examples/desk/.trace/main/trajectories/base.jsonl
 *
 * The scripted demonstrator of desk plays the training tasks with every setting of its four switches and several
 * rates; the offline diagnosis sees the trajectories alone. What was planted is read here and by no step.
 * `--rollouts` measures a file of the base model's own attempts instead, in which all four were planted.
 */
import { parseArgs } from 'node:util';
import { OfflineRaters } from '../src/analyst/offline/offline.js';
import { diagnose } from '../src/diagnosis/diagnose.js';
import { DESK_CAPABILITIES } from '../src/targets/desk/scenario.js';
import { readTrajectories } from '../src/trajectory/store.js';
import type { Trajectory } from '../src/trajectory/trajectory.js';
import { type Configuration, plantedAttempts, tallyOf } from './planted-deficits.js';

/**
 * Every subset at the rate of the base model; every single deficit and pair at a milder one; every subset again
 * with copying errors, as a small model makes them.
 */
function configurations(): Configuration[] {
  const subsets = Array.from({ length: 2 ** DESK_CAPABILITIES.length }, (_, mask) =>
    DESK_CAPABILITIES.filter((_, i) => mask & (1 << i)),
  );
  const few = subsets.filter(({ length }) => length === 1 || length === 2);
  return [
    ...subsets.map((deficits) => ({ deficits, right: 0.25, noise: 0 })),
    ...few.map((deficits) => ({ deficits, right: 0.5, noise: 0 })),
    ...subsets.slice(1).map((deficits) => ({ deficits, right: 0.25, noise: 0.01 })),
  ];
}

async function collect(stream: AsyncIterable<Trajectory>): Promise<Trajectory[]> {
  const all: Trajectory[] = [];
  for await (const trajectory of stream) all.push(trajectory);
  return all;
}

const { values } = parseArgs({
  options: {
    trials: { type: 'string', default: '8' },
    seed: { type: 'string', default: '1' },
    rollouts: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const trials = Number(values.trials);
const seed = Number(values.seed);

let [found, planted, retained] = [0, 0, 0];
const rows = [];
const settings: readonly Configuration[] = values.rollouts
  ? [{ deficits: DESK_CAPABILITIES, right: Number.NaN, noise: Number.NaN }]
  : configurations();
for (const configuration of settings) {
  const trajectories = values.rollouts
    ? await collect(readTrajectories(values.rollouts))
    : await plantedAttempts(configuration, trials, seed);
  const { result } = await diagnose(trajectories, new OfflineRaters({ seed }), { seed });
  const tally = tallyOf(result, configuration.deficits);
  found += tally.found.length;
  planted += configuration.deficits.length;
  retained += tally.found.length + tally.wrong.length;
  const row = {
    planted: configuration.deficits.join('+') || '(none)',
    right: configuration.right,
    noise: configuration.noise,
    passed: result.trajectories.passed,
    failed: result.trajectories.failed,
    missed: tally.missed,
    wrong: tally.wrong,
    unexplained: result.unexplained.length,
    capabilities: result.capabilities.map(({ name, coverage, gap, ratersPassed, retained: kept }) => ({
      name,
      coverage,
      gap,
      ratersPassed,
      retained: kept,
    })),
  };
  rows.push(row);
  if (!values.json)
    process.stdout.write(
      `${row.planted.padEnd(46)} ${Number.isNaN(row.right) ? 'rollouts' : `right ${row.right} noise ${row.noise}`}  ${String(row.failed).padStart(4)} failed / ${String(row.passed).padStart(4)} passed  ` +
        `unexplained ${row.unexplained}  missed [${row.missed.join(', ')}]  wrong [${row.wrong.join(', ')}]\n`,
    );
}
const recall = found / planted;
const precision = retained === 0 ? 1 : found / retained;
if (values.json) process.stdout.write(`${JSON.stringify({ seed, trials, recall, precision, rows })}\n`);
else
  process.stdout.write(
    `${rows.length} configurations, seed ${seed}: recall ${found}/${planted} = ${recall.toFixed(3)}, precision ${found}/${retained} = ${precision.toFixed(3)}\n`,
  );
