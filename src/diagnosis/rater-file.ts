import type { Evidence, LabelledPair } from '../analyst/contract.js';
import { isObject, RecordError, read } from '../trajectory/parse.js';
import type { Trajectory } from '../trajectory/trajectory.js';

/** The six lists of one capability; together they hold every trajectory of the rater once. */
export interface LabelLists {
  readonly lacking_failed: readonly string[];
  readonly present_failed: readonly string[];
  readonly na_failed: readonly string[];
  readonly lacking_passed: readonly string[];
  readonly present_passed: readonly string[];
  readonly na_passed: readonly string[];
}

/** One rater's labels in the reference implementation's file format, with the evidence beside them. */
export interface RaterFile {
  /** Number of the rater, from 1. */
  readonly attempt: number;
  readonly totals: { readonly total_failed: number; readonly total_passed: number };
  readonly labels: { readonly [capability: string]: LabelLists };
  /** Evidence by capability and trajectory; this project's own addition. */
  readonly evidence?: { readonly [capability: string]: { readonly [trajectory: string]: Evidence } };
}

const LIST_NAMES = [
  'lacking_failed',
  'present_failed',
  'na_failed',
  'lacking_passed',
  'present_passed',
  'na_passed',
] as const;

/** Collects a rater's labels; `labels[i]` belongs to `trajectories[i]`. */
export function raterFile(
  rater: number,
  trajectories: readonly Trajectory[],
  labels: readonly (readonly LabelledPair[])[],
  candidates: readonly string[],
): RaterFile {
  const lists = Object.fromEntries(
    candidates.map((name) => [name, Object.fromEntries(LIST_NAMES.map((list) => [list, [] as string[]]))]),
  ) as { [capability: string]: { [list in (typeof LIST_NAMES)[number]]: string[] } };
  const evidence: { [capability: string]: { [trajectory: string]: Evidence } } = {};
  trajectories.forEach((trajectory, i) => {
    const outcome = trajectory.outcome === 'passed' ? 'passed' : 'failed';
    for (const pair of labels[i]!) {
      const kind = pair.label === 'NA' ? 'na' : pair.label === 'PRESENT' ? 'present' : 'lacking';
      lists[pair.capability]?.[`${kind}_${outcome}`].push(trajectory.id);
      if (!pair.evidence) continue;
      const known = evidence[pair.capability] ?? {};
      evidence[pair.capability] = known;
      known[trajectory.id] = pair.evidence;
    }
  });
  const failed = trajectories.filter((trajectory) => trajectory.outcome === 'failed').length;
  return {
    attempt: rater + 1,
    totals: { total_failed: failed, total_passed: trajectories.length - failed },
    labels: lists,
    evidence,
  };
}

/**
 * Checks a rater file, this project's or the reference implementation's: the six lists of each capability have
 * to hold as many failed and passed trajectories as the totals say, each once.
 * @throws RecordError naming the capability and the trajectory.
 */
export function parseRaterFile(value: unknown): RaterFile {
  const file = read.object(value, '(file)');
  const attempt = read.count(file.attempt, 'attempt');
  const totals = read.object(file.totals, 'totals');
  const total_failed = read.count(totals.total_failed, 'totals.total_failed');
  const total_passed = read.count(totals.total_passed, 'totals.total_passed');
  const labels: { [capability: string]: LabelLists } = {};
  for (const [capability, item] of Object.entries(read.object(file.labels, 'labels'))) {
    const given = read.object(item, `labels.${capability}`);
    const lists = Object.fromEntries(
      LIST_NAMES.map((name) => [
        name,
        read
          .list(given[name], `labels.${capability}.${name}`)
          .map((id) => read.id(id, `labels.${capability}.${name}`)),
      ]),
    ) as unknown as LabelLists;
    const seen = new Map<string, string>();
    for (const name of LIST_NAMES)
      for (const id of lists[name]) {
        const earlier = seen.get(id);
        if (earlier !== undefined)
          throw new RecordError(`labels.${capability}: trajectory ${id} stands in ${earlier} and in ${name}`);
        seen.set(id, name);
      }
    for (const [outcome, total] of [
      ['failed', total_failed],
      ['passed', total_passed],
    ] as const) {
      const held = (['lacking', 'present', 'na'] as const).reduce(
        (sum, kind) => sum + lists[`${kind}_${outcome}`].length,
        0,
      );
      if (held !== total)
        throw new RecordError(
          `labels.${capability} holds ${held} ${outcome} trajectories, the totals say ${total}`,
        );
    }
    labels[capability] = lists;
  }
  const evidence = isObject(file.evidence)
    ? { evidence: file.evidence as RaterFile['evidence'] & object }
    : {};
  return { attempt, totals: { total_failed, total_passed }, labels, ...evidence };
}
