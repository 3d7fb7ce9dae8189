/**
 * Do the diagnosis' intervals hold what they promise when trials repeat?
 *
 *   npx tsx bench/intervals.ts [--draws 300] [--seed 1]
 *
 * Labels are drawn with a known truth: every trial follows its task's common draw with probability √ρ, else its own,
 * so that two trials of a task correlate by ρ. Reported is how often the interval by task holds the truth, and how
 * often the one does that takes every attempt for itself.
 */
import { parseArgs } from 'node:util';
import type { Label } from '../src/analyst/contract.js';
import type { Consensus } from '../src/diagnosis/consensus.js';
import { type Attempt, resampleTasks } from '../src/diagnosis/resampling.js';
import { diagnosisSettings } from '../src/diagnosis/settings.js';
import { Random } from '../src/run/random.js';
import { newcombeDifference } from '../src/statistics/difference.js';
import { wilson } from '../src/statistics/proportion.js';

interface Setting {
  readonly failedTasks: number;
  readonly passedTasks: number;
  readonly trials: number;
  /** True error rates of failed and passed attempts; all need the capability. */
  readonly failedRate: number;
  readonly passedRate: number;
  readonly correlation: number;
}

const SETTINGS: readonly Setting[] = [
  [10, 10, 4],
  [25, 25, 4],
  [48, 48, 8],
  [20, 5, 4],
].flatMap(([failedTasks, passedTasks, trials]) =>
  [
    [0.2, 0.02],
    [0.35, 0.05],
    [0.5, 0.2],
  ].flatMap(([failedRate, passedRate]) =>
    [0.05, 0.4].map((correlation) => ({
      failedTasks: failedTasks!,
      passedTasks: passedTasks!,
      trials: trials!,
      failedRate: failedRate!,
      passedRate: passedRate!,
      correlation,
    })),
  ),
);

/** Attempts and majority labels of one draw. */
function draw(setting: Setting, random: Random): { attempts: Attempt[]; consensus: Consensus } {
  const attempts: Attempt[] = [];
  const labels = new Map<string, Label>();
  const follow = Math.sqrt(setting.correlation);
  const counts = { failed: { LACKING: 0, PRESENT: 0 }, passed: { LACKING: 0, PRESENT: 0 } };
  for (const [outcome, tasks, rate] of [
    ['failed', setting.failedTasks, setting.failedRate],
    ['passed', setting.passedTasks, setting.passedRate],
  ] as const)
    for (let i = 0; i < tasks; i++) {
      const common = random.chance(rate);
      for (let trial = 0; trial < setting.trials; trial++) {
        const task = `${outcome}-${i}`;
        const id = `${task}-${trial}`;
        const label = (random.chance(follow) ? common : random.chance(rate)) ? 'LACKING' : 'PRESENT';
        attempts.push({ id, task, trial, outcome, termination: null });
        labels.set(id, label);
        counts[outcome][label]++;
      }
    }
  const consensus: Consensus = {
    name: 'c',
    labels,
    lackingFailed: counts.failed.LACKING,
    presentFailed: counts.failed.PRESENT,
    naFailed: 0,
    lackingPassed: counts.passed.LACKING,
    presentPassed: counts.passed.PRESENT,
    p: 1,
    q: 1,
    kappa: null,
    agreement: null,
    missing: 0,
  };
  return { attempts, consensus };
}

const holds = ([low, high]: readonly [number, number], truth: number) =>
  low <= truth && truth <= high ? 1 : 0;
const percent = (share: number) => `${(100 * share).toFixed(1).padStart(5)} %`;

const { values } = parseArgs({
  options: { draws: { type: 'string', default: '300' }, seed: { type: 'string', default: '1' } },
});
const draws = Number(values.draws);
const random = new Random(Number(values.seed), '/interval-bench');
process.stdout.write(
  'tasks  trials  rates       ρ     coverage: by task, by attempt    gap: by task, by attempt\n',
);
for (const [s, setting] of SETTINGS.entries()) {
  const held = { coverage: 0, coverageAttempts: 0, gap: 0, gapAttempts: 0 };
  const { failedRate, passedRate } = setting;
  for (let i = 0; i < draws; i++) {
    const { attempts, consensus } = draw(setting, random.fork(s, i));
    const found = resampleTasks(attempts, [consensus], [], new Set(), diagnosisSettings(), i);
    const failed = consensus.lackingFailed + consensus.presentFailed;
    const passed = consensus.lackingPassed + consensus.presentPassed;
    held.coverage += holds(found.coverage[0]!.interval, failedRate);
    held.coverageAttempts += holds(wilson(consensus.lackingFailed, failed), failedRate);
    held.gap += holds(found.gap[0]!.interval, failedRate - passedRate);
    const newcombe = newcombeDifference(consensus.lackingFailed, failed, consensus.lackingPassed, passed);
    held.gapAttempts += holds(newcombe.interval, failedRate - passedRate);
  }
  process.stdout.write(
    `${setting.failedTasks}/${setting.passedTasks}`.padEnd(8) +
      `${setting.trials}`.padEnd(7) +
      `${failedRate}, ${passedRate}`.padEnd(12) +
      `${setting.correlation}`.padEnd(7) +
      `${percent(held.coverage / draws)}  ${percent(held.coverageAttempts / draws)}`.padEnd(33) +
      `${percent(held.gap / draws)}  ${percent(held.gapAttempts / draws)}\n`,
  );
}
