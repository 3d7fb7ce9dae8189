import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, expect } from 'vitest';
import type { Importer, ImporterOptions } from '../../src/trajectory/importers/importer.js';
import { parseTrajectory } from '../../src/trajectory/parse.js';
import type { InvalidRecordError } from '../../src/trajectory/store.js';
import type { Trajectory } from '../../src/trajectory/trajectory.js';

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A folder of files, removed after the test file; texts and bytes as they are, anything else as JSON. */
export function folderOf(files: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'trace-importer-'));
  made.push(folder);
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    const raw = typeof content === 'string' || content instanceof Uint8Array;
    writeFileSync(path, raw ? content : JSON.stringify(content));
  }
  return folder;
}

/** One file in a folder of its own. */
export function fileOf(name: string, content: unknown): string {
  return join(folderOf({ [name]: content }), name);
}

/** All trajectories, each checked against the canonical format. */
export async function readAll(
  importer: Importer,
  path: string,
  options: ImporterOptions = {},
): Promise<Trajectory[]> {
  const all: Trajectory[] = [];
  for await (const trajectory of importer.read(path, options)) {
    expect(parseTrajectory(JSON.parse(JSON.stringify(trajectory)))).toEqual(trajectory);
    all.push(trajectory);
  }
  return all;
}

/** The only trajectory of a source. */
export async function readOne(
  importer: Importer,
  path: string,
  options: ImporterOptions = {},
): Promise<Trajectory> {
  const all = await readAll(importer, path, options);
  expect(all).toHaveLength(1);
  return all[0]!;
}

/** Reads on past what is refused. */
export async function readPast(importer: Importer, path: string, options: ImporterOptions = {}) {
  const refused: string[] = [];
  const onInvalid = (error: InvalidRecordError) => refused.push(error.message);
  const read = await readAll(importer, path, { ...options, onInvalid });
  return { read, refused };
}

/** A file of the optional test data; null where it is absent. */
export function testData(name: string): string | null {
  const folder = process.env.TRACE_TEST_DATA ?? resolve(import.meta.dirname, '../../../shared/data');
  const path = join(folder, name);
  return existsSync(path) ? path : null;
}
