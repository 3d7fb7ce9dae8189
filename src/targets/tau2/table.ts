import { byCodePoint, dumpString, dumps } from './python/json.js';
import { deepCopy, hashable } from './python/value.js';

/**
 * The rows of a large database, shared by all episodes: what a file held, with the sorted JSON text of every row
 * kept once it was needed, so that a hash costs only the changed rows.
 */
export class BaseTable<T> {
  readonly #texts = new Map<string, string>();
  constructor(readonly rows: ReadonlyMap<string, T>) {}

  text(key: string): string {
    let text = this.#texts.get(key);
    if (text === undefined) {
      text = dumps(this.rows.get(key), true);
      this.#texts.set(key, text);
    }
    return text;
  }
}

/**
 * A dict of models with copy-on-write: `get` hands out a row that may be changed (a copy, made at the first use),
 * `peek` and `values` only look. Behaves as a Python dict: insertion order, unhashable keys raise.
 */
export class Table<T> {
  readonly #changed = new Map<string, T>();
  constructor(readonly base: BaseTable<T>) {}

  has(key: unknown): boolean {
    const name = hashable(key);
    return name !== null && (this.#changed.has(name) || this.base.rows.has(name));
  }

  /** The row, to be changed. Only for keys that `has` found. */
  get(key: unknown): T {
    const name = key as string;
    let row = this.#changed.get(name);
    if (row === undefined) {
      row = deepCopy(this.base.rows.get(name) as T);
      this.#changed.set(name, row);
    }
    return row;
  }

  /** The row, only to be read. */
  peek(key: unknown): T {
    const name = key as string;
    return this.#changed.get(name) ?? (this.base.rows.get(name) as T);
  }

  set(key: string, row: T): void {
    this.#changed.set(key, row);
  }

  keys(): string[] {
    return [...this.base.rows.keys(), ...[...this.#changed.keys()].filter((key) => !this.base.rows.has(key))];
  }

  /** All rows in order, only to be read. */
  values(): T[] {
    return this.keys().map((key) => this.peek(key));
  }

  /** The JSON text of the whole dict. */
  dump(sortKeys: boolean): string {
    const keys = sortKeys ? this.keys().sort(byCodePoint) : this.keys();
    const parts = keys.map((key) => {
      const changed = this.#changed.get(key);
      const text =
        sortKeys && changed === undefined ? this.base.text(key) : dumps(changed ?? this.peek(key), sortKeys);
      return `${dumpString(key)}: ${text}`;
    });
    return `{${parts.join(', ')}}`;
  }
}
