import { mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { tabularEngine } from '../../test/support/tabular-engine.js';
import { context, dyingEngine, tabularBase, tabularTarget } from '../../test/support/tabular-world.js';
import type { Target } from '../environment/contract.js';
import { digestTree } from '../run/digest.js';
import type { RunEvent } from '../run/events.js';
import { runPaths } from '../run/paths.js';
import { readTrajectories } from '../trajectory/store.js';
import { runRolloutStep } from './rollout-step.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-rollout-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Eight tasks, of which the base passes 1 in 36: 32 trials make a batch of 256 attempts, about 7 of them passed. */
const target = () => tabularTarget() as unknown as Target;
const warnings = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === 'message' ? [event.text] : []));

test('goes on until enough attempts passed, and writes what it counted', async () => {
  const events: RunEvent[] = [];
  const engine = tabularEngine(tabularBase());
  const summary = await runRolloutStep(
    context(folder, events),
    { trials: 500, passedNeeded: 20 },
    { engine, target: target() },
  );
  expect(summary.passed).toBeGreaterThanOrEqual(20);
  expect(summary.trials % 32).toBe(0);
  expect(summary.trials).toBeLessThan(500);
  const outcomes: string[] = [];
  const ids = new Set<string>();
  for await (const trajectory of readTrajectories(runPaths.baseTrajectories(folder))) {
    outcomes.push(trajectory.outcome);
    ids.add(trajectory.id);
  }
  expect(outcomes).toHaveLength(summary.rollouts);
  expect(ids.size).toBe(summary.rollouts);
  expect(outcomes.filter((o) => o === 'passed')).toHaveLength(summary.passed);
  expect(summary.failed + summary.passed).toBe(summary.rollouts);
  expect(warnings(events)).toEqual([]);
});

test('stops at the cap and says loudly that it was not enough', async () => {
  const events: RunEvent[] = [];
  const engine = tabularEngine(tabularBase());
  const summary = await runRolloutStep(context(folder, events), { trials: 40 }, { engine, target: target() });
  expect(summary.rollouts).toBe(320);
  expect(warnings(events)[0]).toMatch(/only \d+ of 320 attempts passed, 30 are needed/);
});

test('attempts that broke are apart, with the reason', async () => {
  const events: RunEvent[] = [];
  const whole = target();
  const fragile: Target = {
    ...whole,
    open: (scenario) => {
      if (scenario.seed === 3) throw new Error('no connection');
      return whole.open(scenario);
    },
  };
  const engine = tabularEngine(tabularBase());
  const summary = await runRolloutStep(context(folder, events), { trials: 4 }, { engine, target: fragile });
  expect(summary).toMatchObject({ rollouts: 32, excluded: 4 });
  expect(warnings(events).at(-1)).toBe('4 attempts broke and are left out: no connection');
});

test('killed anywhere, also in the middle of a line, it ends with the same bytes', async () => {
  const options = { trials: 70, passedNeeded: 1_000 };
  const whole = join(folder, 'whole');
  const engine = tabularEngine(tabularBase());
  await runRolloutStep(context(whole), options, { engine, target: target() });
  const length = readFileSync(runPaths.baseTrajectories(whole)).length;
  for (const share of [0.1, 0.6, 0.97]) {
    const killed = join(folder, `killed-${share}`);
    const dying = dyingEngine(Math.floor(engine.sampled * share));
    const first = runRolloutStep(context(killed), options, { engine: dying, target: target() });
    await expect(first).rejects.toThrow('killed');
    const second = tabularEngine(tabularBase());
    await runRolloutStep(context(killed), options, { engine: second, target: target() });
    expect(digestTree(killed)).toBe(digestTree(whole));
    if (share > 0.5) expect(second.sampled).toBeLessThan(engine.sampled * 0.6);
  }
  const cut = join(folder, 'cut');
  await runRolloutStep(context(cut), options, { engine: tabularEngine(tabularBase()), target: target() });
  truncateSync(runPaths.baseTrajectories(cut), Math.floor(length * 0.7));
  await runRolloutStep(context(cut), options, { engine: tabularEngine(tabularBase()), target: target() });
  expect(digestTree(cut)).toBe(digestTree(whole));
});
