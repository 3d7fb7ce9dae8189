import { join } from 'node:path';
import { selectedCapabilities } from '../analyst/capabilities-file.js';
import { writeJsonWhole } from '../run/files.js';
import type { Diagnosis } from './diagnose.js';
import { referenceRaterFile } from './rater-file.js';

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

/**
 * Writes labels and selection as the reference implementation has them, and nothing else: `raters/01.json` … and
 * `selected_capabilities.json`.
 * @throws the file system's own error.
 */
export function exportDiagnosis(folder: string, { raters, result }: Diagnosis): void {
  for (const rater of raters)
    writeJsonWhole(join(folder, 'raters', raterFileName(rater.attempt)), referenceRaterFile(rater));
  writeJsonWhole(join(folder, 'selected_capabilities.json'), selectedCapabilities(result));
}
