import type {
  CapabilitiesFile,
  DiagnosedCapability,
  LabelledAttempt,
} from '../../src/analyst/capabilities-file.js';
import type { RaterLabels } from '../../src/report/rater-votes.js';
import type { Message, Trajectory } from '../../src/trajectory/trajectory.js';

/** What is told of an attempt: its task, outcome, and one letter a capability (`L`, `P`, `N`, `-`). */
export interface ToldAttempt {
  readonly task: string;
  readonly outcome: 'passed' | 'failed';
  readonly labels: string;
  readonly messages?: readonly Message[];
}

export interface ToldDiagnosis {
  readonly capabilities: readonly (Partial<DiagnosedCapability> & { readonly name: string })[];
  readonly attempts: readonly ToldAttempt[];
  readonly warnings?: readonly string[];
  /** Texts that stand in quotes and notes. */
  readonly text?: string;
}

/** A diagnosis as files hold it, with ten raters who all agree; numbers are counted from the labels. */
export function diagnosed({ capabilities, attempts, warnings = [], text = 'a quote' }: ToldDiagnosis): {
  readonly file: CapabilitiesFile;
  readonly raters: readonly RaterLabels[];
  readonly trajectories: readonly Trajectory[];
} {
  const trials = new Map<string, number>();
  const labelled = attempts.map(({ task, outcome, labels }): LabelledAttempt => {
    const trial = trials.get(task) ?? 0;
    trials.set(task, trial + 1);
    return { id: `${task}-${trial}`, task, trial, outcome, labels };
  });
  const evidence = (id: string, task: string) => ({
    trajectory: id,
    task,
    message: 2,
    quote: text,
    note: `note: ${text}`,
  });
  const failed = attempts.filter(({ outcome }) => outcome === 'failed').length;
  const retainedOf = (c: number) => capabilities[c]!.retained ?? true;
  const isExplained = ({ labels }: { readonly labels: string }) =>
    capabilities.some((_, c) => retainedOf(c) && labels[c] === 'L');
  const full = capabilities.map((given, c): DiagnosedCapability => {
    const count = (outcome: string, letter: string) =>
      attempts.filter((attempt) => attempt.outcome === outcome && attempt.labels[c] === letter).length;
    const [lackingFailed, presentFailed] = [count('failed', 'L'), count('failed', 'P')];
    const [lackingPassed, presentPassed] = [count('passed', 'L'), count('passed', 'P')];
    const share = (a: number, b: number) => (a + b === 0 ? 0 : a / (a + b));
    const coverage = failed === 0 ? 0 : lackingFailed / failed;
    const gap = share(lackingFailed, presentFailed) - share(lackingPassed, presentPassed);
    return {
      definition: `Definition of ${given.name}.`,
      retained: true,
      coverage,
      coverageInterval: [Math.max(0, coverage - 0.1), Math.min(1, coverage + 0.1)],
      coverageMethod: 'wilson',
      gap,
      gapInterval: [Math.max(-1, gap - 0.15), Math.min(1, gap + 0.15)],
      gapMethod: 'newcombe',
      ratersPassed: 10,
      raters: 10,
      lackingFailed,
      presentFailed,
      lackingPassed,
      presentPassed,
      lackingTasks: lackingFailed,
      p: 0.001,
      q: 0.01,
      kappa: 1,
      kappaLow: false,
      agreement: 1,
      contribution: lackingFailed,
      stability: 0.95,
      missingLabels: 0,
      cautions: [],
      evidence: labelled
        .filter(({ outcome, labels }) => outcome === 'failed' && labels[c] === 'L')
        .slice(0, 8)
        .map(({ id, task }) => evidence(id, task)),
      skill: given.name,
      description: '',
      mean_cov: coverage,
      std_cov: 0,
      mean_delta: gap,
      std_delta: 0,
      n_runs_passed: 10,
      n_runs_total: 10,
      passes_consistency: given.retained ?? true,
      example_failed_cases: [],
      status: 'PENDING',
      ...given,
    };
  });
  const explained = labelled.filter((attempt) => attempt.outcome === 'failed' && isExplained(attempt)).length;
  const file: CapabilitiesFile = {
    trajectories: { failed, passed: attempts.length - failed, excluded: 0 },
    tasks: { total: trials.size, repeated: 0, mixed: 0 },
    capabilities: full,
    explained: {
      failures: explained,
      of: failed,
      share: failed === 0 ? 0 : explained / failed,
      interval: [0.4, 0.9],
      method: 'wilson',
    },
    unexplained: labelled
      .filter((attempt) => attempt.outcome === 'failed' && !isExplained(attempt))
      .map(({ id, task }) => ({ id, task, termination: text, lacking: [] })),
    overlaps: full.flatMap(({ name: first }, i) =>
      full
        .slice(i + 1)
        .map(({ name: second }) => ({ first, second, both: 1, onlyFirst: 1, onlySecond: 1, jaccard: 1 / 3 })),
    ),
    attempts: labelled,
    passRates: {
      passHat: [{ k: 1, tasks: trials.size, rate: 0.5, interval: [0.4, 0.6] }],
      passAt: [{ k: 1, tasks: trials.size, rate: 0.5, interval: [0.4, 0.6] }],
    },
    resamples: 1000,
    settings: { analyst: 'offline', seed: 1, raters: 10, ratersNeeded: 8, coverage: 0.1, gap: 0.2 },
    warnings,
  };
  const rater: RaterLabels = {
    labels: Object.fromEntries(
      capabilities.map(({ name }, c) => [
        name,
        Object.fromEntries(
          (['lacking', 'present', 'na'] as const).flatMap((kind) =>
            (['failed', 'passed'] as const).map((outcome) => [
              `${kind}_${outcome}`,
              labelled
                .filter(
                  (attempt) => attempt.outcome === outcome && attempt.labels[c] === kind[0]!.toUpperCase(),
                )
                .map(({ id }) => id),
            ]),
          ),
        ),
      ]),
    ),
    evidence: Object.fromEntries(
      capabilities.map(({ name }, c) => [
        name,
        Object.fromEntries(
          labelled.filter(({ labels }) => labels[c] === 'L').map(({ id, task }) => [id, evidence(id, task)]),
        ),
      ]),
    ),
  };
  const trajectories = labelled.map(
    ({ id, task, trial, outcome }, i): Trajectory => ({
      id,
      taskId: task,
      trial,
      source: 'told',
      messages: attempts[i]!.messages ?? [
        { role: 'system', content: 'policy' },
        { role: 'user', content: `Request of ${task}: ${text}` },
        { role: 'assistant', content: text },
        { role: 'user', content: 'Thanks.' },
      ],
      tools: [],
      reward: outcome === 'passed' ? 1 : 0,
      outcome,
      termination: text,
      metadata: {},
    }),
  );
  return { file, raters: Array.from({ length: 10 }, () => rater), trajectories };
}
