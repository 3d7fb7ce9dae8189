import type { CapabilitiesFile } from '../analyst/capabilities-file.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import type { AttemptEvidence, AttemptView } from './attempt-view.js';
import { type Call, callKey, callsOf, differingArguments, kindOf } from './calls.js';
import { bestNeighbour } from './nearest.js';

/** A message of an attempt that decided it, and why it is this one. */
export interface DecisiveStep {
  readonly message: number;
  readonly why: string;
  /** Arguments of the call there that the other attempt's call has otherwise. */
  readonly differing: readonly string[];
}

/** A failed attempt that lacks a capability, beside a passed one. */
export interface CaseView {
  /** Index of the capability in the file. */
  readonly capability: number;
  readonly failed: {
    readonly attempt: AttemptView;
    readonly trajectory: Trajectory;
    readonly step: DecisiveStep;
  };
  /** Null where nothing passed. */
  readonly passed: { readonly trajectory: Trajectory; readonly step: DecisiveStep | null } | null;
  /** The passed attempt is at the same task. */
  readonly sameTask: boolean;
  /** How the passed attempt was chosen, in words. */
  readonly chosen: string;
}

/** Failed attempts looked at for a capability, and passed ones a failed attempt is compared with. */
const MOST_FAILED = 60;
const MOST_PASSED = 1000;

/**
 * One case for each capability that a failed attempt lacks with evidence: an attempt at a task that another attempt
 * passed, if there is one, else the pair of a failed and a passed attempt that are most alike (`nearest.ts`). Among
 * equals an attempt that lacks nothing else comes first, then one that the raters agree on.
 */
export function chooseCases(
  file: Pick<CapabilitiesFile, 'capabilities'>,
  attempts: readonly AttemptView[],
  trajectories: readonly Trajectory[],
): CaseView[] {
  const byId = new Map(trajectories.map((trajectory) => [trajectory.id, trajectory]));
  return file.capabilities.flatMap((_, capability): CaseView[] => {
    const passed = passedWithIt(capability, attempts, byId);
    const lackingIt = attempts
      .flatMap((attempt) => {
        const trajectory = byId.get(attempt.id);
        const evidence = attempt.evidence.find((item) => item.capability === capability);
        if (attempt.outcome !== 'failed' || !trajectory || !evidence) return [];
        const others = attempt.cells.filter(({ label }) => label === 'LACKING').length - 1;
        return [
          { attempt, trajectory, evidence, others, agreement: attempt.cells[capability]!.agreement ?? 0 },
        ];
      })
      .sort((a, b) => a.others - b.others || b.agreement - a.agreement)
      .slice(0, MOST_FAILED);
    if (lackingIt.length === 0) return [];
    let best = { item: lackingIt[0]!, neighbour: bestNeighbour(lackingIt[0]!.trajectory, passed) };
    for (const item of lackingIt.slice(1)) {
      const neighbour = bestNeighbour(item.trajectory, passed);
      if (neighbour && neighbour.likeness > (best.neighbour?.likeness ?? -1)) best = { item, neighbour };
    }
    const { item, neighbour } = best;
    const failedCall = callOf(item.trajectory, item.evidence);
    const passedStep = neighbour && stepOfPassed(item.trajectory, failedCall, neighbour.trajectory);
    return [
      {
        capability,
        failed: {
          attempt: item.attempt,
          trajectory: item.trajectory,
          step: {
            message: item.evidence.message,
            why: item.evidence.note,
            differing: passedStep?.differing ?? [],
          },
        },
        passed: neighbour && { trajectory: neighbour.trajectory, step: passedStep },
        sameTask: neighbour?.sameTask ?? false,
        chosen: neighbour?.how ?? 'No attempt that shows it passed, so there is none to compare with.',
      },
    ];
  });
}

/** Passed attempts that show the capability, then those that did not need it; never one that lacks it too. */
function passedWithIt(
  capability: number,
  attempts: readonly AttemptView[],
  byId: ReadonlyMap<string, Trajectory>,
): Trajectory[] {
  const labelled = (wanted: 'PRESENT' | 'NA') =>
    attempts.filter(({ outcome, cells }) => outcome === 'passed' && cells[capability]?.label === wanted);
  return [...labelled('PRESENT'), ...labelled('NA')]
    .flatMap(({ id }) => byId.get(id) ?? [])
    .slice(0, MOST_PASSED);
}

/** The call that the evidence is about: of the message's calls the one that the quote names, else the first. */
function callOf(trajectory: Trajectory, evidence: AttemptEvidence): Call | null {
  const calls = callsOf(trajectory).filter(({ message }) => message === evidence.message);
  return calls.find(({ name }) => evidence.quote.includes(name)) ?? calls[0] ?? null;
}

/**
 * The step of a passed attempt to look at. In this order: its call of the tool that the failed attempt called
 * otherwise (the one with the most equal arguments); the first change or hand-over that the failed attempt never
 * made; how it ended, where the failed attempt's call is one that it never made.
 */
function stepOfPassed(failed: Trajectory, wrong: Call | null, passed: Trajectory): DecisiveStep | null {
  const calls = callsOf(passed);
  if (wrong) {
    const alike = calls
      .filter(({ name }) => name === wrong.name)
      .map((call) => ({ call, differing: differingArguments(wrong, call) }))
      .sort((a, b) => a.differing.length - b.differing.length);
    const [nearest] = alike;
    if (nearest && nearest.differing.length > 0)
      return {
        message: nearest.call.message,
        why: `the same tool, ${nearest.differing.slice(0, 4).join(', ')} otherwise`,
        differing: nearest.differing,
      };
  }
  const made = new Set(callsOf(failed).map(callKey));
  const isAct = (call: Call) => ['write', 'handover'].includes(kindOf(passed, call.name));
  const missed = calls.find((call) => isAct(call) && !made.has(callKey(call)));
  if (missed)
    return { message: missed.message, why: 'the failed attempt never made this call', differing: [] };
  const last = passed.messages.findLastIndex((message) => message.role === 'assistant');
  if (last < 0) return null;
  const without = wrong && !calls.some(({ name }) => name === wrong.name);
  return {
    message: last,
    why: without ? `it ended like this, without any ${wrong.name}` : 'it ended like this',
    differing: [],
  };
}
