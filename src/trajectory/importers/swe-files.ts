import { statSync } from 'node:fs';
import type { Trajectory } from '../trajectory.js';
import type { ImporterOptions } from './importer.js';
import { filesUnder, guardFile, TrialCounter } from './record-files.js';
import { findSweVerdicts } from './swe-verdict-files.js';

/**
 * Attempts that are written one a file, from a file or all files of a folder that end so, with the evaluation's verdicts.
 * @throws InvalidRecordError at a file that cannot be read unless `onInvalid` is given.
 */
export async function* readSweFiles(
  path: string,
  suffix: string,
  options: ImporterOptions,
  read: (
    file: string,
    verdicts: ReturnType<typeof findSweVerdicts>,
    trials: TrialCounter,
  ) => Promise<Trajectory>,
): AsyncGenerator<Trajectory> {
  const verdicts = findSweVerdicts(path, options);
  const trials = new TrialCounter();
  const files = statSync(path).isDirectory() ? filesUnder(path, (name) => name.endsWith(suffix)) : [path];
  for (const file of files) {
    const trajectory = await guardFile(file, 1, () => read(file, verdicts, trials), options);
    if (trajectory) yield trajectory;
  }
}
