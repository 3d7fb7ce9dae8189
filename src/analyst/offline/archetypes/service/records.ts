import type { Template, Values } from './world.js';

/** A record: its own attributes, and lists of records. */
export interface Row {
  readonly values: Values;
  readonly lists: { readonly [list: string]: readonly Row[] };
}
export interface Case {
  readonly write: string;
  readonly forbidden: boolean;
  readonly entity: Row;
  readonly catalog: Row | null;
  /** Every attribute that the request is about: entity, chosen line, chosen option, what the person says. */
  readonly values: Values;
  readonly wording: string;
}
export interface Action {
  readonly tool: string;
  readonly arguments: { readonly [parameter: string]: unknown };
}
export interface ServiceScenario {
  readonly seed: number;
  readonly id: string;
  readonly account: Row;
  readonly cases: readonly Case[];
  /** The one right action of each case, and what has to be said of it. */
  readonly actions: readonly Action[];
  readonly facts: readonly string[];
  readonly request: string;
}

/** Mulberry32 behind a seed that is mixed first, so that neighbouring seeds are unrelated. */
export class Dice {
  #state: number;
  constructor(seed: number) {
    this.#state = Math.imul(seed ^ (seed >>> 16), 0x45d9f3b) ^ 0x2f6e2b1;
  }
  float(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }
  below(n: number): number {
    return Math.floor(this.float() * n);
  }
  between([least, most]: readonly [number, number]): number {
    return least + this.below(most - least + 1);
  }
  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new Error('nothing to pick from');
    return items[this.below(items.length)] as T;
  }
  shuffle<T>(items: readonly T[]): T[] {
    const copy = [...items];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
    }
    return copy;
  }
}

const namedInText = new Map<string, readonly string[]>();
const namedInPart = new WeakMap<object, readonly string[]>();

/** Every attribute named in a template; asked often, so that the answer is remembered. */
export function attributesOf(template: Template): readonly string[] {
  if (typeof template === 'string') {
    let attributes = namedInText.get(template);
    if (!attributes) {
      attributes = [...template.matchAll(/\{#?([^{}]+)\}/g)].map((match) => match[1]!);
      namedInText.set(template, attributes);
    }
    return attributes;
  }
  if (typeof template !== 'object' || template === null) return [];
  let attributes = namedInPart.get(template);
  if (!attributes) {
    attributes = Object.values(template).flatMap(attributesOf);
    namedInPart.set(template, attributes);
  }
  return attributes;
}

export const listOf = (attribute: string) => attribute.slice(0, attribute.indexOf('.'));
export const numberIn = (value: string) => Number(/\d+(?:\.\d+)?/.exec(value)?.[0] ?? Number.NaN);

/** Text with its placeholders filled; `{#attribute}` alone becomes a number. */
export function fill(text: string, values: Values): string | number {
  if (/^\{#[^{}]+\}$/.test(text)) return Number(fill(`{${text.slice(2)}`, values));
  return text.replace(/\{([^{}]+)\}/g, (_, attribute: string) => {
    const value = values[attribute];
    if (value === undefined) throw new Error(`no value for {${attribute}} in ${JSON.stringify(text)}`);
    return value;
  });
}

export function render(template: Template, row: Row): unknown {
  if (typeof template === 'string') return fill(template, row.values);
  if (Array.isArray(template)) {
    const list = attributesOf(template)
      .map(listOf)
      .find((name) => row.lists[name]);
    if (list === undefined) return template.map((part) => render(part, row));
    return row.lists[list]!.map((element) => render(template[0] as Template, element));
  }
  if (template && typeof template === 'object')
    return Object.fromEntries(Object.entries(template).map(([key, part]) => [key, render(part, row)]));
  return template;
}

export const canonical = (value: unknown): string =>
  value && typeof value === 'object' && !Array.isArray(value)
    ? `{${Object.keys(value)
        .sort()
        .map((key) => `${key}:${canonical((value as { [key: string]: unknown })[key])}`)
        .join()}}`
    : Array.isArray(value)
      ? `[${value.map(canonical).join()}]`
      : JSON.stringify(value);
