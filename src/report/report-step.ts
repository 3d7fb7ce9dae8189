import { readBudget } from '../run/budget.js';
import { writeFileWhole } from '../run/files.js';
import { runPaths } from '../run/paths.js';
import type { StepContext } from '../run/step.js';
import { diagnosisPage, diagnosisSection } from './diagnosis.js';
import { readRunFiles } from './files.js';
import { reportPage } from './page.js';
import { readDiagnosis } from './read-diagnosis.js';

/**
 * Writes `report.html` from whatever a run's folder holds; the parts that a run has not reached are left out.
 * @returns path of the page.
 * @throws InputError naming a file of the run that cannot be read.
 */
export async function runReport(context: Pick<StepContext, 'folder'>): Promise<string> {
  const { folder } = context;
  const path = runPaths.report(folder);
  const files = readRunFiles(folder);
  const diagnosis = await readDiagnosis(folder);
  const missing = diagnosis?.file.capabilities.filter(({ retained }) => retained).map(({ name }) => name);
  writeFileWhole(
    path,
    reportPage({
      files,
      budget: readBudget(folder),
      missing: missing ?? files.adapters.map(({ name }) => name),
      diagnosis: diagnosis && diagnosisSection(diagnosis),
    }),
  );
  return path;
}

/**
 * Writes `diagnosis/report.html`, the diagnosis of a run on a page of its own; nothing before the step `diagnose`.
 * @throws InputError naming a file of the run that cannot be read.
 */
export async function writeDiagnosisReport(folder: string): Promise<void> {
  const view = await readDiagnosis(folder);
  if (view) writeFileWhole(runPaths.diagnosisReport(folder), diagnosisPage(view));
}
