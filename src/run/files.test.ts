import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeFileWhole, writeJsonWhole } from './files.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-files-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('replaces a file and leaves nothing beside it', () => {
  const path = join(folder, 'deep', 'a.json');
  writeJsonWhole(path, { a: 1 });
  writeFileWhole(path, 'new');
  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(readdirSync(join(folder, 'deep'))).toEqual(['a.json']);
});

test('a failed write keeps the old content', () => {
  const path = join(folder, 'kept');
  writeFileSync(path, 'old');
  // A folder of the temporary name makes the open fail, as a full or read-only disk would.
  expect(() => writeFileWhole(join(path, 'child'), 'x')).toThrow();
  expect(readFileSync(path, 'utf8')).toBe('old');
  expect(readdirSync(folder)).toEqual(['kept']);
});
