import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, freemem, totalmem } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../config/load.js';
import { explainError, TraceError } from '../../run/errors.js';
import { packageRoot } from '../../run/package-root.js';
import { locateModel } from '../settings.js';
import { type Colors, colorsFor } from '../terminal/colors.js';

export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed';
  /** What was found. */
  readonly found: string;
  /** How to mend it; null when it is fine. */
  readonly mend: string | null;
}

/** Memory that a whole run of the embedded target needs at most, in bytes. */
const MEMORY_NEEDED = 2 * 2 ** 30;
/** Disk space that a run's folder needs at most, in bytes. */
const DISK_NEEDED = 500 * 2 ** 20;

/**
 * `trace doctor`: looks at the machine, and at a project when one is named. Exit code 1 when something is broken.
 */
export async function doctorCommand(
  place: string | undefined,
  flags: { readonly json?: boolean },
): Promise<void> {
  const findings: Finding[] = [
    checkNode(process.versions.node),
    await guarded('kernels', checkKernels),
    await guarded('journal', checkJournal),
    checkCores(availableParallelism()),
    checkMemory(availableMemory(), totalmem()),
    await guarded('sandbox', checkSandbox),
  ];
  if (place === undefined) {
    findings.push(await guarded('model', async () => checkModel('desk-base', process.cwd())));
    findings.push(await guarded('disk', async () => checkDisk(process.cwd())));
  } else {
    findings.push(...(await checkProject(place)));
  }
  const broken = findings.some((finding) => finding.state === 'failed');
  if (flags.json) process.stdout.write(`${JSON.stringify({ type: 'result', ok: !broken, findings })}\n`);
  else process.stdout.write(doctorText(findings, colorsFor(process.stdout)));
  if (broken) process.exitCode = 1;
}

const ok = (check: string, found: string): Finding => ({ check, state: 'ok', found, mend: null });

/** Node must satisfy the package's own `engines` range (`>=x.y`). */
export function checkNode(version: string): Finding {
  const { engines } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  const needed = engines.node.replace('>=', '').split('.').map(Number);
  const have = version.split('.').map(Number);
  const fits = have[0]! > needed[0]! || (have[0] === needed[0] && have[1]! >= (needed[1] ?? 0));
  if (fits) return ok('node', `Node ${version}`);
  return {
    check: 'node',
    state: 'failed',
    found: `Node ${version}`,
    mend: `Install Node ${needed.join('.')} or newer.`,
  };
}

/** Runs a 2 × 2 matrix product in ONNX Runtime and looks at the numbers. */
async function checkKernels(): Promise<Finding> {
  const { runSmokeGraph } = await import('../smoke-graph.js');
  const result = await runSmokeGraph();
  const expected = [19, 22, 43, 50];
  if (expected.every((value, i) => result[i] === value)) {
    return ok('kernels', 'ONNX Runtime loads and computes');
  }
  return {
    check: 'kernels',
    state: 'failed',
    found: `ONNX Runtime computes [${result.join(', ')}] where [${expected.join(', ')}] is right`,
    mend: 'Install again: `npm ci`.',
  };
}

async function checkJournal(): Promise<Finding> {
  const { default: Database } = await import('libsql');
  const database = new Database(':memory:');
  const row = database.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  database.close();
  return ok('journal', `SQLite ${row.version} loads`);
}

export function checkCores(cores: number): Finding {
  const found = `${cores} ${cores === 1 ? 'core' : 'cores'}`;
  if (cores >= 2) return ok('cores', found);
  return { check: 'cores', state: 'warning', found, mend: 'A run works, at half the speed of two cores.' };
}

export function checkMemory(free: number, total: number): Finding {
  const found = `${gigabytes(free)} of ${gigabytes(total)} GB free`;
  if (free >= MEMORY_NEEDED) return ok('memory', found);
  return {
    check: 'memory',
    state: 'warning',
    found,
    mend: `A run takes up to ${gigabytes(MEMORY_NEEDED)} GB: close something large first.`,
  };
}

/** Generated environments run behind the first sandbox that works. */
async function checkSandbox(): Promise<Finding> {
  const { tryAllSandboxes } = await import('../../environment/sandbox/report.js');
  const [bubblewrap, quickjs] = await tryAllSandboxes();
  if (bubblewrap!.failure === null)
    return ok('sandbox', 'bubblewrap works: generated environments can run behind it');
  const found = `bubblewrap does not work (${bubblewrap!.failure})`;
  const mend = 'Install bubblewrap (`apt install bubblewrap`), and allow user namespaces.';
  if (quickjs!.failure === null)
    return { check: 'sandbox', state: 'warning', found: `${found}; QuickJS does, and is slower`, mend };
  return { check: 'sandbox', state: 'failed', found: `${found}, nor QuickJS (${quickjs!.failure})`, mend };
}

function checkModel(model: string, project: string): Finding {
  const located = locateModel(model, project);
  return ok('model', `${located.folder} is readable`);
}

/** The folder can be written, and holds enough space. */
function checkDisk(folder: string): Finding {
  const probe = join(folder, `.trace-doctor-${process.pid}`);
  mkdirSync(probe);
  rmSync(probe, { recursive: true });
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const found = `${folder} is writable, ${gigabytes(free)} GB free`;
  if (free >= DISK_NEEDED) return ok('disk', found);
  return { check: 'disk', state: 'warning', found, mend: 'A run writes up to 0.5 GB: free some space.' };
}

async function checkProject(place: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  const config = await guarded('configuration', async () => {
    const { file } = await loadConfig(place);
    return ok('configuration', `${file} is right`);
  });
  findings.push(config);
  if (config.state !== 'ok') return findings;
  const loaded = await loadConfig(place);
  findings.push(await guarded('model', async () => checkModel(loaded.config.model, loaded.project)));
  const runs = join(loaded.project, '.trace');
  findings.push(
    await guarded('disk', async () => {
      accessSync(existsSync(runs) ? runs : loaded.project, constants.W_OK);
      return checkDisk(existsSync(runs) ? runs : loaded.project);
    }),
  );
  return findings;
}

/** A check that throws has failed; its error's words are the finding. */
async function guarded(check: string, run: () => Promise<Finding>): Promise<Finding> {
  try {
    return await run();
  } catch (thrown) {
    const error = explainError(thrown);
    const mend = error instanceof TraceError ? error.mend : undefined;
    return { check, state: 'failed', found: error.message, mend: mend ?? 'Install again: `npm ci`.' };
  }
}

/** Memory a new process can have: what Linux calls available, elsewhere what is free. */
function availableMemory(): number {
  try {
    const line = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'));
    if (line) return Number(line[1]) * 1024;
  } catch {
    // No /proc: not Linux.
  }
  return freemem();
}

function gigabytes(bytes: number): string {
  return (bytes / 2 ** 30).toFixed(1);
}

function doctorText(findings: readonly Finding[], colors: Colors): string {
  const marks = { ok: colors.green('✔'), warning: colors.yellow('!'), failed: colors.red('✘') };
  const lines = findings.flatMap(({ check, state, found, mend }) => [
    `${marks[state]} ${check.padEnd(13)} ${found}`,
    ...(mend === null ? [] : [`  ${''.padEnd(13)} ${colors.dim('→')} ${mend}`]),
  ]);
  return `${lines.join('\n')}\n`;
}
