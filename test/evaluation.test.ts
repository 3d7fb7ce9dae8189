import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { runComposition } from '../src/composition/composition-step.js';
import { runEvaluation } from '../src/evaluation/evaluation-step.js';
import { digestTree } from '../src/run/digest.js';
import { writeFileWhole, writeJsonWhole } from '../src/run/files.js';
import { runPaths } from '../src/run/paths.js';
import { ANSWERS, QUESTIONS, tabularEngine } from './support/tabular-engine.js';
import { context, dyingEngine, tabularBase, tabularRun, tabularTarget } from './support/tabular-world.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A composed run whose summaries say what was spent. */
async function composedRun(): Promise<string> {
  const folder = tabularRun();
  folders.push(folder);
  writeFileWhole(runPaths.baseTrajectories(folder), '{}\n'.repeat(10));
  for (const [i, name] of ['alpha', 'beta', 'gamma'].entries()) {
    writeJsonWhole(join(runPaths.environment(folder, name), 'calibration.json'), { rollouts: 100 });
    writeJsonWhole(join(runPaths.adapter(folder, name), 'summary.json'), { rollouts: 1000 + i });
  }
  const engine = tabularEngine(tabularBase());
  await runComposition(
    context(folder),
    { rollouts: 40, pairRollouts: 0, learningRate: 0.2, batchTokens: 64 },
    { engine },
  );
  // A baseline that answers everything right half of the time it matters: q0, q1 and q2.
  const delta = Array.from({ length: QUESTIONS * ANSWERS }, (_, i) => {
    const [question, answer] = [Math.floor(i / ANSWERS), i % ANSWERS];
    return question <= 2 && question === answer ? 9 : 0;
  });
  writeFileWhole(
    join(runPaths.baseline(folder, 'direct-grpo'), 'adapter_model.safetensors'),
    JSON.stringify(delta),
  );
  writeJsonWhole(join(runPaths.baseline(folder, 'direct-grpo'), 'summary.json'), { rollouts: 3453 });
  return folder;
}
const options = { tasks: 200, concurrency: 16 };
const evaluate = (folder: string, engine = tabularEngine(tabularBase())) =>
  runEvaluation(context(folder), options, { engine, target: tabularTarget() });

test('measures every system in every cell, with rates that follow from the world', async () => {
  const folder = await composedRun();
  const engine = tabularEngine(tabularBase());
  const result = await evaluate(folder, engine);
  const names = [
    'mixture',
    'base',
    'direct-grpo',
    'merge:sum',
    'merge:average',
    'adapter:alpha',
    'adapter:beta',
    'adapter:gamma',
  ];
  expect(result.systems.map(({ name, split, decoding }) => `${name} ${split} ${decoding}`)).toEqual(
    ['test', 'shift'].flatMap((split) =>
      ['sample', 'greedy'].flatMap((decoding) => names.map((name) => `${name} ${split} ${decoding}`)),
    ),
  );
  const row = (name: string, split: string, decoding: string) =>
    result.systems.find((r) => r.name === name && r.split === split && r.decoding === decoding)!;
  // Base at T = 1: two answers of 1/6 each, 2.8 %; its interval has to contain that.
  const base = row('base', 'test', 'sample');
  expect(base.n).toBe(200);
  expect(base.interval[0]).toBeLessThan(1 / 36);
  expect(base.interval[1]).toBeGreaterThan(1 / 36);
  // Right adapter for each question, e^5 / (e^5 + 5) an answer; greedy always right.
  const one = Math.exp(5) / (Math.exp(5) + 5);
  const mixture = row('mixture', 'shift', 'sample');
  expect(mixture.interval[0]).toBeLessThan(one ** 3);
  expect(mixture.interval[1]).toBeGreaterThan(one ** 3);
  expect(row('mixture', 'test', 'greedy').rate).toBe(1);
  // direct-grpo knows q0, q1 and q2 of the first two turns: q3 comes in half of the tasks, and is answered a0.
  expect(row('direct-grpo', 'test', 'greedy').rate).toBe(0.5);

  const spent = Object.fromEntries(result.systems.map(({ name, rollouts }) => [name, rollouts]));
  expect(spent).toMatchObject({
    base: 0,
    'direct-grpo': 3453,
    'adapter:beta': 10 + 100 + 1001,
    'merge:sum': 10 + 300 + 3003,
    mixture: 10 + 300 + 3003 + 120,
  });
  expect(engine.held).toBe(0);
});

test('comparisons are paired, signed and complete; gains and errors follow the tasks', async () => {
  const result = await evaluate(await composedRun());
  const greedy = result.comparisons.filter(
    ({ split, decoding }) => split === 'test' && decoding === 'greedy',
  );
  expect(greedy.map(({ of, against }) => `${of} − ${against}`)).toEqual([
    'mixture − base',
    'mixture − direct-grpo',
    'mixture − merge:sum',
    'mixture − merge:average',
    'mixture − adapter:alpha',
    'mixture − adapter:beta',
    'mixture − adapter:gamma',
    'direct-grpo − base',
    'merge:sum − base',
    'merge:average − base',
    'adapter:alpha − base',
    'adapter:beta − base',
    'adapter:gamma − base',
  ]);
  const direct = greedy.find(({ against }) => against === 'direct-grpo')!;
  expect(direct.difference).toBe(0.5);
  // 100 discordant pairs, all one way: p = 2 / 2^100.
  expect(direct.p).toBeCloseTo(2 ** -99, 35);

  const shift = result.gains.filter(({ split, decoding }) => split === 'shift' && decoding === 'greedy');
  expect(shift.map(({ capability, needed, n }) => [capability, needed, n])).toEqual([
    ['alpha', null, 200],
    ['beta', null, 200],
    ['gamma', null, 200],
    [null, 3, 200],
  ]);
  const errors = result.errors.find(
    ({ name, split, decoding }) => name === 'direct-grpo' && split === 'test' && decoding === 'greedy',
  )!;
  expect(errors.failed).toBe(100);
  expect(errors.kinds).toEqual([{ kind: 'answers', attempts: 100 }]);
});

test('a killed evaluation goes on with the system it died in and ends with the same bytes', async () => {
  const whole = await composedRun();
  const uninterrupted = tabularEngine(tabularBase());
  await evaluate(whole, uninterrupted);
  const digest = (folder: string) => [
    digestTree(join(folder, 'evaluation')),
    digestTree(runPaths.evaluation(folder)),
  ];
  for (const share of [0.05, 0.4, 0.9]) {
    const folder = await composedRun();
    const dying = dyingEngine(Math.floor(uninterrupted.sampled * share));
    await expect(evaluate(folder, dying)).rejects.toThrow('killed');
    expect(dying.held).toBe(0);
    const second = tabularEngine(tabularBase());
    await evaluate(folder, second);
    expect(digest(folder)).toEqual(digest(whole));
    // At most one cell of 200 tasks, three turns each, is played twice.
    expect(dying.sampled + second.sampled).toBeLessThanOrEqual(uninterrupted.sampled + 600);
  }
});

test('the routing example shows a task that the mixture repairs, token by token', async () => {
  const folder = await composedRun();
  await evaluate(folder);
  const path = join(folder, 'evaluation', 'routing-example.json');
  const example = JSON.parse(readFileSync(path, 'utf8'));
  expect(example.slots).toEqual(['none', 'alpha', 'beta', 'gamma']);
  expect([example.passed, example.baseFails]).toEqual([true, true]);
  const written = example.tokens.filter((token: { role: string }) => token.role === 'assistant');
  const answers = written.filter(({ text }: { text: string }) => text.startsWith('a'));
  expect(answers.map(({ slots }: { slots: number[] }) => slots)).toEqual([[1], [2]]);
  const asked = example.tokens.filter((token: { role: string }) => token.role === 'user');
  expect(asked.map(({ text }: { text: string }) => text.replace('q', 'a'))).toEqual(
    answers.map(({ text }: { text: string }) => text),
  );
  for (const layer of example.usage.share)
    expect(layer.reduce((a: number, b: number) => a + b, 0)).toBeCloseTo(1, 12);
});

test('outcomes of other gates are not taken for these', async () => {
  const folder = await composedRun();
  const before = await evaluate(folder);
  const gates = join(runPaths.composed(folder), 'gate.safetensors');
  const values = JSON.parse(readFileSync(gates, 'utf8')) as number[];
  writeFileSync(gates, JSON.stringify(values.map(() => 0)));
  const after = await evaluate(folder);
  expect(before.systems[0]!.rate).toBeGreaterThan(0.8);
  // Gates at zero choose slot 0: the base itself.
  expect(after.systems[0]!.passed).toBe(after.systems[1]!.passed);
});

test('fresh tasks: those at the beginning of a split can be left out', async () => {
  const folder = await composedRun();
  const engine = tabularEngine(tabularBase());
  const deps = { engine, target: tabularTarget() };
  await runEvaluation(context(folder), { tasks: 10, skip: 25, splits: ['test'], concurrency: 8 }, deps);
  const lines = readFileSync(join(folder, 'evaluation', 'mixture.test.greedy.jsonl'), 'utf8')
    .trim()
    .split('\n');
  const seeds = lines.slice(1).map((line) => JSON.parse(line).seed);
  expect(seeds).toEqual(Array.from({ length: 10 }, (_, i) => 1_025 + i));
});

test('a split with too few tasks, and a run without a mixture, are refused with the mend', async () => {
  const folder = await composedRun();
  const target = { ...tabularTarget(), split: () => [1, 2, 3] };
  const engine = tabularEngine(tabularBase());
  await expect(runEvaluation(context(folder), options, { engine, target })).rejects.toThrow(
    /has 3 tasks in its test split, 200 are asked for/,
  );
  rmSync(runPaths.composed(folder), { recursive: true });
  await expect(evaluate(folder)).rejects.toThrow(/there is no mixture/);
});
