/**
 * Makes models/desk-base from nothing: random weights, a competent model, then four planted deficits.
 *
 *   npm run pretrain:desk                      the whole schedule, measurements and model card
 *   npm run pretrain:desk -- --scale 0.01      a short run, for trying things
 *   npm run pretrain:desk -- --out DIR         somewhere else than models/desk-base
 *   npm run pretrain:desk -- --competent DIR   where the model before deficits goes (models/desk-competent)
 *   npm run pretrain:desk -- --plant           plants the deficits into the competent model that is there
 *   npm run pretrain:desk -- --evaluate        measures again and rewrites the card, no training
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openLocalEngine } from '../src/engine/local/engine.js';
import type { Parameters } from '../src/engine/local/model/parameters.js';
import { writeFileWhole } from '../src/run/files.js';
import { desk } from '../src/targets/desk/desk.js';
import { checksum, type Measurement, measurementTable, modelCard } from './pretrain-desk/card.js';
import { initializeForRecall } from './pretrain-desk/initialization.js';
import { measure } from './pretrain-desk/measure.js';
import { readDeskParameters, writeDeskModel } from './pretrain-desk/model-files.js';
import { COMPETENCE, DEFICITS, SEED, scaled } from './pretrain-desk/schedule.js';
import { MODEL, type Phase, type PhaseReport, Pretraining } from './pretrain-desk/train.js';

const { values } = parseArgs({
  options: {
    scale: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(SEED) },
    out: { type: 'string', default: 'models/desk-base' },
    competent: { type: 'string', default: 'models/desk-competent' },
    plant: { type: 'boolean', default: false },
    evaluate: { type: 'boolean', default: false },
  },
});
const scale = Number(values.scale);
const seed = Number(values.seed);
if (!(scale > 0) || !Number.isSafeInteger(seed)) {
  console.error('--scale has to be a positive number and --seed an integer');
  process.exit(2);
}
const { competent } = values;
const phases = { competence: scaled(COMPETENCE, scale), deficits: scaled(DEFICITS, scale) };
const started = performance.now();

function print({ phase, step, tokens, loss, progress }: PhaseReport): void {
  const groups = [...progress].map(([name, { probability }]) => `${name} ${probability.toFixed(3)}`);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(
    `${seconds} s, ${phase} step ${step}, ${(tokens / 1e6).toFixed(2)}M tokens, loss ${loss.toFixed(3)}; probabilities: ${groups.join(', ')}`,
  );
}

async function run(initial: Parameters, schedule: readonly Phase[], folder: string): Promise<void> {
  const pretraining = await Pretraining.start(MODEL, initial, seed);
  for (const phase of schedule) await pretraining.run(phase, 100, print);
  writeDeskModel(folder, MODEL, await pretraining.parameters());
  await pretraining.close();
}

async function evaluate(): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  for (const [model, folder] of [
    ['with deficits', values.out],
    ['competent', competent],
  ] as const) {
    if (!existsSync(folder)) continue;
    const engine = await openLocalEngine({ model: folder });
    for (const split of ['validation', 'test', 'shift'] as const)
      for (const temperature of [1, 0]) {
        const behaviour = await measure(engine, desk.split(split, 512), temperature);
        measurements.push({ model, split, temperature, behaviour });
      }
    await engine.close();
  }
  return measurements;
}

// Engine threads do not keep a process alive while nothing is asked of them.
const alive = setInterval(() => undefined, 60_000);
if (!values.evaluate && !values.plant)
  await run(initializeForRecall(MODEL, seed), phases.competence, competent);
if (!values.evaluate) await run(readDeskParameters(competent), phases.deficits, values.out);
const measurements = await evaluate();
const all = [...phases.competence, ...phases.deficits];
const card = modelCard({ config: MODEL, folder: values.out, seed, phases: all, measurements });
writeFileWhole(join(values.out, 'README.md'), card);
console.log(measurementTable(measurements));
console.log(`SHA-256 of the weights: ${checksum(join(values.out, 'model.safetensors'))}`);
clearInterval(alive);
