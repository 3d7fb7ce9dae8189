import { z } from 'zod';
import { readBudget } from '../run/budget.js';
import { writeFileWhole } from '../run/files.js';
import { runPaths } from '../run/paths.js';
import type { StepContext } from '../run/step.js';
import { readJson, readRunFiles } from './files.js';
import { reportPage } from './page.js';

/**
 * Writes `report.html` from whatever a run's folder holds; the parts that a run has not reached are left out.
 * @returns path of the page.
 * @throws InputError naming a file of the run that cannot be read.
 */
export function runReport(context: Pick<StepContext, 'folder'>): string {
  const { folder } = context;
  const path = runPaths.report(folder);
  const files = readRunFiles(folder);
  const capabilities = readJson(runPaths.capabilities(folder), capabilitiesSchema);
  writeFileWhole(
    path,
    reportPage({
      files,
      budget: readBudget(folder),
      missing: capabilities ?? files.adapters.map(({ name }) => name),
      diagnosis: null,
    }),
  );
  return path;
}

const named = z.object({ name: z.string(), retained: z.boolean().default(true) });
const capabilitiesSchema = z
  .union([z.array(named), z.object({ capabilities: z.array(named) }).transform((file) => file.capabilities)])
  .transform((list) => list.filter(({ retained }) => retained).map(({ name }) => name));
