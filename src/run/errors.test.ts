import { expect, test } from 'vitest';
import { explainError, InputError, TraceError } from './errors.js';

const systemError = (code: string, path?: string) =>
  Object.assign(new Error(`${code}: low-level words, write`), { code, ...(path ? { path } : {}) });

test('a full disk and a read-only folder name the file and the mend', () => {
  const full = explainError(systemError('ENOSPC', '/data/run/report.html.4711.tmp'));
  expect(full).toBeInstanceOf(TraceError);
  expect(full.message).toBe('/data/run/report.html: the disk is full (ENOSPC)');
  expect((full as TraceError).mend).toMatch(/Free some space.*is kept/);
  expect((full as TraceError).exitCode).toBe(1);
  expect(explainError(systemError('EROFS', '/data')).message).toContain('read-only');
  expect(explainError(systemError('SQLITE_FULL')).message).toContain('the journal: the disk is full');
});

test('errors that say what they mean stay, whatever else is thrown becomes an error', () => {
  const input = new InputError('trace.config.ts: seed', 'Mend it.');
  expect(explainError(input)).toBe(input);
  const bug = new TypeError('x is undefined');
  expect(explainError(bug)).toBe(bug);
  expect(explainError('plain text').message).toBe('plain text');
});
