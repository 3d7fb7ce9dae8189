import { comparePaired } from '../statistics/paired.js';
import { wilson } from '../statistics/proportion.js';
import type { Outcome } from './outcomes.js';
import type { Cell, Comparison, ErrorKinds, Gain, SystemResult } from './result.js';

/** Outcomes of one system in one cell, in the order of the tasks. */
export interface CellOutcomes extends Cell {
  readonly name: string;
  readonly outcomes: readonly Outcome[];
}

/** Pass rate and interval of a system in a cell. */
export function systemResult(cell: CellOutcomes, rollouts: number): SystemResult {
  const counted = cell.outcomes.filter((outcome) => outcome.broken === undefined);
  const passed = counted.filter((outcome) => outcome.passed).length;
  const n = counted.length;
  return {
    name: cell.name,
    split: cell.split,
    decoding: cell.decoding,
    passed,
    n,
    rate: n === 0 ? 0 : passed / n,
    interval: n === 0 ? [0, 1] : wilson(passed, n),
    rollouts,
    broken: cell.outcomes.length - n,
  };
}

/** Paired by task; tasks on which the infrastructure broke for either are left out. Null when none is left. */
export function compareCells(of: CellOutcomes, against: CellOutcomes): Comparison | null {
  const pairs = pair(of.outcomes, against.outcomes);
  if (pairs.length === 0) return null;
  return {
    of: of.name,
    against: against.name,
    split: of.split,
    decoding: of.decoding,
    ...comparePaired(
      pairs.map(([first]) => first.passed),
      pairs.map(([, second]) => second.passed),
    ),
  };
}

function pair(first: readonly Outcome[], second: readonly Outcome[]): [Outcome, Outcome][] {
  const byTask = new Map(second.map((outcome) => [outcome.task, outcome]));
  return first.flatMap((outcome) => {
    const other = byTask.get(outcome.task);
    return other && outcome.broken === undefined && other.broken === undefined
      ? [[outcome, other] as [Outcome, Outcome]]
      : [];
  });
}

/**
 * The mixture against every other system, then every other system against the base, in one cell.
 * @param cells all systems of the cell.
 */
export function comparisons(cells: readonly CellOutcomes[]): Comparison[] {
  const mixture = cells.find((cell) => cell.name === 'mixture');
  const base = cells.find((cell) => cell.name === 'base');
  const wanted: [CellOutcomes, CellOutcomes][] = [];
  for (const other of cells) if (mixture && other !== mixture) wanted.push([mixture, other]);
  for (const other of cells) if (base && other !== base && other !== mixture) wanted.push([other, base]);
  return wanted.flatMap(([of, against]) => compareCells(of, against) ?? []);
}

/**
 * Base against mixture on the tasks of a cell that need a capability, for each of them, and on those that need
 * so many, for each number.
 * @param needs capabilities of a task, by seed.
 */
export function gains(
  base: CellOutcomes,
  mixture: CellOutcomes,
  needs: (seed: number) => readonly string[],
): Gain[] {
  const pairs = pair(mixture.outcomes, base.outcomes).map(([after, before]) => ({
    after,
    before,
    needed: needs(after.seed),
  }));
  const gain = (capability: string | null, needed: number | null, chosen: typeof pairs): Gain => ({
    capability,
    needed,
    split: mixture.split,
    decoding: mixture.decoding,
    n: chosen.length,
    base: chosen.filter(({ before }) => before.passed).length,
    mixture: chosen.filter(({ after }) => after.passed).length,
    ...comparePaired(
      chosen.map(({ after }) => after.passed),
      chosen.map(({ before }) => before.passed),
    ),
  });
  const names = [...new Set(pairs.flatMap(({ needed }) => needed))].sort();
  const counts = [...new Set(pairs.map(({ needed }) => needed.length))].sort((a, b) => a - b);
  return [
    ...names.map((name) =>
      gain(
        name,
        null,
        pairs.filter(({ needed }) => needed.includes(name)),
      ),
    ),
    ...counts.map((count) =>
      gain(
        null,
        count,
        pairs.filter(({ needed }) => needed.length === count),
      ),
    ),
  ];
}

/** Endings that say nothing about an error by themselves. */
const ORDINARY = new Set(['agent_stop', 'user_stop', 'handover']);

/**
 * What the failed attempts of a cell failed of, most frequent first: what the detectors see lacking, where they see
 * something; else the failed checks, without the ids in their names. Endings such as `malformed` count beside them.
 */
export function errorKinds(cell: CellOutcomes): ErrorKinds {
  const failed = cell.outcomes.filter((outcome) => outcome.broken === undefined && !outcome.passed);
  const counts = new Map<string, number>();
  for (const { failed: checks, lacking = [], termination } of failed) {
    const kinds = new Set(lacking.length > 0 ? lacking : checks.map(withoutIds));
    if (!ORDINARY.has(termination)) kinds.add(`ended: ${termination}`);
    if (kinds.size === 0) kinds.add('reward below the threshold');
    for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const kinds = [...counts]
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([kind, attempts]) => ({ kind, attempts }));
  return { name: cell.name, split: cell.split, decoding: cell.decoding, failed: failed.length, kinds };
}

/** `state of order k97` and `state of order k10` are one kind of error. */
const withoutIds = (check: string) => check.replace(/\S*\d\S*/g, '…');
