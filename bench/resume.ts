/**
 * How many kills a run survives: `npm run bench:resume [-- KILLS [PROJECT]]` runs the project once undisturbed, then again in a
 * second folder while it is killed (SIGKILL) at random moments, and compares every file of the two runs. Uses the built
 * command (`dist/`) and the smoke profile; the moments come from a fixed seed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { comparedFiles } from '../src/run/digest.js';
import { Random } from '../src/run/random.js';

const command = resolve(import.meta.dirname, '../dist/cli/main.js');
const kills = Number(process.argv[2] ?? 20);
const project = resolve(process.argv[3] ?? join(import.meta.dirname, '../examples/desk'));
const root = mkdtempSync(join(tmpdir(), 'trace-resume-'));

/** One process on the run, killed after `seconds` where they are given. Null when it was killed, else its exit code. */
async function work(folder: string, seconds?: number): Promise<number | null> {
  const child = spawn(process.execPath, [command, 'run', folder, '--fast'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exit = once(child, 'exit') as Promise<[number | null]>;
  if (seconds === undefined) return (await exit)[0];
  const timer = new AbortController();
  const killed = sleep(seconds * 1000, 'killed', { signal: timer.signal }).catch(() => 'ended');
  if ((await Promise.race([exit, killed])) === 'killed') child.kill('SIGKILL');
  timer.abort();
  return (await exit)[0];
}

function copyProject(name: string): string {
  const folder = join(root, name);
  cpSync(project, folder, { recursive: true, filter: (path) => !path.endsWith('.trace') });
  return folder;
}

try {
  const alone = copyProject('alone');
  const began = performance.now();
  if ((await work(alone)) !== 0) throw new Error('the undisturbed run failed');
  const length = (performance.now() - began) / 1000;

  const disturbed = copyProject('disturbed');
  const random = new Random(1).fork('kills');
  let survived = 0;
  while (survived < kills) {
    // Short lives as well as long ones: between half a second after the start and an eighth of the whole run.
    const life = 0.5 + random.float() * random.float() * (length / 4);
    const code = await work(disturbed, life);
    if (code === 0) break;
    if (code !== null) throw new Error(`a resumed run failed with exit code ${code}`);
    survived++;
  }
  if ((await work(disturbed)) !== 0) throw new Error('the last run failed');

  const runs = [alone, disturbed].map((folder) => join(folder, '.trace', 'fast'));
  const [expected, found] = runs.map((folder) => comparedFiles(folder)) as [string[], string[]];
  const different = [...new Set([...expected, ...found])].filter((name) => {
    if (!expected.includes(name) || !found.includes(name)) return true;
    return !readFileSync(join(runs[0]!, name)).equals(readFileSync(join(runs[1]!, name)));
  });
  console.log(`${survived} kills survived; ${expected.length} files, ${different.length} different`);
  for (const name of different) console.log(`  ${name}`);
  process.exitCode = different.length === 0 ? 0 : 1;
} finally {
  rmSync(root, { recursive: true, force: true });
}
