import { isObject, parseTrajectory, read } from '../parse.js';
import { guardRecord, keepLine } from '../store.js';
import type { Trajectory } from '../trajectory.js';
import type { Importer, ImporterOptions } from './importer.js';
import { readRecords } from './records.js';

/** Lines that are canonical already are kept, so that nobody has to print them again. */
async function* readCanonical(path: string, options: ImporterOptions): AsyncGenerator<Trajectory> {
  for await (const record of readRecords(path, options)) {
    const trajectory = guardRecord(
      path,
      record.number,
      () => parseTrajectory(read.plain(record.parse(), '(record)')),
      options,
    );
    if (!trajectory) continue;
    if (record.text !== undefined) keepLine(trajectory, record.text);
    yield trajectory;
  }
}

/** TRACE's own trajectories; read also from a JSON list or Parquet. */
export const canonicalImporter: Importer = {
  name: 'canonical',
  title: "TRACE's own trajectories (src/trajectory/trajectory.ts)",
  matches: (sample) =>
    sample.kind !== 'folder' &&
    sample.records.some((record) => isObject(record) && 'taskId' in record && 'trial' in record),
  read: readCanonical,
};
