import type { Dict } from './python/value.js';
import { Float } from './python/value.js';

/** A TOML file that cannot be read, with its line. */
export class TomlError extends Error {
  override readonly name = 'TomlError';
}

const KEY = /^\s*([A-Za-z0-9_-]+|"[^"]*")\s*(?:\.|$)/;

/**
 * Reads the part of TOML that the benchmark's databases use: tables, arrays of tables, bare and quoted keys,
 * strings on one line, numbers, booleans and arrays on one line. `1.0` becomes a float, `1` an int.
 * @throws TomlError with the line for anything else.
 */
export function parseToml(text: string): Dict {
  const root: Dict = new Map();
  let table = root;
  for (const [i, raw] of text.split(/\r?\n/).entries()) {
    const line = stripComment(raw).trim();
    if (line === '') continue;
    const fail = (what: string): never => {
      throw new TomlError(`line ${i + 1}: ${what}: ${raw.trim()}`);
    };
    const header = /^\[(\[?)([^[\]]+)\]?\]$/.exec(line);
    if (header) {
      table = openTable(root, keysOf(header[2] as string, fail), header[1] === '[', fail);
      continue;
    }
    const pair = /^([A-Za-z0-9_-]+|"[^"]*")\s*=\s*(.+)$/.exec(line) ?? fail('neither a table nor a value');
    const key = unquote(pair[1] as string);
    if (table.has(key)) fail(`${key} is set twice`);
    table.set(key, parseValue(pair[2] as string, fail));
  }
  return root;
}

type Fail = (what: string) => never;

/** Drops a comment, unless its mark stands inside a string. */
function stripComment(line: string): string {
  let quoted = false;
  for (let i = 0; i < line.length; i++) {
    if (line[i] === '\\' && quoted) i++;
    else if (line[i] === '"') quoted = !quoted;
    else if (line[i] === '#' && !quoted) return line.slice(0, i);
  }
  return line;
}

const unquote = (key: string): string => (key.startsWith('"') ? key.slice(1, -1) : key);

function keysOf(path: string, fail: Fail): string[] {
  const keys: string[] = [];
  for (let rest = path; rest !== ''; ) {
    const match = KEY.exec(rest) ?? fail('a table name that cannot be read');
    keys.push(unquote(match[1] as string));
    rest = rest.slice(match[0].length);
  }
  return keys;
}

/** The table of a header; names before the last pass through the newest element of an array of tables. */
function openTable(root: Dict, keys: readonly string[], isArray: boolean, fail: Fail): Dict {
  let table = root;
  for (const [i, key] of keys.entries()) {
    const last = i === keys.length - 1;
    let next = table.get(key);
    if (last && isArray) {
      if (next === undefined) {
        next = [];
        table.set(key, next);
      }
      if (!Array.isArray(next)) fail(`${key} is no array of tables`);
      const element: Dict = new Map();
      (next as unknown[]).push(element);
      return element;
    }
    if (next === undefined) {
      next = new Map();
      table.set(key, next);
    }
    if (Array.isArray(next)) next = next.at(-1);
    if (!(next instanceof Map)) fail(`${key} is no table`);
    table = next as Dict;
  }
  return table;
}

function parseValue(text: string, fail: Fail): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^[+-]?\d[\d_]*$/.test(text)) return Number(text.replaceAll('_', ''));
  if (/^[+-]?\d[\d_]*(\.\d[\d_]*)?([eE][+-]?\d+)?$/.test(text))
    return new Float(Number(text.replaceAll('_', '')));
  if (/^"(?:[^"\\]|\\.)*"$/.test(text)) return JSON.parse(text) as string;
  if (/^'[^']*'$/.test(text)) return text.slice(1, -1);
  // A date or time keeps its text; the models read it.
  if (/^\d{4}-\d{2}-\d{2}([T ][\d:.]+)?$/.test(text)) return text;
  if (text.startsWith('[') && text.endsWith(']'))
    return splitItems(text.slice(1, -1)).map((item) => parseValue(item, fail));
  return fail('a value that cannot be read');
}

/** The items of an array on one line; commas inside strings and inner arrays do not part. */
function splitItems(text: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let quoted = false;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (quoted && char === '\\') i++;
    else if (char === '"') quoted = !quoted;
    else if (!quoted && char === '[') depth++;
    else if (!quoted && char === ']') depth--;
    else if (!quoted && depth === 0 && char === ',') {
      items.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  return [...items, text.slice(start).trim()].filter((item) => item !== '');
}
