import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RunEvent, StepName } from './events.js';
import { writeFileWhole } from './files.js';
import { differences, type PipelineOptions, runPipeline, type Step } from './pipeline.js';
import { Workspace } from './workspace.js';

let folder: string;
let workspace: Workspace;
let calls: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-pipeline-'));
  workspace = Workspace.open(folder);
  calls = [];
});
afterEach(() => {
  workspace.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Steps that copy the text of the step before them and add their setting. */
function toySteps(settings: { [name: string]: string } = {}): Step[] {
  const names: StepName[] = ['rollout', 'diagnose', 'train'];
  return names.map((name, i) => ({
    name,
    title: name,
    settings: { word: settings[name] ?? name },
    outputs: [`${name}.txt`],
    run: async (context) => {
      calls.push(name);
      const before = i === 0 ? '' : readFileSync(join(context.folder, `${names[i - 1]}.txt`), 'utf8');
      writeFileWhole(join(context.folder, `${name}.txt`), `${before}${settings[name] ?? name}.`);
      return `wrote ${name}`;
    },
  }));
}

async function run(steps: Step[], options: Partial<PipelineOptions> = {}): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  await runPipeline(workspace, steps, {
    seed: 1,
    emit: (event) => events.push(event),
    signal: new AbortController().signal,
    ...options,
  });
  return events;
}

const text = (name: string) => readFileSync(join(folder, `${name}.txt`), 'utf8');

test('does the steps in order, and skips what is done', async () => {
  await run(toySteps());
  expect(calls).toEqual(['rollout', 'diagnose', 'train']);
  expect(text('train')).toBe('rollout.diagnose.train.');
  const events = await run(toySteps());
  expect(calls).toHaveLength(3);
  expect(events).toEqual(
    ['rollout', 'diagnose', 'train'].map((step) => ({
      type: 'step:end',
      step,
      summary: `wrote ${step}`,
      resumed: true,
    })),
  );
});

test('--until stops after a step, and the next run goes on', async () => {
  await run(toySteps(), { until: 'diagnose' });
  expect(calls).toEqual(['rollout', 'diagnose']);
  await run(toySteps());
  expect(calls).toEqual(['rollout', 'diagnose', 'train']);
});

test('a changed setting is refused with the field and the mend, and nothing is touched', async () => {
  await run(toySteps());
  await expect(run(toySteps({ diagnose: 'other' }))).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('word: "diagnose" → "other"'),
    mend: expect.stringMatching(/--run NAME.*--from diagnose/),
  });
  expect(text('train')).toBe('rollout.diagnose.train.');
  // Still valid with the old settings.
  await run(toySteps());
  expect(calls).toHaveLength(3);
});

test('a changed setting of a step that has not begun is fine', async () => {
  await run(toySteps(), { until: 'diagnose' });
  await run(toySteps({ train: 'late' }));
  expect(text('train')).toBe('rollout.diagnose.late.');
});

test('--from does a step and those after it again, with what they wrote before removed', async () => {
  await run(toySteps());
  writeFileSync(join(folder, 'train.txt'), 'rubbish');
  await run(toySteps({ diagnose: 'other' }), { from: 'diagnose' });
  expect(calls).toEqual(['rollout', 'diagnose', 'train', 'diagnose', 'train']);
  expect(text('train')).toBe('rollout.other.train.');
});

test('--from is refused where an earlier step is out of date too', async () => {
  await run(toySteps());
  await expect(run(toySteps({ diagnose: 'other' }), { from: 'train' })).rejects.toThrow(/diagnose/);
});

test('--from with --until leaves the later steps to be done again, without their old files', async () => {
  await run(toySteps());
  await run(toySteps({ diagnose: 'other' }), { from: 'diagnose', until: 'diagnose' });
  expect(existsSync(join(folder, 'train.txt'))).toBe(false);
  expect(workspace.journal.step('train')?.state).toBe('stale');
  await run(toySteps({ diagnose: 'other' }));
  expect(text('train')).toBe('rollout.other.train.');
});

test('a file that was changed by hand makes later steps out of date, not silently mixed', async () => {
  await run(toySteps(), { until: 'diagnose' });
  writeFileSync(join(folder, 'diagnose.txt'), 'mended by hand.');
  await run(toySteps());
  expect(text('train')).toBe('mended by hand.train.');
  writeFileSync(join(folder, 'diagnose.txt'), 'mended again.');
  await expect(run(toySteps())).rejects.toMatchObject({ mend: expect.stringContaining('--from train') });
});

test('a step whose files are gone is done again, and the later ones still stand', async () => {
  await run(toySteps());
  rmSync(join(folder, 'diagnose.txt'));
  await run(toySteps());
  expect(calls).toEqual(['rollout', 'diagnose', 'train', 'diagnose']);
});

test('only: one step, and those before it have to be done', async () => {
  await expect(run(toySteps(), { only: 'diagnose' })).rejects.toMatchObject({
    message: expect.stringContaining('`rollout` is not done'),
    mend: expect.stringContaining('--until diagnose'),
  });
  await run(toySteps(), { until: 'rollout' });
  await run(toySteps(), { only: 'diagnose' });
  expect(calls).toEqual(['rollout', 'diagnose']);
});

test('a step that throws is begun again and keeps its finished pieces', async () => {
  const steps = toySteps();
  const broken: Step = {
    ...steps[1]!,
    run: async (context) => {
      writeFileSync(join(context.folder, 'piece.txt'), 'kept');
      throw new Error('no space');
    },
  };
  await expect(run([steps[0]!, broken, steps[2]!])).rejects.toThrow('no space');
  expect(workspace.journal.step('diagnose')?.state).toBe('running');
  expect(existsSync(join(folder, 'piece.txt'))).toBe(true);
  await run(steps);
  expect(calls).toEqual(['rollout', 'diagnose', 'train']);
});

test('an aborted signal stops before the next step', async () => {
  const controller = new AbortController();
  const steps = toySteps();
  const stopping: Step = {
    ...steps[0]!,
    run: async (context) => {
      controller.abort(new Error('stop'));
      return steps[0]!.run(context);
    },
  };
  await expect(run([stopping, steps[1]!, steps[2]!], { signal: controller.signal })).rejects.toThrow('stop');
  expect(workspace.journal.step('rollout')?.state).toBe('done');
  expect(calls).toEqual(['rollout']);
});

test('differences names the fields by path', () => {
  expect(differences({ a: { b: 1, c: [1] }, d: 'x' }, { a: { b: 2, c: [1] }, e: 0 })).toEqual([
    'a.b: 1 → 2',
    'd: "x" → absent',
    'e: absent → 0',
  ]);
  const digest = (digit: string) => digit.repeat(64);
  expect(differences({ model: digest('a') }, { model: digest('b') })).toEqual([
    'model: aaaaaaaa… → bbbbbbbb…',
  ]);
});
