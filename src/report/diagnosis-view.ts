import type { Trajectory } from '../trajectory/trajectory.js';

/** Where a lacking label shows. */
export interface EvidenceView {
  readonly trajectory: string;
  readonly task: string;
  readonly message: number;
  readonly quote: string;
  readonly note: string;
}

/** A diagnosed capability as the report draws it. */
export interface CapabilityView {
  readonly name: string;
  readonly definition: string;
  readonly retained: boolean;
  /** Mean over the raters; the intervals are of the majority labels. */
  readonly coverage: number;
  readonly coverageInterval: readonly [number, number];
  readonly gap: number;
  readonly gapInterval: readonly [number, number];
  readonly ratersPassed: number;
  readonly raters: number;
  readonly lackingFailed: number;
  readonly presentFailed: number;
  readonly lackingPassed: number;
  readonly presentPassed: number;
  readonly q: number;
  readonly kappa: number | null;
  readonly evidence: readonly EvidenceView[];
}

/** A diagnosis as `diagnosis/capabilities.json` holds it, as far as the report needs it. */
export interface DiagnosisFileView {
  readonly trajectories: { readonly passed: number; readonly failed: number; readonly excluded: number };
  readonly settings: {
    readonly raters: number;
    readonly ratersNeeded: number;
    readonly coverage: number;
    readonly gap: number;
  };
  readonly capabilities: readonly CapabilityView[];
  readonly unexplained: readonly {
    readonly id: string;
    readonly task: string;
    readonly termination: string | null;
    readonly lacking: readonly string[];
  }[];
  readonly warnings: readonly string[];
}

/** A failed attempt that lacks a capability, beside a passed one. */
export interface CaseView {
  readonly capability: string;
  readonly evidence: EvidenceView;
  readonly failed: Trajectory;
  /** A passed attempt at the same task, or at the most alike one. */
  readonly passed: Trajectory | null;
  readonly sameTask: boolean;
}

export interface DiagnosisView extends DiagnosisFileView {
  readonly cases: readonly CaseView[];
}

/** How alike two attempts' tasks are: shared tools of the reference (or, without one, of the calls). */
function toolsOf({ reference, messages }: Trajectory): Set<string> {
  const names = reference
    ? reference.actions.map((action) => action.name)
    : messages.flatMap((m) =>
        m.role === 'assistant' ? (m.tool_calls ?? []).map((c) => c.function.name) : [],
      );
  return new Set(names);
}

function likeness(a: Set<string>, b: Set<string>): number {
  const shared = [...a].filter((name) => b.has(name)).length;
  return shared / Math.max(1, a.size + b.size - shared);
}

/**
 * One case for each retained capability: the first evidence whose task was also passed, else the first with the
 * passed attempt whose task uses the most alike tools.
 */
export function chooseCases(file: DiagnosisFileView, trajectories: readonly Trajectory[]): CaseView[] {
  const byId = new Map(trajectories.map((trajectory) => [trajectory.id, trajectory]));
  const passed = trajectories.filter((trajectory) => trajectory.outcome === 'passed');
  return file.capabilities.flatMap((capability): CaseView[] => {
    if (!capability.retained) return [];
    const shown = capability.evidence.filter((evidence) => byId.has(evidence.trajectory));
    for (const evidence of shown) {
      const failed = byId.get(evidence.trajectory)!;
      const same = passed.find((t) => t.taskId === failed.taskId && t.source === failed.source);
      if (same) return [{ capability: capability.name, evidence, failed, passed: same, sameTask: true }];
    }
    const [evidence] = shown;
    if (!evidence) return [];
    const failed = byId.get(evidence.trajectory)!;
    const tools = toolsOf(failed);
    let nearest: Trajectory | null = null;
    let best = -1;
    for (const candidate of passed) {
      const value = likeness(tools, toolsOf(candidate));
      if (value > best) [nearest, best] = [candidate, value];
    }
    return [{ capability: capability.name, evidence, failed, passed: nearest, sameTask: false }];
  });
}
