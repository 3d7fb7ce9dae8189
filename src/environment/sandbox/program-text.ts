import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createJiti } from 'jiti';
import { MAX_SOURCE_BYTES } from '../load-generated.js';

const known = new Map<string, string>();

/**
 * Text of a module of this folder as a CommonJS script. Such modules run in another process or realm, where nothing
 * of this package can be imported: they import Node's own modules and types alone.
 */
export function programText(name: 'guest' | 'node-driver' | 'quickjs-driver' | 'keeper'): string {
  const cached = known.get(name);
  if (cached !== undefined) return cached;
  const files = [`./${name}.js`, `./${name}.ts`].map((file) => fileURLToPath(new URL(file, import.meta.url)));
  const file = files.find((path) => existsSync(path));
  if (!file) throw new Error(`${files[0]} is missing: reinstall trace-agents`);
  const text = transpile(readFileSync(file, 'utf8'), file);
  known.set(name, text);
  return text;
}

/** The guest as an expression whose value is what `startGuest` returns. */
export const guestText = (): string =>
  `(function () { const exports = {};\n${programText('guest')}\nreturn exports.startGuest(); })()`;

/**
 * A generated module without its types, as a script that sets `module.exports`. Nothing of it is executed.
 * @throws Error naming the file: too large, not TypeScript, or with a dynamic import.
 */
export function generatedScript(source: string, file: string): string {
  if (Buffer.byteLength(source) > MAX_SOURCE_BYTES)
    throw new Error(`${file} is larger than ${MAX_SOURCE_BYTES} bytes; a capability environment is small`);
  let script: string;
  try {
    script = transpile(source, file);
  } catch (error) {
    throw new Error(`${file} is not valid TypeScript: ${(error as Error).message}`);
  }
  if (/\bimport\s*\(|\bjitiImport\s*\(/.test(script))
    throw new Error(
      `${file} imports dynamically: a generated environment may import types only (import type …)`,
    );
  return script;
}

const transpile = (source: string, filename: string): string =>
  createJiti(import.meta.url, { fsCache: false }).transform({ source, filename, ts: true });
