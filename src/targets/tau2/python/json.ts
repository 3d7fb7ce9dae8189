import { Float, floatRepr } from './value.js';

/** JSON that cannot be read, with the offset where it stops making sense. */
export class PythonJsonError extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(`${message} at offset ${offset}`);
    this.name = 'PythonJsonError';
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const WORDS: readonly (readonly [string, unknown])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
  ['NaN', new Float(Number.NaN)],
  ['Infinity', new Float(Number.POSITIVE_INFINITY)],
  ['-Infinity', new Float(Number.NEGATIVE_INFINITY)],
];

/** Reads JSON as `json.loads` does: objects as Maps, 1.0 as a float and 1 as an int. */
class Reader {
  at = 0;
  constructor(readonly text: string) {}

  fail(message: string): never {
    throw new PythonJsonError(message, this.at);
  }

  space(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.at++;
    }
  }

  value(): unknown {
    this.space();
    const char = this.text[this.at];
    if (char === '{') return this.object();
    if (char === '[') return this.list();
    if (char === '"') return this.string();
    NUMBER.lastIndex = this.at;
    const match = NUMBER.exec(this.text);
    if (match) {
      this.at += match[0].length;
      if (match[1] !== undefined || match[2] !== undefined) return new Float(Number(match[0]));
      const value = Number(match[0]);
      return Number.isSafeInteger(value) ? value + 0 : BigInt(match[0]);
    }
    const word = WORDS.find(([name]) => this.text.startsWith(name, this.at));
    if (!word) this.fail('expecting a value');
    this.at += word[0].length;
    return word[1];
  }

  string(): string {
    const end = this.text.indexOf('"', this.at + 1);
    const plain = end < 0 ? '' : this.text.slice(this.at + 1, end);
    if (end >= 0 && !plain.includes('\\')) {
      this.at = end + 1;
      return plain;
    }
    let close = this.at + 1;
    for (; this.text[close] !== '"'; close++) {
      if (close >= this.text.length) this.fail('unterminated string');
      if (this.text[close] === '\\') close++;
    }
    const raw = this.text.slice(this.at, close + 1);
    this.at = close + 1;
    return JSON.parse(raw) as string;
  }

  list(): unknown[] {
    const items: unknown[] = [];
    this.at++;
    this.space();
    if (this.text[this.at] === ']') {
      this.at++;
      return items;
    }
    for (;;) {
      items.push(this.value());
      this.space();
      const char = this.text[this.at++];
      if (char === ']') return items;
      if (char !== ',') this.fail('expecting , or ]');
    }
  }

  object(): Map<string, unknown> {
    const map = new Map<string, unknown>();
    this.at++;
    this.space();
    if (this.text[this.at] === '}') {
      this.at++;
      return map;
    }
    for (;;) {
      this.space();
      if (this.text[this.at] !== '"') this.fail('expecting a key');
      const key = this.string();
      this.space();
      if (this.text[this.at++] !== ':') this.fail('expecting :');
      map.set(key, this.value());
      this.space();
      const char = this.text[this.at++];
      if (char === '}') return map;
      if (char !== ',') this.fail('expecting , or }');
    }
  }
}

/**
 * `json.loads`.
 * @throws PythonJsonError for anything that is no JSON.
 */
export function loads(text: string): unknown {
  const reader = new Reader(text);
  const value = reader.value();
  reader.space();
  if (reader.at < text.length) reader.fail('extra data');
  return value;
}

/** Nothing to escape. */
const PLAIN = /^[ !#-[\]-~]*$/;
const NON_ASCII = /[\u007f-\uffff]/g;
/** A JSON string with `ensure_ascii`: everything past `~` escaped. */
export function dumpString(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return JSON.stringify(text).replace(
    NON_ASCII,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const SURROGATE = /[\ud800-\udfff]/;

/** Order of Python strings: by code point, where JavaScript sorts by UTF-16 unit. */
export function byCodePoint(a: string, b: string): number {
  if (a === b) return 0;
  if (!SURROGATE.test(a) && !SURROGATE.test(b)) return a < b ? -1 : 1;
  const [x, y] = [Array.from(a), Array.from(b)];
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const difference = (x[i]!.codePointAt(0) as number) - (y[i]!.codePointAt(0) as number);
    if (difference !== 0) return difference;
  }
  return x.length - y.length;
}

/** Sorts keys as Python does; mutates the list. */
export const sortKeys = (keys: string[]): string[] =>
  keys.some((key) => SURROGATE.test(key)) ? keys.sort(byCodePoint) : keys.sort();

/** Something that brings its own JSON text, such as a table that keeps the text of unchanged rows. */
export interface Dumpable {
  dump(sorted: boolean): string;
}
const isDumpable = (value: object): value is Dumpable =>
  typeof (value as { dump?: unknown }).dump === 'function';

/**
 * `json.dumps(value)`, with `sort_keys` where asked: separators `, ` and `: `, ASCII only, floats by repr.
 * A model prints its fields in order.
 */
export function dumps(value: unknown, sorted = false): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'string') return dumpString(value);
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (value instanceof Float) return dumpFloat(value.value);
  if (Array.isArray(value)) return `[${value.map((item) => dumps(item, sorted)).join(', ')}]`;
  if (isDumpable(value as object)) return (value as Dumpable).dump(sorted);
  const isMap = value instanceof Map;
  const keys = isMap ? [...(value as Map<string, unknown>).keys()] : Object.keys(value as object);
  if (sorted) sortKeys(keys);
  const item = (key: string): unknown =>
    isMap ? (value as Map<string, unknown>).get(key) : (value as { readonly [key: string]: unknown })[key];
  return `{${keys.map((key) => `${dumpString(key)}: ${dumps(item(key), sorted)}`).join(', ')}}`;
}

const dumpFloat = (value: number): string => {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  return floatRepr(value);
};

/** Plain JSON values (from `JSON.parse`, or a model's arguments) as Python would hold them. */
export function fromPlain(value: unknown): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value + 0 : new Float(value);
  if (Array.isArray(value)) return value.map(fromPlain);
  if (value !== null && typeof value === 'object' && !(value instanceof Float) && !(value instanceof Map))
    return new Map(Object.entries(value).map(([key, item]) => [key, fromPlain(item)]));
  return value;
}

/** The other way: Maps as objects, floats as numbers. Key order of number-like keys is lost. */
export function toPlain(value: unknown): unknown {
  if (value instanceof Float) return value.value;
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(toPlain);
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, item]) => [key as string, toPlain(item)]));
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toPlain(item)]));
  return value;
}
