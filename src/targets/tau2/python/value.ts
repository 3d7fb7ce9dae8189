/**
 * Python's values as the benchmark's tools see them, so that hashes and outputs come out equal:
 * `int` is a number (a bigint past 2^53), `float` is `Float` (98.0 prints `98.0`, never `98`), `dict` is a Map
 * (objects would reorder keys that look like numbers), a pydantic model is a plain object whose keys stand in
 * field order.
 */

/** A Python float. Immutable. */
export class Float {
  constructor(readonly value: number) {}
}

/** A Python dict with string keys, in insertion order. */
export type Dict = Map<string, unknown>;

/** Named arguments of a call, as JSON gave them. */
export type Args = ReadonlyMap<string, unknown>;

/** An exception raised inside a tool; the message is `str(e)` of the benchmark's. */
export class PythonError extends Error {
  constructor(
    readonly type: string,
    message: string,
  ) {
    super(message);
    this.name = 'PythonError';
  }
}

export const valueError = (message: string): PythonError => new PythonError('ValueError', message);
export const typeError = (message: string): PythonError => new PythonError('TypeError', message);
export const attributeError = (type: string, name: string): PythonError =>
  new PythonError('AttributeError', `'${type}' object has no attribute '${name}'`);
/** `str(KeyError(key))` is the key's repr. */
export const keyError = (key: unknown): PythonError => new PythonError('KeyError', repr(key));

export const isDict = (value: unknown): value is Dict => value instanceof Map;
export const isInt = (value: unknown): value is number | bigint =>
  typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));

/** `type(value).__name__`. A model carries no name here and counts as `object`. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'NoneType';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'str';
  if (value instanceof Float) return 'float';
  if (typeof value === 'number' || typeof value === 'bigint') return 'int';
  if (Array.isArray(value)) return 'list';
  if (isDict(value)) return 'dict';
  return 'object';
}

/** `repr` of a float: shortest digits, exponent from 1e+16 and below 1e-04. */
export function floatRepr(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  if (value === 0) return '0.0';
  const sign = value < 0 ? '-' : '';
  // d.ddde±x has the same shortest digits in both languages.
  const [mantissa, exponentText] = Math.abs(value).toExponential().split('e') as [string, string];
  const exponent = Number(exponentText);
  const digits = mantissa.replace('.', '');
  if (exponent >= 16 || exponent < -4) {
    const size = Math.abs(exponent).toString().padStart(2, '0');
    return `${sign}${mantissa}e${exponent < 0 ? '-' : '+'}${size}`;
  }
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`;
}

/** `repr` of a string: single quotes unless it holds one and no double quote; control characters escaped. */
function stringRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let body = '';
  for (const char of text) {
    const code = char.codePointAt(0) as number;
    if (char === '\\' || char === quote) body += `\\${char}`;
    else if (char === '\n') body += '\\n';
    else if (char === '\r') body += '\\r';
    else if (char === '\t') body += '\\t';
    else if (code < 32 || code === 127) body += `\\x${code.toString(16).padStart(2, '0')}`;
    else body += char;
  }
  return quote + body + quote;
}

/** `repr(value)`. */
export function repr(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return stringRepr(value);
  if (value instanceof Float) return floatRepr(value.value);
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(repr).join(', ')}]`;
  const entries = isDict(value) ? [...value] : Object.entries(value as object);
  return `{${entries.map(([key, item]) => `${repr(key)}: ${repr(item)}`).join(', ')}}`;
}

/** `str(value)`, as f-strings print it. */
export const str = (value: unknown): string => (typeof value === 'string' ? value : repr(value));

/** Value of an int, float or bool; null for anything else. */
export function numeric(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (value instanceof Float) return value.value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'bigint' ? Number(value) : null;
}

/** Python's `==`: 1 == 1.0 == True; containers by content. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  const x = numeric(a);
  const y = numeric(b);
  if (x !== null || y !== null) return x !== null && y !== null && x === y;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => equal(item, b[i]));
  if (isDict(a) && isDict(b))
    return a.size === b.size && [...a].every(([key, item]) => b.has(key) && equal(item, b.get(key)));
  return (a ?? null) === (b ?? null);
}

/** `bool(value)`. */
export function truthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isDict(value)) return value.size > 0;
  const number = numeric(value);
  return number !== null ? number !== 0 : Boolean(value);
}

/** A key as dict look-ups take it: lists and dicts raise, whatever is no string matches no key. */
export function hashable(key: unknown): string | null {
  if (Array.isArray(key) || isDict(key)) throw typeError(`unhashable type: '${typeName(key)}'`);
  return typeof key === 'string' ? key : null;
}

/** Iterates as Python would: lists, characters of a string, keys of a dict. */
export function iterate(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return [...value];
  if (isDict(value)) return [...value.keys()];
  throw typeError(`'${typeName(value)}' object is not iterable`);
}

/** `len(value)`. */
export function len(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  if (typeof value === 'string') return [...value].length;
  if (isDict(value)) return value.size;
  throw typeError(`object of type '${typeName(value)}' has no len()`);
}

/** A method that only strings have, such as `lower`. */
export function asString(value: unknown, method: string): string {
  if (typeof value !== 'string') throw attributeError(typeName(value), method);
  return value;
}

/** A deep copy of models, dicts and lists. */
export function deepCopy<T>(value: T): T {
  if (value === null || typeof value !== 'object' || value instanceof Float) return value;
  if (Array.isArray(value)) return value.map((item) => deepCopy(item)) as T;
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, deepCopy(item)])) as T;
  const copy: { [key: string]: unknown } = {};
  for (const key of Object.keys(value)) copy[key] = deepCopy((value as { [key: string]: unknown })[key]);
  return copy as T;
}
