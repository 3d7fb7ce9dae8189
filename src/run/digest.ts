import { createHash, type Hash } from 'node:crypto';
import { closeSync, existsSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';

/** JSON whose objects have their keys in code-unit order, so that equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner,
  );
}

/** SHA-256 (hex) of a JSON value; key order does not matter. */
export function digestJson(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

/** SHA-256 (hex) of a file's bytes, read in pieces. @throws the file system's own error. */
export function digestFile(path: string): string {
  const hash = createHash('sha256');
  updateFromFile(hash, path);
  return hash.digest('hex');
}

/**
 * Files of a run that differ between two equal runs: the journal and the lock (they hold times and process ids)
 * and `timings.json`. Everything else has the same bytes for the same configuration, seed and machine.
 */
export function isCompared(name: string): boolean {
  return !/^(journal\.sqlite.*|lock\.(sqlite.*|json)|timings\.json|.*\.\d+\.tmp)$/.test(name);
}

/** Paths of the compared files under a folder, relative, sorted; empty when there is no such folder. */
export function comparedFiles(folder: string): string[] {
  const found: string[] = [];
  const walk = (relative: string): void => {
    const path = join(folder, relative);
    if (!existsSync(path)) return;
    if (!lstatSync(path).isDirectory()) {
      found.push(relative);
      return;
    }
    for (const name of readdirSync(path)) {
      if (isCompared(name)) walk(relative === '' ? name : `${relative}/${name}`);
    }
  };
  walk('');
  return found.sort();
}

/** SHA-256 (hex) over names and bytes of the compared files of a file or folder; null when it does not exist. */
export function digestTree(path: string): string | null {
  if (!existsSync(path)) return null;
  const hash = createHash('sha256');
  for (const name of comparedFiles(path)) {
    hash.update(`\0${name}\0`);
    updateFromFile(hash, name === '' ? path : join(path, name));
  }
  return hash.digest('hex');
}

function updateFromFile(hash: Hash, path: string): void {
  const buffer = Buffer.allocUnsafe(1 << 20);
  const descriptor = openSync(path, 'r');
  try {
    for (let n = readSync(descriptor, buffer); n > 0; n = readSync(descriptor, buffer)) {
      hash.update(buffer.subarray(0, n));
    }
  } finally {
    closeSync(descriptor);
  }
}
