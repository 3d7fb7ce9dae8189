import type { CapabilitiesFile } from '../analyst/capabilities-file.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { callPath, callsOf } from './calls.js';
import { type RaterLabels, type Votes, votesFor } from './rater-votes.js';

export type CellLabel = 'LACKING' | 'PRESENT' | 'NA';

/** One capability of one attempt. */
export interface Cell {
  /** Majority label; null where no rater labelled it. */
  readonly label: CellLabel | null;
  readonly votes: Votes | null;
  /** Share of the raters' labels that are the majority's; null without rater files. */
  readonly agreement: number | null;
}

/** Where an attempt lacks a capability. */
export interface AttemptEvidence {
  /** Index of the capability in the file. */
  readonly capability: number;
  readonly message: number;
  readonly quote: string;
  readonly note: string;
}

/** An attempt as the report shows it. */
export interface AttemptView {
  /** Index in the file. */
  readonly index: number;
  readonly id: string;
  readonly task: string;
  readonly trial: number;
  readonly outcome: 'passed' | 'failed';
  /** In the order of the file's capabilities. */
  readonly cells: readonly Cell[];
  readonly evidence: readonly AttemptEvidence[];
  /** Null where the trajectory itself is not at hand. */
  readonly conversation: {
    readonly messages: number;
    readonly termination: string | null;
    /** First words of the request. */
    readonly request: string;
    /** Tools in the order they were called. */
    readonly path: string;
  } | null;
}

const LABELS: { readonly [letter: string]: CellLabel } = { L: 'LACKING', P: 'PRESENT', N: 'NA' };
const LONGEST_PATH = 24;

/** The words that ask for something: the first of the user's, else the first after the system prompt. */
export function requestOf({ messages }: Pick<Trajectory, 'messages'>): string {
  const first =
    messages.find((message) => message.role === 'user') ??
    messages.find((message) => message.role !== 'system');
  return first?.content ?? '';
}

function cellOf(letter: string | undefined, votes: Votes | undefined): Cell {
  const label = LABELS[letter ?? '-'] ?? null;
  if (!votes) return { label, votes: null, agreement: null };
  const total = votes.lacking + votes.present + votes.na;
  const mine = { LACKING: votes.lacking, PRESENT: votes.present, NA: votes.na };
  return { label, votes, agreement: label === null || total === 0 ? null : mine[label] / total };
}

/** All attempts of a diagnosis with their labels, the raters' votes and evidence; in the order of the file. */
export function attemptViews(
  file: Pick<CapabilitiesFile, 'capabilities' | 'attempts'>,
  raters: readonly RaterLabels[],
  trajectories: readonly Trajectory[],
): AttemptView[] {
  const byId = new Map(trajectories.map((trajectory) => [trajectory.id, trajectory]));
  const votes = file.capabilities.map(({ name }) => votesFor(name, raters));
  const written = file.capabilities.map(
    ({ evidence }) => new Map(evidence.map((item) => [item.trajectory, item])),
  );
  return file.attempts.map(({ id, task, trial, outcome, labels }, index) => {
    const cells = file.capabilities.map((_, c) => cellOf(labels[c], votes[c]!.votes.get(id)));
    const trajectory = byId.get(id);
    return {
      index,
      id,
      task,
      trial,
      outcome,
      cells,
      evidence: cells.flatMap(({ label }, capability) => {
        if (label !== 'LACKING') return [];
        const found = votes[capability]!.evidence.get(id) ?? written[capability]!.get(id);
        return found ? [{ capability, message: found.message, quote: found.quote, note: found.note }] : [];
      }),
      conversation: trajectory
        ? {
            messages: trajectory.messages.length,
            termination: trajectory.termination,
            request: requestOf(trajectory).slice(0, 600),
            path: callPath(callsOf(trajectory), LONGEST_PATH),
          }
        : null,
    };
  });
}
