import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { processStartTime, RunLock, readLockHolder } from './lock.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Another process that holds the lock until it is killed. */
async function holdElsewhere(): Promise<ChildProcess> {
  const code = `
    import { RunLock } from ${JSON.stringify(join(import.meta.dirname, 'lock.ts'))};
    globalThis.lock = RunLock.acquire(process.argv[1]);
    process.stdout.write('held');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout!, 'data');
  return child;
}

test('a second holder is refused with the pid of the first, also in the same process', () => {
  const lock = RunLock.acquire(folder);
  expect(() => RunLock.acquire(folder)).toThrow(`process ${process.pid}`);
  lock.release();
  RunLock.acquire(folder).release();
  expect(readLockHolder(folder)).toBeNull();
});

test('another process keeps it, and a killed one leaves it free', async () => {
  const child = await holdElsewhere();
  expect(readLockHolder(folder)?.pid).toBe(child.pid);
  expect(() => RunLock.acquire(folder)).toThrow(`process ${child.pid}`);
  child.kill('SIGKILL');
  await once(child, 'exit');
  // Its note is still there, but nobody is behind it.
  expect(existsSync(join(folder, 'lock.json'))).toBe(true);
  expect(readLockHolder(folder)).toBeNull();
  const lock = RunLock.acquire(folder);
  expect(readLockHolder(folder)?.pid).toBe(process.pid);
  lock.release();
});

test.runIf(existsSync('/proc/self/stat'))('a pid that was given to a later process is no holder', () => {
  const startTime = processStartTime(process.pid)!;
  const note = (start: string) =>
    writeFileSync(join(folder, 'lock.json'), JSON.stringify({ pid: process.pid, startTime: start }));
  note(startTime);
  expect(readLockHolder(folder)).toEqual({ pid: process.pid, startTime });
  note(String(Number(startTime) - 1));
  expect(readLockHolder(folder)).toBeNull();
});

test('a half-written or foreign note is nobody', () => {
  for (const note of ['', '{"pid":', '{"pid":-1,"startTime":null}', '{"pid":"x"}']) {
    writeFileSync(join(folder, 'lock.json'), note);
    expect(readLockHolder(folder)).toBeNull();
  }
});
