/**
 * How many kills a run survives: `npm run bench:resume [-- KILLS [PROJECT]]` runs the project once undisturbed, then again
 * in a second folder while it is killed (SIGKILL) at random moments spread over all steps, and compares every file of the
 * two runs. Uses the built command (`dist/`) and the smoke profile; the moments come from a fixed seed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { comparedFiles } from '../src/run/digest.js';
import { type RunEvent, STEP_NAMES, type StepName } from '../src/run/events.js';
import { Random } from '../src/run/random.js';

const command = resolve(import.meta.dirname, '../dist/cli/main.js');
const kills = Number(process.argv[2] ?? 20);
const project = resolve(process.argv[3] ?? join(import.meta.dirname, '../examples/desk'));
const root = mkdtempSync(join(tmpdir(), 'trace-resume-'));

/** When to kill: so many milliseconds after the step is first spoken of, at the latest when a later one is. */
interface Kill {
  readonly step: StepName;
  readonly after: number;
}

/** One process on the run; hands on its events. Null when it was killed, else its exit code. */
async function work(
  folder: string,
  { kill, onEvent }: { kill?: Kill; onEvent?: (event: RunEvent) => void } = {},
): Promise<number | null> {
  const child = spawn(process.execPath, [command, 'run', folder, '--fast', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let timer: NodeJS.Timeout | undefined;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const event = JSON.parse(line) as RunEvent;
    onEvent?.(event);
    if (!kill || !event.step) return;
    if (STEP_NAMES.indexOf(event.step) > STEP_NAMES.indexOf(kill.step)) child.kill('SIGKILL');
    else if (event.step === kill.step) timer ??= setTimeout(() => child.kill('SIGKILL'), kill.after);
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  clearTimeout(timer);
  return code;
}

function copyProject(name: string): string {
  const folder = join(root, name);
  cpSync(project, folder, { recursive: true, filter: (path) => !path.endsWith('.trace') });
  return folder;
}

try {
  const alone = copyProject('alone');
  const startedAt = new Map<string, number>();
  const lengths = new Map<StepName, number>();
  const onEvent = (event: RunEvent): void => {
    if (event.type === 'step:start') startedAt.set(event.step, performance.now());
    if (event.type === 'step:end') lengths.set(event.step, performance.now() - startedAt.get(event.step)!);
  };
  if ((await work(alone, { onEvent })) !== 0) throw new Error('the undisturbed run failed');

  const disturbed = copyProject('disturbed');
  const random = new Random(1).fork('kills');
  const survived = new Map<StepName, number>();
  for (let i = 0; i < kills; i++) {
    // Step by step in their order, so that every one of them is cut.
    const step = STEP_NAMES[Math.floor((i * STEP_NAMES.length) / kills)]!;
    const code = await work(disturbed, { kill: { step, after: random.float() * lengths.get(step)! } });
    if (code === null) survived.set(step, (survived.get(step) ?? 0) + 1);
    else if (code !== 0) throw new Error(`a resumed run failed with exit code ${code}`);
  }
  if ((await work(disturbed)) !== 0) throw new Error('the last run failed');

  const runs = [alone, disturbed].map((folder) => join(folder, '.trace', 'fast'));
  const [expected, found] = runs.map((folder) => comparedFiles(folder)) as [string[], string[]];
  const different = [...new Set([...expected, ...found])].filter((name) => {
    if (!expected.includes(name) || !found.includes(name)) return true;
    return !readFileSync(join(runs[0]!, name)).equals(readFileSync(join(runs[1]!, name)));
  });
  const total = [...survived.values()].reduce((sum, n) => sum + n, 0);
  const where = [...survived].map(([step, n]) => `${n} from ${step} on`).join(', ');
  console.log(`${total} kills survived (${where}); ${expected.length} files, ${different.length} different`);
  for (const name of different) console.log(`  ${name}`);
  process.exitCode = different.length === 0 ? 0 : 1;
} finally {
  rmSync(root, { recursive: true, force: true });
}
