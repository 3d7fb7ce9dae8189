import { isObject, parseTrajectory } from '../parse.js';
import type { Importer } from './importer.js';
import { mapRecords } from './records.js';

/** TRACE's own trajectories; read also from a JSON list or Parquet. */
export const canonicalImporter: Importer = {
  name: 'canonical',
  title: "TRACE's own trajectories (src/trajectory/trajectory.ts)",
  matches: (sample) =>
    sample.kind !== 'folder' &&
    sample.records.some((record) => isObject(record) && 'taskId' in record && 'trial' in record),
  read: (path, options) => mapRecords(path, options, parseTrajectory),
};
