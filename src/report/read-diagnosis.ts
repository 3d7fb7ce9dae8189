import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { readCapabilitiesFile } from '../analyst/capabilities-file.js';
import { runPaths } from '../run/paths.js';
import { readTrajectories } from '../trajectory/store.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { originOfRun } from './diagnosis-origin.js';
import { type DiagnosisView, diagnosisView } from './diagnosis-view.js';
import { readRaters } from './rater-votes.js';

/**
 * The diagnosis of a run with its raters' votes and the attempts that its evidence points to; null before the step
 * `diagnose`.
 * @throws InputError, SyntaxError or InvalidRecordError when a file of the run is damaged or of an earlier version.
 */
export async function readDiagnosis(folder: string): Promise<DiagnosisView | null> {
  const path = runPaths.capabilities(folder);
  if (!existsSync(path)) return null;
  const trajectories: Trajectory[] = [];
  const rollouts = runPaths.baseTrajectories(folder);
  if (existsSync(rollouts))
    for await (const trajectory of readTrajectories(rollouts)) trajectories.push(trajectory);
  return diagnosisView(readCapabilitiesFile(path), {
    raters: readRaters(dirname(path)),
    trajectories,
    origin: originOfRun(folder),
  });
}
