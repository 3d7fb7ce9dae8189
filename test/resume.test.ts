import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { comparedFiles, isCompared } from '../src/run/digest.js';
import { Random } from '../src/run/random.js';

/** Mounts a small file system of its own; false where that is not permitted. */
function mountSmall(folder: string, kilobytes: number): boolean {
  mkdirSync(folder, { recursive: true });
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', folder]).status === 0;
}

/** A run of four toy steps with six pieces each, killed at random moments, ends with the bytes of one left alone. */

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'trace-resume-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function start(folder: string, pause: number): ChildProcess {
  return spawn(
    process.execPath,
    ['--import', 'tsx', join(import.meta.dirname, 'support/toy-run.ts'), folder, '--pause', String(pause)],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
}

async function finish(child: ChildProcess): Promise<{ code: number | null; stderr: string }> {
  let stderr = '';
  child.stderr!.on('data', (data) => {
    stderr += String(data);
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code, stderr };
}

const contents = (folder: string) =>
  Object.fromEntries(comparedFiles(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));

test('killed at random moments, a run ends with the same bytes', async () => {
  const alone = join(root, 'alone');
  expect((await finish(start(alone, 0))).code).toBe(0);

  const killed = join(root, 'killed');
  const random = new Random(3);
  let kills = 0;
  for (let attempt = 0; attempt < 40; attempt++) {
    const child = start(killed, 15);
    const ended = finish(child);
    await once(child.stdout!, 'data');
    const first = await Promise.race([ended, sleep(5 + random.int(130), null)]);
    if (first === null) child.kill('SIGKILL');
    const { code } = await ended;
    if (code === 0) break;
    kills++;
  }
  expect(kills).toBeGreaterThan(2);
  expect((await finish(start(killed, 0))).code).toBe(0);
  expect(contents(killed)).toEqual(contents(alone));
  // Nothing half-written is left beside the files.
  expect(readdirSync(killed, { recursive: true }).filter((name) => String(name).endsWith('.tmp'))).toEqual(
    [],
  );
  expect(isCompared('journal.sqlite')).toBe(false);
});

test('a full disk and a read-only folder end with a clear error and lose nothing', async (context) => {
  const disk = join(root, 'disk');
  if (!mountSmall(disk, 84)) context.skip('mounting a small file system needs privileges');
  try {
    const full = await finish(start(join(disk, 'run'), 0));
    expect(full.code).toBe(1);
    expect(full.stderr).toMatch(/the disk is full \(ENOSPC\)\n.*is kept/);
    expect(full.stderr).not.toMatch(/^\s+at /m);
    const kept = contents(join(disk, 'run'));
    expect(Object.keys(kept).length).toBeGreaterThan(0);

    spawnSync('mount', ['-o', 'remount,ro', disk]);
    const readOnly = await finish(start(join(disk, 'run'), 0));
    expect(readOnly.code).toBe(1);
    expect(readOnly.stderr).toContain('read-only (EROFS)');
    expect(contents(join(disk, 'run'))).toEqual(kept);

    spawnSync('mount', ['-o', 'remount,rw,size=4m', disk]);
    expect((await finish(start(join(disk, 'run'), 0))).code).toBe(0);
    const alone = join(root, 'alone');
    expect((await finish(start(alone, 0))).code).toBe(0);
    expect(contents(join(disk, 'run'))).toEqual(contents(alone));
  } finally {
    spawnSync('umount', [disk]);
  }
});

test('SIGINT stops at the next piece, and a second process is refused meanwhile', async () => {
  const folder = join(root, 'stopped');
  const child = start(folder, 100);
  const ended = finish(child);
  await once(child.stdout!, 'data');
  const second = await finish(start(folder, 0));
  expect(second.code).not.toBe(0);
  expect(second.stderr).toContain(`process ${child.pid}`);
  child.kill('SIGINT');
  const { code, stderr } = await ended;
  expect(code).not.toBe(0);
  expect(stderr).toContain('stopped by SIGINT');
  expect((await finish(start(folder, 0))).code).toBe(0);
});
