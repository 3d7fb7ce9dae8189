import { existsSync, readFileSync } from 'node:fs';
import { runPaths } from '../run/paths.js';
import { readTrajectories } from '../trajectory/store.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { chooseCases, type DiagnosisFileView, type DiagnosisView } from './diagnosis-view.js';

/**
 * The diagnosis of a run with the attempts that its evidence points to; null before the step `diagnose`.
 * @throws SyntaxError or InvalidRecordError when a file of the run is damaged.
 */
export async function readDiagnosis(folder: string): Promise<DiagnosisView | null> {
  const path = runPaths.capabilities(folder);
  if (!existsSync(path)) return null;
  const file = JSON.parse(readFileSync(path, 'utf8')) as DiagnosisFileView;
  const trajectories: Trajectory[] = [];
  const rollouts = runPaths.baseTrajectories(folder);
  if (existsSync(rollouts))
    for await (const trajectory of readTrajectories(rollouts)) trajectories.push(trajectory);
  return { ...file, cases: chooseCases(file, trajectories) };
}
