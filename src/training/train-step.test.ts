import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { tabularEngine } from '../../test/support/tabular-engine.js';
import { context, tabularBase, tabularRun, tabularTarget } from '../../test/support/tabular-world.js';
import type { RunEvent } from '../run/events.js';
import { writeJsonWhole } from '../run/files.js';
import { runPaths } from '../run/paths.js';
import { runBaselines } from './baselines.js';
import { runTraining } from './train-step.js';

let folder: string;
beforeEach(() => {
  folder = tabularRun();
  rmSync(join(folder, 'adapters'), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const OPTIONS = { iterations: 12, learningRate: 0.5, heldOut: 16, evaluateEvery: 6 };

describe('train', () => {
  test('trains an adapter for each accepted environment, with curves, and leaves finished ones alone', async () => {
    writeJsonWhole(join(runPaths.environment(folder, 'beta'), 'calibration.json'), { accepted: false });
    const engine = tabularEngine(tabularBase());
    const events: RunEvent[] = [];
    const summaries = await runTraining(context(folder, events), OPTIONS, { engine });
    expect(summaries.map((summary) => summary.name)).toEqual(['alpha', 'gamma']);
    for (const { name, best, firstSuccess } of summaries) {
      expect(firstSuccess).toBeLessThan(0.4);
      expect(best!.success).toBeGreaterThan(0.8);
      expect(existsSync(join(runPaths.adapter(folder, name), 'adapter_model.safetensors'))).toBe(true);
      const log = readFileSync(join(runPaths.adapter(folder, name), 'training.jsonl'), 'utf8');
      expect(log.trim().split('\n')).toHaveLength(12);
    }
    expect(existsSync(runPaths.adapter(folder, 'beta'))).toBe(false);
    const bars = events.filter((e) => e.type === 'progress' && e.task === 'alpha');
    expect(bars.map((e) => e.type === 'progress' && e.done)).toEqual([...Array(12).keys()].map((i) => i + 1));
    const curve = events.filter(
      (e) => e.type === 'curve' && e.task === 'alpha' && e.name === 'held-out success',
    );
    expect(curve).toHaveLength(2);
    const sampled = engine.sampled;
    expect(await runTraining(context(folder), OPTIONS, { engine })).toEqual(summaries);
    expect(engine.sampled).toBe(sampled);
    expect(engine.held).toBe(0);
  });

  test('without an environment says what to do', async () => {
    rmSync(join(folder, 'environments'), { recursive: true });
    const engine = tabularEngine(tabularBase());
    await expect(runTraining(context(folder), {}, { engine })).rejects.toMatchObject({
      message: expect.stringContaining('no accepted environment'),
      mend: expect.stringContaining('trace synthesize'),
    });
  });
});

describe('baselines', () => {
  test('spend what they may and no more, on all environments with their pairs and on the target', async () => {
    const engine = tabularEngine(tabularBase());
    const target = tabularTarget();
    const [mixed, direct] = await runBaselines(
      context(folder),
      { ...OPTIONS, rollouts: 1_000 },
      { engine, target: target as never },
    );
    expect(mixed!.environments).toEqual([
      'alpha',
      'beta',
      'gamma',
      'alpha+beta',
      'alpha+gamma',
      'beta+gamma',
    ]);
    expect(direct!.environments).toEqual(['target']);
    for (const { rollouts, name } of [mixed!, direct!]) {
      expect(rollouts).toBeLessThanOrEqual(1_000);
      expect(rollouts).toBeGreaterThan(1_000 - 64 - 16);
      expect(existsSync(join(runPaths.baseline(folder, name), 'adapter_model.safetensors'))).toBe(true);
    }
    expect(mixed!.settings).toEqual(direct!.settings);
    expect(mixed!.lastSuccess).toBeGreaterThan(mixed!.firstSuccess);
  });
});
