import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { RunEvent } from '../src/run/events.js';
import { writeFileWhole, writeJsonWhole } from '../src/run/files.js';
import { runPaths } from '../src/run/paths.js';
import { runBaselinesStep } from '../src/training/baselines-step.js';
import { tabularEngine } from './support/tabular-engine.js';
import { context, tabularBase, tabularRun, tabularTarget } from './support/tabular-world.js';

const folders: string[] = [];
const newRun = () => {
  const folder = tabularRun();
  folders.push(folder);
  return folder;
};
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

test('each baseline trains with at most what the mixture cost in all, and with all but less than a batch of it', async () => {
  const folder = newRun();
  writeFileWhole(runPaths.baseTrajectories(folder), '{}\n'.repeat(200));
  writeJsonWhole(join(runPaths.environment(folder, 'alpha'), 'calibration.json'), { rollouts: 100 });
  for (const name of ['alpha', 'beta', 'gamma'])
    writeJsonWhole(join(runPaths.adapter(folder, name), 'summary.json'), { rollouts: 200 });
  writeJsonWhole(join(runPaths.composed(folder), 'composition.json'), { rollouts: 150 });
  const settings = { groups: 4, groupSize: 8, iterations: 10, learningRate: 0.3, heldOut: 16 };

  const events: RunEvent[] = [];
  const engine = tabularEngine(tabularBase());
  const { budget, summaries } = await runBaselinesStep(context(folder, events), settings, {
    engine,
    target: tabularTarget(),
  });
  expect(budget.total).toBe(200 + 100 + 600 + 150);
  expect(summaries.map(({ name }) => name)).toEqual(['mixed-lora', 'direct-grpo']);
  for (const summary of summaries) {
    expect(summary.rollouts).toBeLessThanOrEqual(1050);
    expect(summary.rollouts).toBeGreaterThan(1050 - 32 - 16);
    const stored = JSON.parse(
      readFileSync(join(runPaths.baseline(folder, summary.name), 'summary.json'), 'utf8'),
    );
    expect(stored).toEqual(summary);
  }
  expect(summaries[0]!.environments).toEqual([
    'alpha',
    'beta',
    'gamma',
    'alpha+beta',
    'alpha+gamma',
    'beta+gamma',
  ]);
  expect(summaries[1]!.environments).toEqual(['target']);
  expect(summaries[0]!.lastSuccess).toBeGreaterThan(summaries[0]!.firstSuccess);
  expect(events.length).toBeGreaterThan(0);
  for (const event of events) expect(event.step).toBe('baselines');
  expect(engine.held).toBe(0);
});

test('a run that has spent nothing has nothing to be matched', async () => {
  const folder = newRun();
  for (const name of ['alpha', 'beta', 'gamma']) rmSync(runPaths.adapter(folder, name), { recursive: true });
  const deps = { engine: tabularEngine(tabularBase()), target: tabularTarget() };
  await expect(runBaselinesStep(context(folder), {}, deps)).rejects.toThrow(/no rollouts to be matched/);
});
