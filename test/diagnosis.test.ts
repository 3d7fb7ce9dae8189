import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { plantedAttempts, tallyOf } from '../bench/planted-deficits.js';
import { type CapabilitiesFile, parseSelectedCapabilities } from '../src/analyst/capabilities-file.js';
import { messageText } from '../src/analyst/offline/evidence.js';
import { OfflineRaters } from '../src/analyst/offline/offline.js';
import { selectCapabilities } from '../src/diagnosis/contrast.js';
import { diagnose } from '../src/diagnosis/diagnose.js';
import { parseRaterFile } from '../src/diagnosis/rater-file.js';
import { runDiagnosis } from '../src/diagnosis/step.js';
import { diagnosisPage } from '../src/report/diagnosis.js';
import { readDiagnosis } from '../src/report/read-diagnosis.js';
import type { RunEvent } from '../src/run/events.js';
import { runPaths } from '../src/run/paths.js';
import type { DeskCapability } from '../src/targets/desk/scenario.js';
import { importTrajectories } from '../src/trajectory/importers/detect.js';
import { writeTrajectories } from '../src/trajectory/store.js';
import type { Trajectory } from '../src/trajectory/trajectory.js';

/** The demonstrator with some deficits at the rate of the base model, without copying errors. */
const demonstrations = (deficits: readonly DeskCapability[], trials: number) =>
  plantedAttempts({ deficits, right: 0.25, noise: 0 }, trials, 9);

const retained = (result: CapabilitiesFile) =>
  result.capabilities.filter((capability) => capability.retained).map((capability) => capability.name);

/** Quotes occur in the messages they name, and those are the agent's. */
function checkEvidence(result: CapabilitiesFile, trajectories: readonly Trajectory[]): number {
  const byId = new Map(trajectories.map((trajectory) => [trajectory.id, trajectory]));
  let checked = 0;
  for (const capability of result.capabilities) {
    for (const { trajectory, message, quote } of capability.evidence) {
      const at = byId.get(trajectory)!.messages[message]!;
      expect(at.role).toBe('assistant');
      expect(quote.length).toBeGreaterThan(0);
      expect(messageText(at)).toContain(quote);
      checked++;
    }
    if (capability.lackingFailed > 0) expect(capability.evidence.length).toBeGreaterThan(0);
  }
  return checked;
}

describe('deficits planted in the demonstrator of desk', () => {
  test.each<readonly DeskCapability[][]>([
    [[]],
    [['selection']],
    [['precondition', 'arguments']],
    [['selection', 'precondition', 'completion', 'arguments']],
  ])('%j are found, and nothing else', async (deficits) => {
    const trajectories = await demonstrations(deficits, 3);
    const { result } = await diagnose(trajectories, new OfflineRaters({ seed: 1 }), { seed: 1 });
    expect(tallyOf(result, deficits)).toMatchObject({ missed: [], wrong: [] });
    expect(retained(result)).toHaveLength(deficits.length);
    expect(result.unexplained).toEqual([]);
    checkEvidence(result, trajectories);
  });
});

describe('the step of a run', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trace-diagnosis-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const context = (events: RunEvent[], signal = new AbortController().signal) => ({
    folder,
    emit: (event: RunEvent) => void events.push(event),
    signal,
    seed: 3,
  });

  test('writes files that give the same numbers when read again, and the same bytes when done again', async () => {
    const trajectories = await demonstrations(['selection', 'completion'], 2);
    const excluded: Trajectory = { ...trajectories[0]!, id: 'broken', outcome: 'excluded', reward: null };
    await writeTrajectories(runPaths.baseTrajectories(folder), [...trajectories, excluded]);
    const events: RunEvent[] = [];
    const result = await runDiagnosis(context(events));
    expect(result.trajectories.excluded).toBe(1);
    // Ten raters see half of the 96 attempts or more; the last event says that all are labelled.
    const progress = events.filter((event) => event.type === 'progress');
    expect(progress.length).toBeGreaterThanOrEqual(10 * 48);
    expect(progress.at(-1)).toMatchObject({ done: progress.length, total: progress.length });

    const bytes = () =>
      readdirSync(join(folder, 'diagnosis'), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .sort()
        .map((path) => [path, readFileSync(path, 'utf8')]);
    const before = bytes();
    await runDiagnosis(context([]));
    expect(bytes()).toEqual(before);

    // The rater files alone, read as the reference implementation's, give the retained capabilities again.
    const raters = Array.from({ length: 10 }, (_, rater) =>
      parseRaterFile(JSON.parse(readFileSync(runPaths.rater(folder, rater + 1), 'utf8'))),
    );
    const names = result.capabilities.map((capability) => capability.name);
    const scores = selectCapabilities(names, raters, result.settings);
    expect(scores.map((score) => [score.name, score.coverageMean, score.gapMean, score.retained])).toEqual(
      result.capabilities.map((c) => [c.name, c.mean_cov, c.mean_delta, c.passes_consistency]),
    );
    const selected = parseSelectedCapabilities(
      JSON.parse(readFileSync(join(folder, 'diagnosis', 'selected_capabilities.json'), 'utf8')),
    );
    expect(selected.map((entry) => entry.skill)).toEqual(retained(result));

    const view = await readDiagnosis(folder);
    const shown = view!.cases.map((item) => result.capabilities[item.capability]!.name);
    expect(shown).toEqual(expect.arrayContaining(retained(result)));
    for (const item of view!.cases) expect(item.passed!.trajectory.outcome).toBe('passed');
    const page = diagnosisPage(view!);
    expect(page).not.toMatch(/<script|https?:\/\/|src=|@import/);
    for (const name of retained(result)) expect(page).toContain(name.replaceAll('_', ' '));
  });

  test('without rollouts it says what to do; when stopped it stops', async () => {
    await expect(runDiagnosis(context([]))).rejects.toThrow('there are no rollouts to diagnose');
    await writeTrajectories(runPaths.baseTrajectories(folder), await demonstrations([], 1));
    const stop = new AbortController();
    stop.abort(new Error('stopped'));
    await expect(runDiagnosis(context([], stop.signal))).rejects.toThrow('stopped');
    expect(existsSync(runPaths.capabilities(folder))).toBe(false);
  });
});

const data = process.env.TRACE_TEST_DATA ?? resolve(import.meta.dirname, '../../shared/data');

describe.skipIf(!existsSync(join(data, 'tau2')))(
  'real logs (skipped where the optional test data is absent)',
  () => {
    test.each([
      ['trajectories/tau-bench-gpt-4o-airline.json', 57, 43],
      ['tau2/results/33665ecc__cd9c5ed2-9751-4c86-8dac-8a895a332e41.json', 0, 0],
      ['tau2/results/83e60796__gpt-4.1_airline_default_gpt-4.1_1trials.json', 10, 10],
      ['tau2/results/94ad2a06__gpt-4.1_retail_defautl_gpt-4.1_1trials.json', 6, 34],
      ['tau2/results/b4e983fc__qwen2.5_7b_airline_default_gpt-4.1-2025-04-14_1trials.json', 41, 9],
      ['tau2/results/e93263f9__gpt-4.1_telecom_no-user_gpt-4.1_1trials.json', 20, 20],
    ])('%s: every quote stands where it is said to stand', async (name, failed, passed) => {
      const trajectories: Trajectory[] = [];
      for await (const trajectory of importTrajectories(join(data, name))) trajectories.push(trajectory);
      const { result, raters } = await diagnose(trajectories, new OfflineRaters({ seed: 1 }), { seed: 1 });
      expect(result.trajectories).toMatchObject({ failed, passed });
      const checked = checkEvidence(result, trajectories);
      if (failed > 0) {
        expect(checked).toBeGreaterThan(0);
        expect(retained(result).length).toBeGreaterThan(0);
      }
      for (const rater of raters) parseRaterFile(JSON.parse(JSON.stringify(rater)));
    });
  },
);
