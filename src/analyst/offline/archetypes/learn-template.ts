import type { Template } from './service/world.js';
import { glueOf, mostFrequent, wordsOf } from './words.js';

/** A string leaf as words (attribute or literal) and the glue around them: `glue[i]` stands before `words[i]`. */
export interface Leaf {
  readonly words: readonly ({ readonly attribute: string } | { readonly literal: string })[];
  readonly glue: readonly string[];
  readonly number: boolean;
}

/** What was learned of the JSON that one tool returns. */
export interface LearnedResult {
  readonly template: Template;
  /** The list's name → its least and greatest length. */
  readonly lists: { readonly [list: string]: readonly [number, number] };
  /** Every leaf with the list it is in (null: the record itself). */
  readonly leaves: readonly { readonly list: string | null; readonly leaf: Leaf }[];
  /** Observed values of each attribute, repeats kept. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** Reads one result by the template; null when it has another shape. */
  read(result: unknown): ReadRecord | null;
}

export interface ReadRecord {
  readonly values: { readonly [attribute: string]: string };
  readonly lists: { readonly [list: string]: readonly { readonly [attribute: string]: string }[] };
}

/** Template text of words `from`…`to` (inclusive) of a leaf. */
export function leafText(leaf: Leaf, from = 0, to = leaf.words.length - 1): string {
  let text = from === 0 ? (leaf.glue[0] ?? '') : '';
  for (let i = from; i <= to; i++) {
    const word = leaf.words[i]!;
    text += (i > from ? leaf.glue[i]! : '') + ('literal' in word ? word.literal : `{${word.attribute}}`);
  }
  return to === leaf.words.length - 1 ? text + (leaf.glue[leaf.words.length] ?? '') : text;
}

const isObject = (value: unknown): value is { [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Node =
  | { readonly kind: 'object'; readonly entries: readonly (readonly [string, Node])[] }
  | { readonly kind: 'list'; readonly list: string; readonly element: Node | null }
  | { readonly kind: 'leaf'; readonly list: string | null; readonly leaf: Leaf }
  | { readonly kind: 'constant'; readonly value: null | boolean };

/**
 * Learns the shape of a tool's results: keys, lists, and strings as words where what never changes is literal and
 * what does is an attribute of `record` (or of the list it is in).
 * @throws Error when the results have no shape in common (lists of lists, no result at all).
 */
export function learnResult(results: readonly unknown[], record: string): LearnedResult {
  if (results.length === 0) throw new Error(`no result of a lookup of ${record} was seen`);
  const lists: { [list: string]: [number, number] } = {};
  const leaves: { list: string | null; leaf: Leaf }[] = [];
  const taken = new Set<string>();
  const unique = (name: string) => {
    let free = name;
    for (let n = 2; taken.has(free); n++) free = `${name}_${n}`;
    taken.add(free);
    return free;
  };

  const learn = (values: readonly unknown[], path: string, list: string | null): Node => {
    const kinds = values.map((value): Node['kind'] =>
      Array.isArray(value)
        ? 'list'
        : isObject(value)
          ? 'object'
          : value === null || typeof value === 'boolean'
            ? 'constant'
            : 'leaf',
    );
    const kind = mostFrequent(kinds) as Node['kind'];
    const same = values.filter((_, i) => kinds[i] === kind);
    if (kind === 'object') {
      const keys = same.map((value) => JSON.stringify(Object.keys(value as object)));
      const common = mostFrequent(keys)!;
      const kept = same.filter((_, i) => keys[i] === common) as { [key: string]: unknown }[];
      return {
        kind,
        entries: (JSON.parse(common) as string[]).map((key) => [
          key,
          learn(
            kept.map((value) => value[key]),
            list === null && path !== '' ? `${path}_${key}` : key,
            list,
          ),
        ]),
      };
    }
    if (kind === 'list') {
      if (list !== null)
        throw new Error(`${record}.${path} is a list inside a list, which this archetype has no use for`);
      const name = unique(path === '' ? `${record}s` : path);
      const arrays = same as unknown[][];
      const lengths = arrays.map((array) => array.length);
      lists[name] = [Math.min(...lengths), Math.max(...lengths)];
      const elements = arrays.flat();
      return { kind, list: name, element: elements.length > 0 ? learn(elements, '', name) : null };
    }
    if (kind === 'constant') {
      const value = mostFrequent(same.map(String));
      return { kind, value: value === 'null' ? null : value === 'true' };
    }
    const leaf = learnLeaf(same as (string | number)[], (n, count) =>
      unique(
        `${list ?? record}.${path === '' ? (count === 1 ? 'value' : `word${n + 1}`) : count === 1 ? path : `${path}_${n + 1}`}`,
      ),
    );
    leaves.push({ list, leaf });
    return { kind, list, leaf };
  };

  const root = learn(results, '', null);
  const read = (result: unknown) => readRecord(root, result);
  const values = new Map<string, string[]>();
  for (const result of results) {
    const row = read(result);
    if (!row) continue;
    for (const part of [row.values, ...Object.values(row.lists).flat()])
      for (const [attribute, value] of Object.entries(part))
        values.set(attribute, [...(values.get(attribute) ?? []), value]);
  }
  return { template: templateOf(root), lists, leaves, values, read };
}

function learnLeaf(values: readonly (string | number)[], name: (n: number, count: number) => string): Leaf {
  const texts = values.map(String);
  const glue = mostFrequent(texts.map(glueOf))!;
  const kept = texts.filter((text) => glueOf(text) === glue);
  const columns = wordsOf(kept[0]!).map((_, i) => kept.map((text) => wordsOf(text)[i]!.text));
  // A word that never changed in at least three different strings (or is the whole leaf) is part of the form.
  const distinct = new Set(kept).size;
  const constant = (column: readonly string[]) =>
    new Set(column).size === 1 && (distinct >= 3 || columns.length === 1);
  const open = columns.filter((column) => !constant(column)).length;
  let n = 0;
  return {
    words: columns.map((column) =>
      constant(column) ? { literal: column[0]! } : { attribute: name(n++, open) },
    ),
    glue: glue.split('\u0000'),
    number: typeof values[0] === 'number',
  };
}

function templateOf(node: Node | null): Template {
  if (node === null) return [];
  if (node.kind === 'object')
    return Object.fromEntries(node.entries.map(([key, child]) => [key, templateOf(child)]));
  if (node.kind === 'list') return node.element ? [templateOf(node.element)] : [];
  if (node.kind === 'constant') return node.value;
  const text = leafText(node.leaf);
  if (!node.leaf.number) return text;
  const [word] = node.leaf.words;
  return word && 'attribute' in word ? `{#${word.attribute}}` : Number(text);
}

function readRecord(root: Node, result: unknown): ReadRecord | null {
  const values: { [attribute: string]: string } = {};
  const lists: { [list: string]: { [attribute: string]: string }[] } = {};
  const walk = (node: Node, value: unknown, into: { [attribute: string]: string }): boolean => {
    if (node.kind === 'object')
      return (
        isObject(value) && node.entries.every(([key, child]) => key in value && walk(child, value[key], into))
      );
    if (node.kind === 'list') {
      if (!Array.isArray(value)) return false;
      lists[node.list] = [];
      return value.every((element) => {
        const row = {};
        lists[node.list]!.push(row);
        return node.element !== null && walk(node.element, element, row);
      });
    }
    if (node.kind === 'constant') return true;
    const text = String(value);
    if (typeof value === 'object' || glueOf(text) !== node.leaf.glue.join('\u0000')) return false;
    return wordsOf(text).every((word, i) => {
      const piece = node.leaf.words[i]!;
      if ('literal' in piece) return piece.literal === word.text;
      into[piece.attribute] = word.text;
      return true;
    });
  };
  return walk(root, result, values) ? { values, lists } : null;
}
