import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runRollouts } from '../src/agent/rollout.js';
import type { Engine, PolicyRef } from '../src/engine/contract.js';
import { openLocalEngine } from '../src/engine/local/engine.js';
import type { Environment, Episode, Scenario } from '../src/environment/contract.js';
import { digestTree } from '../src/run/digest.js';
import { Random } from '../src/run/random.js';
import { trainIntoFolder } from '../src/training/adapter-folder.js';
import { GRPO_DEFAULTS, type GrpoSettings } from '../src/training/settings.js';
import { proceduralTasks } from '../src/training/tasks.js';
import type { TrainingLine } from '../src/training/training-log.js';
import type { Message } from '../src/trajectory/trajectory.js';
import { writeTinyModel } from './support/tiny-model.js';

/** GRPO with the engine that TRACE ships, on a random model: rollouts, gradient, checkpoints, resume. */
let folder: string;
let engine: Engine;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trace-grpo-local-'));
  writeTinyModel(join(folder, 'model'));
  engine = await openLocalEngine({ model: join(folder, 'model') });
});
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

const LOW = /^w([1-9]|1\d)$/;

/** Two turns; the reward is the share of the agent's words among w1 … w19, which a random model gives half of. */
const lowWords: Environment = {
  name: 'low-words',
  tools: [],
  toolKinds: {},
  maxTurns: 2,
  systemPrompt: () => '',
  scenario: (seed) => ({ seed, id: `low-${seed}` }),
  open(scenario: Scenario): Episode {
    const random = new Random(scenario.seed);
    const words = () => Array.from({ length: 3 }, () => `w${1 + random.int(39)}`).join(' ');
    const messages: Message[] = [{ role: 'user', content: words() }];
    const said: string[] = [];
    let turns = 0;
    return {
      messages,
      get done() {
        return turns === 2;
      },
      get termination() {
        return turns === 2 ? 'user_stop' : null;
      },
      act(message) {
        messages.push(message);
        said.push(...(message.content ?? '').split(/(?=w)/));
        if (++turns < 2) messages.push({ role: 'user', content: words() });
      },
      score: () => ({ reward: said.filter((word) => LOW.test(word)).length / said.length, checks: [] }),
    };
  },
};

const SETTINGS: GrpoSettings = {
  ...GRPO_DEFAULTS,
  rank: 4,
  alpha: 8,
  iterations: 12,
  groups: 4,
  groupSize: 8,
  learningRate: 2e-2,
  maxTurnTokens: 6,
  heldOut: 16,
  evaluateEvery: 4,
  stopAt: 2,
};
const train = (settings: GrpoSettings, into: string, signal?: AbortSignal, lines: TrainingLine[] = []) =>
  trainIntoFolder(engine, [proceduralTasks(lowWords)], {
    settings,
    name: 'low',
    seed: 1,
    folder: into,
    key: 'k',
    ...(signal && { signal }),
    onIteration: (line) => lines.push(line),
  });

test('the log-probabilities kept in a rollout are those of its exact tokens', async () => {
  const base: PolicyRef = { kind: 'base' };
  const rollouts = await runRollouts(
    engine,
    lowWords,
    Array.from({ length: 6 }, (_, i) => ({ scenario: i, trial: 0 })),
    { policy: base, temperature: 1, seed: 1, maxTurnTokens: 6, concurrency: 6 },
  );
  for (const { sequences, turns } of rollouts) {
    expect(turns).toBe(2);
    expect(sequences).toHaveLength(1);
    const { tokens, sampled, logprobs } = sequences[0]!;
    const [whole] = await engine.logprobs(base, [tokens]);
    tokens.forEach((_, t) => {
      if (sampled[t]) expect(Math.abs(logprobs[t]! - whole![t - 1]!)).toBeLessThan(1e-4);
    });
  }
});

test('learns to say low words', async () => {
  const lines: TrainingLine[] = [];
  const { summary } = await train(SETTINGS, join(folder, 'learned'), undefined, lines);
  expect(lines[0]!.reward).toBeLessThan(0.65);
  expect(summary.best!.reward).toBeGreaterThan(0.85);
  // On-policy: the ratio is 1 but for rounding, so nothing is clipped.
  expect(Math.max(...lines.map((line) => line.clipFraction ?? 0))).toBe(0);
});

test('stopped after some iterations and gone on with, it ends with the same bytes', async () => {
  const settings = { ...SETTINGS, iterations: 4, evaluateEvery: 2 };
  await train(settings, join(folder, 'whole'));
  for (const stopAfter of [1, 3]) {
    const into = join(folder, `stopped-${stopAfter}`);
    const controller = new AbortController();
    const lines: TrainingLine[] = [];
    const push = lines.push.bind(lines);
    lines.push = (...more) => {
      if (lines.length + more.length === stopAfter) controller.abort(new Error('stopped'));
      return push(...more);
    };
    await expect(train(settings, into, controller.signal, lines)).rejects.toThrow('stopped');
    await train(settings, into);
    expect(digestTree(into)).toBe(digestTree(join(folder, 'whole')));
  }
});
