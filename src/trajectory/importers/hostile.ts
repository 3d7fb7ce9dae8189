import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { JsonShapeError } from '../json-pieces.js';
import { parseTrajectory } from '../parse.js';
import { InvalidRecordError } from '../store.js';
import type { Importer } from './importer.js';
import { readSample, UnknownFormatError } from './sample.js';

/** What an importer is tried with. For tests only: the package does not carry this file. */
export interface HostileOptions {
  /** Records as the format really has them; they are spoiled in every way. */
  readonly real: readonly unknown[];
  /** How records become a file, with `print` for JSON; the default makes JSONL and JSON lists. */
  readonly write?: (records: readonly unknown[], print: (value: unknown) => string) => string;
  /** Name of the file, where importers look at it. */
  readonly file?: string;
  /** Inputs tried of each kind (60). */
  readonly runs?: number;
}

/** Stands for lists within objects, `depth` levels of them: only their text is ever made, never the value. */
const nested = (depth: number) => `(nested ${depth})`;

/** A value that breaks careless readers. */
const nasty: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>,
  fc.constantFrom<unknown>(null, true, 0, -1, 1e308, '', ' ', [], {}, [[]], [null], '\u0000', '\ud800'),
  fc.constantFrom('NaN', '1e999', '{"a":', '[]', '{"__proto__":{"x":1}}', 'null', '9007199254740993'),
  fc.constant(undefined),
  fc.constantFrom(1_000, 20_000).map(nested),
  fc.constant(
    JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1, "toString": null, "length": 1e9}'),
  ),
);

/** JSON of a value, nested places written out. */
function print(value: unknown): string {
  return JSON.stringify(value ?? null).replace(/"\(nested (\d+)\)"/g, (_, levels: string) => {
    const pairs = Number(levels) / 2;
    return `${'[{"a":'.repeat(pairs)}1${'}]'.repeat(pairs)}`;
  });
}

/** Places in a value, as paths of keys. */
function paths(value: unknown, here: readonly string[] = [], found: (readonly string[])[] = []) {
  found.push(here);
  if (typeof value === 'object' && value !== null)
    for (const [key, member] of Object.entries(value)) paths(member, [...here, key], found);
  return found;
}

/** A copy with the value at a path replaced; `undefined` removes it. */
function replaced(value: unknown, path: readonly string[], by: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return by;
  if (Array.isArray(value)) {
    const list = value.map((member, i) => (String(i) === key ? replaced(member, rest, by) : member));
    return list.filter((member) => member !== undefined);
  }
  const entries = Object.entries(value as object).map(([name, member]): [string, unknown] => [
    name,
    name === key ? replaced(member, rest, by) : member,
  ]);
  return Object.fromEntries(entries.filter(([, member]) => member !== undefined));
}

/** A real record spoiled in one to three places. */
function spoiled(real: readonly unknown[]): fc.Arbitrary<unknown> {
  const places = real.map((record) => paths(record));
  const spoil = fc.tuple(fc.nat(), nasty);
  return fc
    .tuple(fc.nat(real.length - 1), fc.array(spoil, { minLength: 1, maxLength: 3 }))
    .map(([which, spoils]) => {
      let record = real[which];
      for (const [at, by] of spoils) {
        const all = record === real[which] ? places[which]! : paths(real[which]);
        const path = all[at % all.length]!;
        // A place that an earlier spoil took away stays as it is.
        if (exists(record, path)) record = replaced(record, path, by);
      }
      return record === undefined ? null : record;
    });
}

function exists(value: unknown, path: readonly string[]): boolean {
  let here = value;
  for (const key of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return false;
    here = (here as { [key: string]: unknown })[key];
  }
  return true;
}

/** Reads a file with an importer and complains about anything that is neither a trajectory nor a named refusal. */
async function tryFile(importer: Importer, path: string): Promise<void> {
  try {
    importer.matches(await readSample(path));
  } catch (error) {
    if (!(error instanceof UnknownFormatError)) throw error;
  }
  for (const skip of [false, true]) {
    const onInvalid = (error: InvalidRecordError) => complainUnlessNamed(error);
    try {
      for await (const trajectory of importer.read(path, skip ? { onInvalid } : {}))
        parseTrajectory(JSON.parse(JSON.stringify(trajectory)));
    } catch (error) {
      complainUnlessNamed(error);
    }
  }
  if (({} as { polluted?: unknown }).polluted !== undefined) throw new Error('the prototype was polluted');
}

function complainUnlessNamed(error: unknown): void {
  if (error instanceof InvalidRecordError) {
    if (error.file === '' || !(error.record >= 1) || error.reason.trim() === '')
      throw new Error(`a refusal without file, record or reason: ${error.message}`);
  } else if (!(error instanceof JsonShapeError || error instanceof UnknownFormatError)) throw error;
}

/**
 * Tries an importer with arbitrary JSON, real records spoiled at random places (wrong types, missing and additional
 * members, `__proto__` keys, nesting of 20,000 levels), and files cut at any byte. It may give valid trajectories or
 * refuse with InvalidRecordError (naming file, record and reason), JsonShapeError or UnknownFormatError.
 * @throws what the importer throws besides, with fast-check's counterexample.
 */
export async function surviveHostileInput(importer: Importer, options: HostileOptions): Promise<void> {
  const { real, runs = 60, file = 'hostile.json' } = options;
  const folder = mkdtempSync(join(tmpdir(), 'trace-hostile-'));
  const path = join(folder, file);
  const { write: own } = options;
  const forms = own
    ? [(records: readonly unknown[]) => own(records, print)]
    : [
        (records: readonly unknown[]) => records.map(print).join('\n'),
        (records: readonly unknown[]) => `[${records.map(print).join(',')}]`,
      ];
  const attempt = async (text: string | Buffer) => {
    writeFileSync(path, text);
    await tryFile(importer, path);
  };
  const form = fc.constantFrom(...forms);
  try {
    const arbitrary = fc.asyncProperty(fc.array(nasty, { maxLength: 3 }), form, (records, write) =>
      attempt(write(records.map((record) => (record === undefined ? null : record)))),
    );
    await fc.assert(arbitrary, { numRuns: runs });
    const spoiling = fc.asyncProperty(
      fc.array(spoiled(real), { minLength: 1, maxLength: 3 }),
      form,
      (records, write) => attempt(write(records)),
    );
    await fc.assert(spoiling, { numRuns: runs * 3 });
    const cutting = fc.asyncProperty(
      form,
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (write, share) => {
        const whole = Buffer.from(write(real));
        await attempt(whole.subarray(0, Math.floor(whole.length * share)));
      },
    );
    await fc.assert(cutting, { numRuns: runs });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
