import type { CapabilitiesFile, LabelledAttempt } from '../analyst/capabilities-file.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import type { AttemptEvidence } from './attempt-view.js';
import type { DecisiveStep } from './case-view.js';
import { cutMiddle, MOST } from './cut.js';
import type { DiagnosisView } from './diagnosis-view.js';
import type { FailurePart } from './failure-shares.js';
import type { NextStep } from './next-steps.js';
import type { Finding } from './verdict.js';

/** A decisive step with what stands there. */
export interface StepJson extends DecisiveStep {
  readonly role: string;
  /** Words and calls of the message; the middle of long ones is cut. */
  readonly text: string;
}

/** One side of a case. */
export interface CaseSideJson {
  readonly trajectory: string;
  readonly task: string;
  readonly step: StepJson | null;
}

/** The report as JSON: `capabilities.json`, with what page and terminal say beside it. */
export interface DiagnosisJson extends Omit<CapabilitiesFile, 'attempts'> {
  readonly verdict: {
    readonly headline: string;
    readonly account: string;
    readonly findings: readonly Finding[];
  };
  /** Failed attempts by what explains them; disjoint. */
  readonly parts: readonly (Omit<FailurePart, 'capability'> & { readonly capability: string | null })[];
  readonly attempts: readonly (LabelledAttempt & {
    /** By capability: share of the raters' labels that are the majority's; null where unknown. */
    readonly agreement: readonly (number | null)[];
    readonly evidence: readonly (Omit<AttemptEvidence, 'capability'> & { readonly capability: string })[];
  })[];
  readonly cases: readonly {
    readonly capability: string;
    readonly failed: CaseSideJson;
    readonly passed: CaseSideJson | null;
    readonly sameTask: boolean;
    /** How the passed attempt was chosen. */
    readonly chosen: string;
  }[];
  readonly next: readonly NextStep[];
}

function stepJson({ messages }: Trajectory, step: DecisiveStep | null): StepJson | null {
  const message = step && messages[step.message];
  if (!step || !message) return null;
  const calls =
    message.role === 'assistant'
      ? (message.tool_calls ?? []).map(
          (call) => `${call.function.name}(${JSON.stringify(call.function.arguments)})`,
        )
      : [];
  const text = [message.content ?? '', ...calls].filter((part) => part !== '').join('\n');
  return { ...step, role: message.role, text: cutMiddle(text, 2 * MOST.message) };
}

/** The report's content for machines; plain data in the order of page and terminal. */
export function diagnosisJson(view: DiagnosisView): DiagnosisJson {
  const { file, verdict, parts, attempts, cases, next } = view;
  const nameAt = (index: number) => file.capabilities[index]!.name;
  const side = (trajectory: Trajectory, step: DecisiveStep | null): CaseSideJson => ({
    trajectory: trajectory.id,
    task: trajectory.taskId,
    step: stepJson(trajectory, step),
  });
  return {
    verdict,
    ...file,
    parts: parts.map((part) => ({
      ...part,
      capability: part.capability === null ? null : nameAt(part.capability),
    })),
    attempts: file.attempts.map((attempt, i) => ({
      ...attempt,
      agreement: attempts[i]!.cells.map(({ agreement }) => agreement),
      evidence: attempts[i]!.evidence.map((item) => ({ ...item, capability: nameAt(item.capability) })),
    })),
    cases: cases.map(({ capability, failed, passed, sameTask, chosen }) => ({
      capability: nameAt(capability),
      failed: side(failed.trajectory, failed.step),
      passed: passed && side(passed.trajectory, passed.step),
      sameTask,
      chosen,
    })),
    next,
  };
}
