import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createJiti } from 'jiti';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { InputError } from '../run/errors.js';
import { packageRoot } from '../run/package-root.js';
import { configSchema, type TraceConfig } from './schema.js';

/** Names of a configuration file; a project has exactly one of them. */
export const CONFIG_NAMES = [
  'trace.config.ts',
  'trace.config.js',
  'trace.config.mjs',
  'trace.config.yaml',
  'trace.config.yml',
  'trace.config.json',
] as const;

export interface LoadedConfig {
  /** The project's folder, absolute. */
  readonly project: string;
  /** The configuration file, absolute. */
  readonly file: string;
  readonly config: TraceConfig;
}

/** The configuration file of a folder, or null. @throws InputError when there are several. */
export function findConfig(folder: string): string | null {
  const found = CONFIG_NAMES.filter((name) => existsSync(join(folder, name)));
  if (found.length > 1) {
    throw new InputError(`${folder} has several configurations: ${found.join(', ')}`, 'Keep one of them.');
  }
  return found[0] === undefined ? null : join(folder, found[0]);
}

/**
 * Reads a project's configuration: `trace.config.{ts,js,mjs,yaml,yml,json}`.
 * @param place the project's folder, or its configuration file.
 * @throws InputError naming the file, the line or field, and the mend.
 */
export async function loadConfig(place: string): Promise<LoadedConfig> {
  const path = resolve(place);
  if (!existsSync(path)) throw new InputError(`${place}: there is no such folder or file`);
  const file = statSync(path).isDirectory() ? findConfig(path) : path;
  if (file === null) {
    throw new InputError(
      `${place} has no trace.config.ts (nor .js, .mjs, .yaml, .yml, .json)`,
      'Name a project folder, or make one: `trace init FOLDER`.',
    );
  }
  return { project: dirname(file), file, config: parseConfig(await readRaw(file), basename(file)) };
}

/**
 * Checks a configuration.
 * @param file how errors name the file.
 * @throws InputError naming every wrong field.
 */
export function parseConfig(raw: unknown, file: string): TraceConfig {
  const parsed = configSchema.safeParse(raw ?? {});
  if (!parsed.success) {
    throw new InputError(
      parsed.error.issues.map((issue) => `${file}: ${describe(issue)}`).join('\n'),
      'docs/configuration.md lists every field with its default.',
    );
  }
  return parsed.data;
}

async function readRaw(file: string): Promise<unknown> {
  const name = basename(file);
  switch (extname(file)) {
    case '.json':
    case '.yaml':
    case '.yml': {
      // JSON is YAML, and the YAML reader names line and column.
      const document = parseDocument(readFileSync(file, 'utf8'));
      const error = document.errors[0];
      if (error) {
        const line = error.linePos?.[0].line;
        throw new InputError(
          `${name}${line === undefined ? '' : `:${line}`}: ${error.message.split('\n')[0]}`,
        );
      }
      return document.toJS();
    }
    case '.ts':
    case '.js':
    case '.mjs':
      return importDefault(file);
    default:
      throw new InputError(`${name} is no configuration file`, `The names are ${CONFIG_NAMES.join(', ')}.`);
  }
}

/**
 * The default export of a project's module, TypeScript or JavaScript. The module may import this package by its
 * name wherever the project lies.
 * @throws InputError when it cannot be read, throws, or has no default export.
 */
export async function importDefault(file: string): Promise<unknown> {
  const root = packageRoot();
  // Run from sources (tests, development) the package's name means the sources, so that there is one copy of it.
  const entry = import.meta.url.endsWith('.ts') ? 'src/index.ts' : 'dist/index.js';
  const jiti = createJiti(pathToFileURL(file).href, {
    alias: { 'trace-agents': join(root, entry) },
    moduleCache: false,
    fsCache: false,
    interopDefault: false,
  });
  let module: unknown;
  try {
    module = await jiti.import(file);
  } catch (error) {
    throw new InputError(`${file}: ${error instanceof Error ? error.message : String(error)}`, undefined, {
      cause: error,
    });
  }
  const value = defaultOf(module);
  if (value === undefined) {
    throw new InputError(`${file} has no default export`, 'Write `export default …`.');
  }
  return value;
}

/** `export default` of an ES module; of a CommonJS module what it exports. */
function defaultOf(module: unknown): unknown {
  const exports = module as { default?: unknown; __esModule?: boolean; [Symbol.toStringTag]?: string };
  if (exports === null || typeof exports !== 'object') return exports;
  const isEsModule = exports.__esModule === true || exports[Symbol.toStringTag] === 'Module';
  return isEsModule || exports.default !== undefined ? exports.default : exports;
}

function describe(given: z.core.$ZodIssue): string {
  const issue = nearestBranch(given);
  const field = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .map((key) => {
        const full = field === '' ? key : `${field}.${key}`;
        const near = nearest(key, fieldsAt(issue.path));
        if (issue.path[0] === 'analyst' && /key|token|secret|password/i.test(key))
          return `${full}: keys stand in no file; name the environment variable that holds it by apiKeyEnv`;
        return `${full}: there is no such field${near === null ? '' : `; did you mean ${near}?`}`;
      })
      .join('; ');
  }
  if (issue.code === 'invalid_union' && 'note' in issue && issue.note !== undefined)
    return `${field}: there is no such analyst; there are offline, handoff and llm`;
  return `${field === '' ? 'the configuration' : field}: ${issue.message}`;
}

/** Of a choice between a name and settings, what is wrong with the settings, where settings were given. */
function nearestBranch(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue;
  const settings = issue.errors
    .flat()
    .find((inner) => inner.path.length > 0 || inner.code === 'unrecognized_keys');
  if (settings) return { ...settings, path: [...issue.path, ...settings.path] } as z.core.$ZodIssue;
  const [first] = issue.errors.flat();
  return first ? ({ ...first, path: issue.path } as z.core.$ZodIssue) : issue;
}

/** Names of the fields of a section; of the whole configuration for the empty path. */
function fieldsAt(path: readonly PropertyKey[]): string[] {
  return configFields()
    .filter((field) => field.startsWith(path.map((key) => `${String(key)}.`).join('')))
    .map((field) => field.split('.')[path.length]!);
}

/** Every field of the configuration by its path, such as `train.rank`. */
export function configFields(): string[] {
  const schema = z.toJSONSchema(configSchema, { io: 'input' }) as Shape;
  const walk = (shape: Shape, prefix: string): string[] =>
    Object.entries(shape.properties ?? {}).flatMap(([name, inner]) =>
      inner.properties ? walk(inner, `${prefix}${name}.`) : [`${prefix}${name}`],
    );
  return walk(schema, '');
}

interface Shape {
  readonly properties?: { readonly [name: string]: Shape };
}

/** The candidate with the smallest edit distance, when it is near enough to be a slip. */
function nearest(word: string, candidates: readonly string[]): string | null {
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best && best.distance <= Math.max(2, word.length / 3) ? best.candidate : null;
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length]!;
}
