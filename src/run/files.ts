import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Writes a file whole: temporary name in the same folder, fsync, rename. A reader sees the old content or the
 * new one, never a part, whatever kills the process.
 * @throws the file system's own error (ENOSPC, EACCES, EROFS …); the temporary file is removed first.
 */
export function writeFileWhole(path: string, data: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const descriptor = openSync(temporary, 'w');
    try {
      const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
      let offset = 0;
      while (offset < bytes.byteLength) offset += writeSync(descriptor, bytes, offset);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** `writeFileWhole` of readable JSON: two spaces, keys in the order given, newline at the end. */
export function writeJsonWhole(path: string, value: unknown): void {
  writeFileWhole(path, `${JSON.stringify(value, null, 2)}\n`);
}
