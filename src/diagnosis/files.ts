import { join } from 'node:path';
import { selectedCapabilities } from '../analyst/capabilities-file.js';
import { writeJsonWhole } from '../run/files.js';
import type { Diagnosis } from './diagnose.js';

/** Name of a rater's file: `01.json` for the first. */
export const raterFileName = (attempt: number) => `${String(attempt).padStart(2, '0')}.json`;

/**
 * Writes a diagnosis into a folder: `candidates.json`, `raters/01.json` …, `selected_capabilities.json` (the
 * reference implementation's format) and, last, `capabilities.json`. Each file is written whole.
 * @throws the file system's own error.
 */
export function writeDiagnosis(folder: string, diagnosis: Diagnosis): void {
  writeJsonWhole(join(folder, 'candidates.json'), diagnosis.candidates);
  for (const rater of diagnosis.raters)
    writeJsonWhole(join(folder, 'raters', raterFileName(rater.attempt)), rater);
  writeJsonWhole(join(folder, 'selected_capabilities.json'), selectedCapabilities(diagnosis.result));
  writeJsonWhole(join(folder, 'capabilities.json'), diagnosis.result);
}
