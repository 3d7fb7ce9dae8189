import type { CapabilitiesFile } from '../analyst/capabilities-file.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { type AttemptView, attemptViews } from './attempt-view.js';
import { type CaseView, chooseCases } from './case-view.js';
import type { DiagnosisOrigin } from './diagnosis-origin.js';
import { type FailurePart, failureParts } from './failure-shares.js';
import { type NextStep, nextSteps } from './next-steps.js';
import type { RaterLabels } from './rater-votes.js';
import { type Verdict, verdictOf } from './verdict.js';

/** All that a report on a diagnosis says; page, terminal and JSON show the same. */
export interface DiagnosisView {
  readonly origin: DiagnosisOrigin;
  readonly file: CapabilitiesFile;
  readonly verdict: Verdict;
  readonly parts: readonly FailurePart[];
  readonly attempts: readonly AttemptView[];
  readonly cases: readonly CaseView[];
  readonly next: readonly NextStep[];
}

/** What the report is made from beside `capabilities.json`; what is not at hand may be empty. */
export interface DiagnosisMaterial {
  readonly raters: readonly RaterLabels[];
  readonly trajectories: readonly Trajectory[];
  readonly origin: DiagnosisOrigin;
}

/** Puts together what a report says. Deterministic. */
export function diagnosisView(
  file: CapabilitiesFile,
  { raters, trajectories, origin }: DiagnosisMaterial,
): DiagnosisView {
  const verdict = verdictOf(file);
  const attempts = attemptViews(file, raters, trajectories);
  return {
    origin,
    file,
    verdict,
    parts: failureParts(file),
    attempts,
    cases: chooseCases(file, attempts, trajectories),
    next: nextSteps(file, verdict, origin),
  };
}
