import type { Evidence, LabelledPair } from '../analyst/contract.js';
import { RecordError, read } from '../trajectory/parse.js';
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

/** One rater's labels in the reference implementation's file format; evidence and missing labels are additions. */
export interface RaterFile {
  /** Number of the rater, from 1. */
  readonly attempt: number;
  readonly totals: { readonly total_failed: number; readonly total_passed: number };
  readonly labels: { readonly [capability: string]: LabelLists };
  /** Evidence by capability and trajectory. */
  readonly evidence?: { readonly [capability: string]: { readonly [trajectory: string]: Evidence } };
  /** Trajectories that the rater saw and has no label for, by capability; they stand in none of the lists. */
  readonly missing?: { readonly [capability: string]: readonly string[] };
}

const LIST_NAMES = [
  'lacking_failed',
  'present_failed',
  'na_failed',
  'lacking_passed',
  'present_passed',
  'na_passed',
] as const;

/** Collects a rater's labels; `labels[i]` belongs to `trajectories[i]`. A pair that is not there is missing. */
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
  const missing: { [capability: string]: string[] } = {};
  trajectories.forEach((trajectory, i) => {
    const outcome = trajectory.outcome === 'passed' ? 'passed' : 'failed';
    for (const name of candidates) {
      const pair = labels[i]!.find((candidate) => candidate.capability === name);
      if (!pair) {
        missing[name] ??= [];
        missing[name].push(trajectory.id);
        continue;
      }
      const kind = pair.label === 'NA' ? 'na' : pair.label === 'PRESENT' ? 'present' : 'lacking';
      lists[name]![`${kind}_${outcome}`].push(trajectory.id);
      if (!pair.evidence) continue;
      const known = evidence[name] ?? {};
      evidence[name] = known;
      known[trajectory.id] = pair.evidence;
    }
  });
  const failed = trajectories.filter((trajectory) => trajectory.outcome === 'failed').length;
  return {
    attempt: rater + 1,
    totals: { total_failed: failed, total_passed: trajectories.length - failed },
    labels: lists,
    evidence,
    ...(Object.keys(missing).length > 0 ? { missing } : {}),
  };
}

/** The file as the reference implementation writes it: nothing but attempt, totals and labels. */
export function referenceRaterFile({ attempt, totals, labels }: RaterFile): RaterFile {
  return { attempt, totals, labels };
}

/**
 * Checks a rater file, this project's or the reference implementation's: the six lists of each capability have
 * to hold as many failed and passed trajectories as the totals say, each once, and the same ones for every
 * capability. Those that `missing` names belong to the totals and to no list.
 * @throws RecordError naming the capability and the trajectory.
 */
export function parseRaterFile(value: unknown): RaterFile {
  const file = read.object(value, '(file)');
  const attempt = read.count(file.attempt, 'attempt');
  const given = read.object(file.totals, 'totals');
  const totals = {
    total_failed: read.count(given.total_failed, 'totals.total_failed'),
    total_passed: read.count(given.total_passed, 'totals.total_passed'),
  };
  const labels: { [capability: string]: LabelLists } = {};
  const unlabelled = file.missing === undefined ? {} : read.object(file.missing, 'missing');
  const missing: { [capability: string]: string[] } = {};
  let first: { readonly capability: string; readonly all: ReadonlyMap<string, string | null> } | null = null;
  for (const [capability, item] of Object.entries(read.object(file.labels, 'labels'))) {
    const lists = listsOf(item, capability);
    const without = idsOf(unlabelled[capability] ?? [], `missing.${capability}`);
    checkTotals(lists, without, capability, totals);
    const all = outcomesOf(lists, without);
    first ??= { capability, all };
    for (const [id, outcome] of all) {
      const other = first.all.get(id);
      if (other === undefined || (outcome !== null && other !== null && outcome !== other))
        throw new RecordError(
          `labels.${capability}: trajectory ${id} ${other === undefined ? 'does not stand' : `stands as ${other}`} in labels.${first.capability}`,
        );
    }
    labels[capability] = lists;
    if (without.length > 0) missing[capability] = without;
  }
  return {
    attempt,
    totals,
    labels,
    ...(file.evidence === undefined ? {} : { evidence: evidenceOf(file.evidence) }),
    ...(Object.keys(missing).length > 0 ? { missing } : {}),
  };
}

const idsOf = (value: unknown, field: string) => read.list(value, field).map((id) => read.id(id, field));

/** The six lists, no id in two of them. */
function listsOf(value: unknown, capability: string): LabelLists {
  const given = read.object(value, `labels.${capability}`);
  const seen = new Map<string, string>();
  return Object.fromEntries(
    LIST_NAMES.map((name) => {
      const ids = idsOf(given[name], `labels.${capability}.${name}`);
      for (const id of ids) {
        const earlier = seen.get(id);
        if (earlier !== undefined)
          throw new RecordError(`labels.${capability}: trajectory ${id} stands in ${earlier} and in ${name}`);
        seen.set(id, name);
      }
      return [name, ids];
    }),
  ) as unknown as LabelLists;
}

/** The lists and what is missing have to make up the totals. */
function checkTotals(
  lists: LabelLists,
  missing: readonly string[],
  capability: string,
  { total_failed, total_passed }: RaterFile['totals'],
): void {
  for (const id of missing)
    if (LIST_NAMES.some((name) => lists[name].includes(id)))
      throw new RecordError(`missing.${capability}: trajectory ${id} has a label`);
  let short = 0;
  for (const [outcome, total] of [
    ['failed', total_failed],
    ['passed', total_passed],
  ] as const) {
    const held = (['lacking', 'present', 'na'] as const).reduce(
      (sum, kind) => sum + lists[`${kind}_${outcome}`].length,
      0,
    );
    if (held > total || (held < total && missing.length === 0))
      throw new RecordError(
        `labels.${capability} holds ${held} ${outcome} trajectories, the totals say ${total}`,
      );
    short += total - held;
  }
  if (short !== missing.length)
    throw new RecordError(
      `missing.${capability} names ${missing.length} trajectories, the totals leave ${short}`,
    );
}

/** Every trajectory of one capability with the outcome that its list names; null for one without a label. */
function outcomesOf(lists: LabelLists, without: readonly string[]): Map<string, string | null> {
  const outcomes = new Map<string, string | null>(without.map((id) => [id, null]));
  for (const name of LIST_NAMES)
    for (const id of lists[name]) outcomes.set(id, name.endsWith('_failed') ? 'failed' : 'passed');
  return outcomes;
}

function evidenceOf(value: unknown): RaterFile['evidence'] & object {
  const evidence: { [capability: string]: { [trajectory: string]: Evidence } } = {};
  for (const [capability, byId] of Object.entries(read.object(value, 'evidence'))) {
    evidence[capability] = {};
    for (const [id, item] of Object.entries(read.object(byId, `evidence.${capability}`))) {
      const at = `evidence.${capability}.${id}`;
      const { message, quote, note } = read.object(item, at);
      evidence[capability][id] = {
        message: read.count(message, `${at}.message`),
        quote: read.text(quote, `${at}.quote`),
        note: read.text(note, `${at}.note`),
      };
    }
  }
  return evidence;
}
