import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type TabularEngine, tabularEngine } from '../../test/support/tabular-engine.js';
import { dyingEngine, tabularBase, tabularTarget } from '../../test/support/tabular-world.js';
import type { Environment } from '../environment/contract.js';
import { comparedFiles, digestTree } from '../run/digest.js';
import { trainIntoFolder } from './adapter-folder.js';
import { GRPO_DEFAULTS, type GrpoSettings } from './settings.js';
import { fixedTasks, proceduralTasks } from './tasks.js';
import type { TrainingLine } from './training-log.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-grpo-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const SETTINGS: GrpoSettings = {
  ...GRPO_DEFAULTS,
  iterations: 24,
  groups: 8,
  groupSize: 8,
  learningRate: 0.5,
  heldOut: 32,
  evaluateEvery: 6,
  stopAt: 2,
};
const target = () => tabularTarget() as unknown as Environment;

interface Told {
  readonly lines: TrainingLine[];
  readonly warnings: string[];
}
async function train(
  engine: TabularEngine,
  settings: GrpoSettings,
  { environment = target(), into = folder, told = { lines: [], warnings: [] } as Told } = {},
) {
  const { summary } = await trainIntoFolder(engine, [proceduralTasks(environment)], {
    settings,
    name: 'test',
    seed: 3,
    folder: into,
    key: 'k',
    onIteration: (line) => told.lines.push(line),
    onWarning: (text) => told.warnings.push(text),
  });
  return { summary, ...told };
}

describe('learning', () => {
  test('two questions of six answers each: from 1/36 to nearly always, with the best checkpoint kept', async () => {
    // Binary reward: the first answers have to be learned from 1 success in 36.
    const engine = tabularEngine(tabularBase());
    const { summary, lines, warnings } = await train(engine, { ...SETTINGS, iterations: 60 });
    expect(lines[0]!.success).toBeLessThan(0.15);
    expect(summary.best!.success).toBeGreaterThan(0.9);
    expect(warnings).toEqual([]);
    expect(engine.held).toBe(0);
    const evaluated = lines.filter((line) => line.heldOut);
    expect(evaluated.map((line) => line.iteration)).toEqual([6, 12, 18, 24, 30, 36, 42, 48, 54, 60]);
    expect(summary.best!.success).toBe(Math.max(...evaluated.map((line) => line.heldOut!.success)));
    // The saved adapter is the best one: its rate on many fresh tasks is near what was found.
    const adapter = await engine.loadAdapter(folder);
    let right = 0;
    for (let q = 0; q < 4; q++) {
      const prompt = engine.tokenizer.encode(`<|user|>q${q}<|end|><|assistant|>`);
      const [logprobs] = await engine.logprobs(adapter, [[...prompt, ...engine.tokenizer.encode(`a${q}`)]]);
      right += Math.exp(logprobs!.at(-1)!) / 4;
    }
    expect(right).toBeGreaterThan(0.9);
  });

  test('rollouts are counted to the last one, held-out ones among them', async () => {
    const engine = tabularEngine(tabularBase());
    const { summary, lines } = await train(engine, { ...SETTINGS, iterations: 7 });
    expect(summary.rollouts).toBe(7 * 64 + 2 * 32);
    expect(summary.heldOutRollouts).toBe(64);
    expect(lines.map((line) => line.rollouts)).toEqual([64, 128, 192, 256, 320, 416, 512]);
  });

  test('stops early once the held-out success is high twice in a row', async () => {
    const engine = tabularEngine(tabularBase().map((row, q) => row.map((_, a) => (a === q ? 9 : 0))));
    const { summary } = await train(engine, { ...SETTINGS, evaluateEvery: 2, stopAt: 0.98, stopAfter: 2 });
    expect(summary).toMatchObject({ iterations: 4, stoppedEarly: true });
  });

  test('groups without contrast are counted and make no step; the silence is said aloud', async () => {
    const environment = target();
    const hopeless = {
      ...environment,
      open: (scenario: never) =>
        Object.defineProperty(environment.open(scenario), 'score', {
          value: () => ({ reward: 0, checks: [] }),
        }),
    };
    const engine = tabularEngine(tabularBase());
    const fresh = await engine.createAdapter({ name: 'x', rank: 1, alpha: 1, seed: 1 });
    const before = await engine.hash(fresh);
    const { lines, warnings } = await train(
      engine,
      { ...SETTINGS, iterations: 8 },
      {
        environment: hopeless as unknown as Environment,
      },
    );
    expect(lines.every((line) => line.constantGroups === 8 && line.gradientNorm === null)).toBe(true);
    expect(warnings).toHaveLength(3);
    expect(warnings[0]).toContain('5 iterations in a row');
    expect(warnings[1]).toContain('8 of 8 iterations had no informative group');
    expect(warnings[2]).toContain('nothing was learned');
    expect(await engine.hash(await engine.loadAdapter(folder))).toBe(before);
  });

  test('attempts that broke leave their groups and are counted apart', async () => {
    let opened = 0;
    const environment = target();
    const fragile = {
      ...environment,
      open: (scenario: never) => {
        if (opened++ % 4 === 0) throw new Error('no connection');
        return environment.open(scenario);
      },
    } as unknown as Environment;
    const { lines } = await train(
      tabularEngine(tabularBase()),
      { ...SETTINGS, iterations: 1, heldOut: 0 },
      {
        environment: fragile,
      },
    );
    expect(lines[0]!.broken).toBe(16);
    const broken = { ...environment, open: () => Promise.reject(new Error('no connection')) };
    const all = train(tabularEngine(tabularBase()), SETTINGS, {
      environment: broken as unknown as Environment,
      into: join(folder, 'broken'),
    });
    await expect(all).rejects.toThrow('all 64 attempts of iteration 1 broke: no connection');
  });
});

describe('a killed training', () => {
  const settings = { ...SETTINGS, iterations: 6, evaluateEvery: 2 };

  test('goes on from its last iteration and ends with the same bytes', async () => {
    const whole = join(folder, 'whole');
    const engine = tabularEngine(tabularBase());
    await train(engine, settings, { into: whole });
    expect(comparedFiles(whole)).toEqual([
      'adapter_config.json',
      'adapter_model.safetensors',
      'summary.json',
      'training.jsonl',
    ]);
    const needed = engine.sampled;
    for (const share of [0, 0.2, 0.45, 0.7, 0.95]) {
      const killed = join(folder, `killed-${share}`);
      const first = dyingEngine(Math.floor(needed * share));
      await expect(train(first, settings, { into: killed })).rejects.toThrow('killed');
      expect(first.held).toBe(0);
      const second = tabularEngine(tabularBase());
      await train(second, settings, { into: killed });
      expect(digestTree(killed)).toBe(digestTree(whole));
      if (share > 0.3) expect(second.sampled).toBeLessThan(needed * 0.85);
    }
  });

  test('may be killed between any two writes of a checkpoint', async () => {
    const whole = join(folder, 'whole');
    await train(tabularEngine(tabularBase()), settings, { into: whole });
    for (const call of [1, 2, 4]) {
      const killed = join(folder, `killed-${call}`);
      const engine = tabularEngine(tabularBase());
      const { saveState } = engine;
      let calls = 0;
      engine.saveState = async (model, file) => {
        await saveState(model, file);
        // Parameters of the new iteration are on the disk, log and state.json are still the old ones.
        if (++calls === call) throw new Error('killed');
      };
      await expect(train(engine, settings, { into: killed })).rejects.toThrow('killed');
      await train(tabularEngine(tabularBase()), settings, { into: killed });
      expect(digestTree(killed)).toBe(digestTree(whole));
    }
  });

  test('with other settings begins anew; a finished one is left alone', async () => {
    const options = { name: 'test', seed: 3, folder, settings };
    const sources = [proceduralTasks(target())];
    await expect(trainIntoFolder(dyingEngine(600), sources, { ...options, key: 'a' })).rejects.toThrow();
    const engine = tabularEngine(tabularBase());
    await trainIntoFolder(engine, sources, { ...options, key: 'b' });
    const lines = readFileSync(join(folder, 'training.jsonl'), 'utf8').trim().split('\n');
    expect(lines).toHaveLength(6);
    const sampled = engine.sampled;
    expect((await trainIntoFolder(engine, sources, { ...options, key: 'b' })).resumed).toBe(true);
    expect(engine.sampled).toBe(sampled);
  });
});

describe('task sources', () => {
  test('a fixed set comes whole in each epoch, in a new order; held out is the validation split', () => {
    const source = fixedTasks(tabularTarget() as never, 'train-compound', 1, 8);
    const epoch = (e: number) => Array.from({ length: 8 }, (_, i) => source.task(e * 8 + i));
    expect([...epoch(0)].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect([...epoch(1)].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(epoch(0)).not.toEqual(epoch(1));
    expect(source.heldOut(0)).toBe(500);
  });
});
