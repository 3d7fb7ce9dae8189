import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { canonicalJson, comparedFiles, digestFile, digestTree } from './digest.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-digest-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('canonical JSON does not depend on the order of keys, but on that of lists', () => {
  expect(canonicalJson({ b: 1, a: { d: [2, 1], c: null } })).toBe('{"a":{"c":null,"d":[2,1]},"b":1}');
  expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
});

test('digestFile is SHA-256, over more than one piece', () => {
  const path = join(folder, 'large');
  const bytes = Buffer.alloc(2_500_000, 'abcdefg');
  writeFileSync(path, bytes);
  expect(digestFile(path)).toBe(createHash('sha256').update(bytes).digest('hex'));
});

test('a tree changes with names and contents, not with times, locks or leftovers', () => {
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  mkdirSync(join(folder, 'deep'));
  write('deep/a', '1');
  write('b', '2');
  const before = digestTree(folder);
  for (const name of [
    'journal.sqlite',
    'journal.sqlite-journal',
    'lock.json',
    'lock.sqlite',
    'timings.json',
    'x.12.tmp',
  ]) {
    write(name, 'noise');
  }
  expect(comparedFiles(folder)).toEqual(['b', 'deep/a']);
  expect(digestTree(folder)).toBe(before);
  write('b', '3');
  const changed = digestTree(folder);
  expect(changed).not.toBe(before);
  rmSync(join(folder, 'b'));
  write('c', '3');
  expect(digestTree(folder)).not.toBe(changed);
  expect(digestTree(join(folder, 'nowhere'))).toBeNull();
});
