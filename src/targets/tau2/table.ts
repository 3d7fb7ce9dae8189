import { dumpString, dumps, sortKeys } from './python/json.js';
import { deepCopy, hashable } from './python/value.js';

/**
 * The rows of a large database, shared by all episodes: what a file held, with the sorted JSON text of every row
 * kept once it was needed, so that a hash costs only the changed rows.
 */
export class BaseTable<T> {
  readonly #texts = new Map<string, string>();
  #sorted: readonly string[] | null = null;
  constructor(readonly rows: ReadonlyMap<string, T>) {}

  text(key: string): string {
    let text = this.#texts.get(key);
    if (text === undefined) {
      text = dumps(this.rows.get(key), true);
      this.#texts.set(key, text);
    }
    return text;
  }

  get sortedKeys(): readonly string[] {
    this.#sorted ??= sortKeys([...this.rows.keys()]);
    return this.#sorted;
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
    return [...this.base.rows.keys(), ...this.#added()];
  }

  #added(): string[] {
    return [...this.#changed.keys()].filter((key) => !this.base.rows.has(key));
  }

  /** All rows in order, only to be read. */
  values(): T[] {
    return this.keys().map((key) => this.peek(key));
  }

  /** Sorted JSON of the rows that differ from the base: equal exactly where the tables are. */
  difference(): string {
    const rows = sortKeys([...this.#changed.keys()]).flatMap((key) => {
      const text = dumps(this.#changed.get(key), true);
      return this.base.rows.has(key) && this.base.text(key) === text ? [] : [`${dumpString(key)}: ${text}`];
    });
    return `{${rows.join(', ')}}`;
  }

  /** The JSON text of the whole dict. */
  dump(sorted: boolean): string {
    const added = this.#added();
    const keys = !sorted
      ? this.keys()
      : added.length === 0
        ? this.base.sortedKeys
        : sortKeys([...this.base.sortedKeys, ...added]);
    const parts = keys.map((key) => {
      const changed = this.#changed.get(key);
      const text = sorted && changed === undefined ? this.base.text(key) : dumps(this.peek(key), sorted);
      return `${dumpString(key)}: ${text}`;
    });
    return `{${parts.join(', ')}}`;
  }
}
