import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, Script } from 'node:vm';
import { createJiti } from 'jiti';
import type { CapabilityEnvironment } from './contract.js';

/** A generated environment larger than this is refused unread. */
export const MAX_SOURCE_BYTES = 512 * 1024;
/** Most time the module's top level may take. */
const LOAD_TIMEOUT_MS = 60_000;

/** Settings of a generated environment: flat, so that a person can edit them. */
export type GeneratedSettings = { readonly [key: string]: number | string | boolean };

/**
 * Loads `environment.ts` of a generated environment with `settings.json` beside it. The module is self-contained:
 * it may import types and nothing else, and has neither `require`, `process`, clock nor `Math.random`. Its default
 * export is the environment, or a function from the settings to it.
 *
 * This keeps honest code honest: it is no sandbox against hostile code. Look at a module from elsewhere before
 * loading it.
 *
 * @throws Error naming the file and what is wrong with it.
 */
export async function loadCapabilityEnvironment(folder: string): Promise<CapabilityEnvironment> {
  const { source, settings, file } = readGenerated(folder);
  return instantiateEnvironment(source, settings, file);
}

/** The texts of a generated environment, unlooked at. @throws Error naming the file that cannot be read. */
export function readGenerated(folder: string): {
  readonly source: string;
  readonly settings: GeneratedSettings;
  readonly file: string;
} {
  const file = join(folder, 'environment.ts');
  const settingsFile = join(folder, 'settings.json');
  let source: string;
  try {
    source = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`${file} cannot be read (${(error as Error).message}): run trace synthesize to write it`);
  }
  if (!existsSync(settingsFile)) return { source, settings: {}, file };
  try {
    return { source, settings: JSON.parse(readFileSync(settingsFile, 'utf8')) as GeneratedSettings, file };
  } catch (error) {
    throw new Error(`${settingsFile} is not valid JSON: ${(error as Error).message}`);
  }
}

/** `loadCapabilityEnvironment` from text: every call makes a fresh module that shares nothing with another. */
export function instantiateEnvironment(
  source: string,
  settings: GeneratedSettings,
  file = 'environment.ts',
): CapabilityEnvironment {
  if (Buffer.byteLength(source) > MAX_SOURCE_BYTES)
    throw new Error(`${file} is larger than ${MAX_SOURCE_BYTES} bytes; a capability environment is small`);
  let script: string;
  try {
    script = createJiti(import.meta.url, { fsCache: false }).transform({ source, filename: file, ts: true });
  } catch (error) {
    throw new Error(`${file} is not valid TypeScript: ${(error as Error).message}`);
  }
  const refuse = (name: unknown) => {
    throw new Error(
      `${file} imports ${JSON.stringify(name)}: a generated environment may import types only (import type …)`,
    );
  };
  if (/\bimport\s*\(|\bjitiImport\s*\(/.test(script)) refuse('(dynamic import)');
  const module: { exports: Record<string, unknown> } = { exports: {} };
  const context = createContext(
    { module, exports: module.exports, require: refuse, settingsText: JSON.stringify(settings) },
    { codeGeneration: { strings: false, wasm: false } },
  );
  const run = (code: string) =>
    new Script(code, { filename: file }).runInContext(context, { timeout: LOAD_TIMEOUT_MS });
  run('delete globalThis.Date; delete globalThis.WebAssembly; delete Math.random; void 0;');
  try {
    run(script);
    const made: unknown = module.exports.default;
    const environment =
      typeof made === 'function' ? run('module.exports.default(JSON.parse(settingsText))') : made;
    return checked(environment, file);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith(file)) throw error;
    throw new Error(`${file} cannot be loaded: ${(error as Error).message ?? String(error)}`);
  }
}

/** The parts of the contract that a caller relies on. */
function checked(value: unknown, file: string): CapabilityEnvironment {
  const environment = value as CapabilityEnvironment | undefined;
  const missing = [
    ...(['systemPrompt', 'scenario', 'open', 'oracle', 'mistakes'] as const).filter(
      (name) => typeof environment?.[name] !== 'function',
    ),
    ...(['name', 'capability', 'rationale'] as const).filter(
      (name) => typeof environment?.[name] !== 'string',
    ),
    ...(Array.isArray(environment?.tools) ? [] : ['tools']),
    ...(typeof environment?.maxTurns === 'number' ? [] : ['maxTurns']),
    ...(typeof environment?.toolKinds === 'object' ? [] : ['toolKinds']),
  ];
  if (!environment || missing.length > 0)
    throw new Error(
      `${file} does not export a capability environment by default: ${missing.join(', ')} missing or of a wrong type`,
    );
  return environment;
}
