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
        missing[name] = [...(missing[name] ?? []), trajectory.id];
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
 * to hold as many failed and passed trajectories as the totals say, each once; those that `missing` names belong to
 * the totals and to no list.
 * @throws RecordError naming the capability and the trajectory.
 */
export function parseRaterFile(value: unknown): RaterFile {
  const file = read.object(value, '(file)');
  const attempt = read.count(file.attempt, 'attempt');
  const totals = read.object(file.totals, 'totals');
  const total_failed = read.count(totals.total_failed, 'totals.total_failed');
  const total_passed = read.count(totals.total_passed, 'totals.total_passed');
  const labels: { [capability: string]: LabelLists } = {};
  const unlabelled = file.missing === undefined ? {} : read.object(file.missing, 'missing');
  const missing: { [capability: string]: string[] } = {};
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
    const without = read
      .list(unlabelled[capability] ?? [], `missing.${capability}`)
      .map((id) => read.id(id, `missing.${capability}`));
    for (const id of without)
      if (seen.has(id))
        throw new RecordError(`missing.${capability}: trajectory ${id} stands in ${seen.get(id)} too`);
    const held = { failed: 0, passed: 0 };
    for (const kind of ['lacking', 'present', 'na'] as const)
      for (const outcome of ['failed', 'passed'] as const)
        held[outcome] += lists[`${kind}_${outcome}`].length;
    const short = { failed: total_failed - held.failed, passed: total_passed - held.passed };
    for (const outcome of ['failed', 'passed'] as const)
      if (short[outcome] < 0 || (short[outcome] > 0 && without.length === 0))
        throw new RecordError(
          `labels.${capability} holds ${held[outcome]} ${outcome} trajectories, the totals say ${held[outcome] + short[outcome]}`,
        );
    if (short.failed + short.passed !== without.length)
      throw new RecordError(
        `missing.${capability} names ${without.length} trajectories, the totals leave ${short.failed + short.passed}`,
      );
    labels[capability] = lists;
    if (without.length > 0) missing[capability] = without;
  }
  return {
    attempt,
    totals: { total_failed, total_passed },
    labels,
    ...(file.evidence === undefined ? {} : { evidence: evidenceOf(file.evidence) }),
    ...(Object.keys(missing).length > 0 ? { missing } : {}),
  };
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
