import type { ReferenceAction } from '../../../trajectory/trajectory.js';
import { changes, type LearnedLookup, type Roles } from './learn-roles.js';
import { type Leaf, leafText, type ReadRecord } from './learn-template.js';
import type { ObservedTask } from './observations.js';
import type { Template } from './service/world.js';
import { findWords, mostFrequent, wordsOf } from './words.js';

/** A reference action with the records it is about, as far as they were seen. */
export interface ObservedCase {
  readonly task: ObservedTask;
  readonly action: ReferenceAction;
  readonly key: string;
  readonly entity: ReadRecord | null;
  readonly account: ReadRecord | null;
  /** Lists to choose from that were seen in the task, by the key they were asked with. */
  readonly catalogs: ReadonlyMap<string, ReadRecord>;
}

export const keyAttribute = (lookup: { readonly parameter: string }): string => `${lookup.parameter}.key`;

/** Every reference action whose entity is known by key. */
export function observeCases(tasks: readonly ObservedTask[], roles: Roles): ObservedCase[] {
  const read = (lookup: LearnedLookup | undefined, task: ObservedTask, key: string) => {
    const result = lookup?.seen.get(task.taskId)?.get(key);
    return lookup && result !== undefined ? lookup.learned.read(result) : null;
  };
  return tasks.flatMap((task) => {
    const keys = new Set(roles.entity.seen.get(task.taskId)?.keys() ?? []);
    const accountKey = [...(roles.account?.seen.get(task.taskId)?.keys() ?? [])].find((key) =>
      task.said.some((text) => findWords(text, key) >= 0),
    );
    const catalogs = new Map<string, ReadRecord>();
    for (const key of roles.catalog?.seen.get(task.taskId)?.keys() ?? []) {
      const record = read(roles.catalog, task, key);
      if (record) catalogs.set(key, record);
    }
    return task.actions.filter(changes).flatMap((action) => {
      const key = Object.values(action.arguments)
        .map(String)
        .find((value) => keys.has(value));
      if (key === undefined) return [];
      const account = accountKey === undefined ? null : read(roles.account, task, accountKey);
      return [{ task, action, key, entity: read(roles.entity, task, key), account, catalogs }];
    });
  });
}

/** Where an argument's value comes from, as a template over attributes. */
export interface ArgumentSource {
  readonly template: string;
  /** The record that the value stands in, and its list. */
  readonly from: 'key' | 'entity' | 'catalog' | 'account' | 'person' | 'constant';
  readonly list: string | null;
  readonly support: number;
}

/** At ties the earlier wins: an id is its own best explanation, a value that merely recurs the worst. */
const ORDER = ['key', 'entity', 'catalog', 'account', 'person', 'constant'] as const;

/**
 * Explains one argument of a tool over all its cases: the template that yields the value most often.
 * @returns null when nothing explains nine in ten of the values.
 */
export function learnArgument(
  cases: readonly ObservedCase[],
  parameter: string,
  roles: Roles,
): ArgumentSource | null {
  const votes = new Map<string, { source: Omit<ArgumentSource, 'support'>; count: number }>();
  let judged = 0;
  const values: string[] = [];
  for (const one of cases) {
    const raw = one.action.arguments[parameter];
    const value = typeof raw === 'string' || typeof raw === 'number' ? String(raw) : JSON.stringify(raw);
    values.push(value);
    if (!one.entity) continue;
    judged++;
    const found = new Map<string, Omit<ArgumentSource, 'support'>>();
    const add = (template: string, from: ArgumentSource['from'], list: string | null) =>
      found.set(`${from} ${template}`, { template, from, list });
    if (value === one.key) add(`{${keyAttribute(roles.entity)}}`, 'key', null);
    for (const leaf of matches(roles.entity, one.entity, value)) add(leaf.template, 'entity', leaf.list);
    for (const record of one.catalogs.values())
      for (const leaf of matches(roles.catalog!, record, value)) add(leaf.template, 'catalog', leaf.list);
    if (one.account)
      for (const leaf of matches(roles.account!, one.account, value))
        add(leaf.template, 'account', leaf.list);
    if (one.task.said.some((text) => findWords(text, value) >= 0))
      add(personTemplate(one.action.name, parameter, value), 'person', null);
    for (const [id, source] of found) {
      const vote = votes.get(id) ?? { source, count: 0 };
      vote.count++;
      votes.set(id, vote);
    }
  }
  const ranked = [...votes.values()].sort(
    (a, b) => b.count - a.count || ORDER.indexOf(a.source.from) - ORDER.indexOf(b.source.from),
  );
  // What base attempts seldom open or ask for explains fewer of the values than it would.
  const bar = (from: ArgumentSource['from']) => (from === 'catalog' ? 0.1 : from === 'person' ? 0.3 : 0.9);
  const best = ranked.find(({ source, count }) => count >= bar(source.from) * judged);
  const constant = mostFrequent(values);
  if (constant !== undefined && values.length > 2 && values.every((value) => value === constant))
    return { template: constant, from: 'constant', list: null, support: values.length };
  return best ? { ...best.source, support: best.count } : null;
}

const personTemplate = (tool: string, parameter: string, value: string) => {
  const words = wordsOf(value);
  return words
    .map(
      (word, i) =>
        value.slice(i === 0 ? 0 : words[i - 1]!.end, word.start) +
        `{${tool}.${words.length === 1 ? parameter : `${parameter}_${i + 1}`}}`,
    )
    .join('');
};

/** Templates (whole leaves, or neighbouring words of one) that yield the value from this record. */
function matches(
  lookup: LearnedLookup,
  record: ReadRecord,
  value: string,
): { template: string; list: string | null }[] {
  return lookup.learned.leaves.flatMap(({ list, leaf }) => {
    const rows = list === null ? [record.values] : (record.lists[list] ?? []);
    return rows.flatMap((row) => {
      const text = filled(leaf, row);
      if (text === null) return [];
      const at = findWords(text, value);
      if (at < 0) return [];
      const template = leafText(leaf, at, at + wordsOf(value).length - 1);
      return template.includes('{') ? [{ template: template.trim(), list }] : [];
    });
  });
}

export function filled(leaf: Leaf, row: { readonly [attribute: string]: string }): string | null {
  let text = leaf.glue[0] ?? '';
  for (const [i, word] of leaf.words.entries()) {
    const piece = 'literal' in word ? word.literal : row[word.attribute];
    if (piece === undefined) return null;
    text += piece + (leaf.glue[i + 1] ?? '');
  }
  return text;
}

/** Template with the attributes' values in place. */
export const fillText = (template: string, row: { readonly [attribute: string]: string }): string | null => {
  let known = true;
  const text = template.replace(/\{#?([^{}]+)\}/g, (_, attribute: string) => {
    known &&= attribute in row;
    return row[attribute] ?? '';
  });
  return known ? text : null;
};

export type ArgumentTemplates = { readonly [parameter: string]: Template };
