import { join } from 'node:path';

/** Where things lie in a run's folder: the steps' only meeting place. */
export const runPaths = {
  run: (folder: string) => join(folder, 'run.json'),
  journal: (folder: string) => join(folder, 'journal.sqlite'),
  /** Rollouts of the base model on the target's training split. */
  baseTrajectories: (folder: string) => join(folder, 'trajectories', 'base.jsonl'),
  /** Requests and answers of the analyst `handoff`; what people wrote outlives a diagnosis that is done anew. */
  handoff: (folder: string) => join(folder, 'handoff'),
  candidates: (folder: string) => join(folder, 'diagnosis', 'candidates.json'),
  rater: (folder: string, rater: number) =>
    join(folder, 'diagnosis', 'raters', `${String(rater).padStart(2, '0')}.json`),
  capabilities: (folder: string) => join(folder, 'diagnosis', 'capabilities.json'),
  diagnosisReport: (folder: string) => join(folder, 'diagnosis', 'report.html'),
  environment: (folder: string, capability: string) => join(folder, 'environments', capability),
  adapter: (folder: string, capability: string) => join(folder, 'adapters', capability),
  composed: (folder: string) => join(folder, 'composed'),
  baseline: (folder: string, name: string) => join(folder, 'baselines', name),
  evaluation: (folder: string) => join(folder, 'evaluation.json'),
  report: (folder: string) => join(folder, 'report.html'),
} as const;
