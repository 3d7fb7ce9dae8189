/**
 * A run with toy steps, as a process of its own to be killed: `toy-run.ts FOLDER [--pause MS]`. Every step makes
 * pieces from the seed and what the step before it wrote; a piece that is there is not made again. Prints `begin` once
 * it works.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { explainError, TraceError } from '../../src/run/errors.js';
import { STEP_NAMES } from '../../src/run/events.js';
import { writeFileWhole } from '../../src/run/files.js';
import { runPipeline, type Step, stopOnSignals } from '../../src/run/pipeline.js';
import { Random } from '../../src/run/random.js';
import { Workspace } from '../../src/run/workspace.js';

const PIECES = 6;
const [folder, , pause = '0'] = process.argv.slice(2);

const names = STEP_NAMES.slice(0, 4);
const steps: Step[] = names.map((name, index) => ({
  name,
  title: name,
  settings: { pieces: PIECES },
  outputs: [name],
  run: async (context) => {
    const before = index === 0 ? '' : readAll(join(context.folder, names[index - 1]!));
    const random = new Random(context.seed).fork(name);
    for (let piece = 0; piece < PIECES; piece++) {
      context.signal.throwIfAborted();
      const path = join(context.folder, name, `${piece}.txt`);
      if (existsSync(path)) continue;
      await sleep(Number(pause));
      writeFileWhole(path, `${before.length} ${random.fork(piece).uint32()}\n`.repeat(50));
    }
    return `${PIECES} pieces`;
  },
}));

function readAll(path: string): string {
  return readdirSync(path)
    .sort()
    .map((name) => readFileSync(join(path, name), 'utf8'))
    .join('');
}

const stop = stopOnSignals(() => {});
let workspace: Workspace | undefined;
try {
  workspace = Workspace.open(folder!);
  await runPipeline(workspace, steps, {
    seed: 11,
    emit: () => {},
    signal: stop.signal,
    onAccepted: () => process.stdout.write('begin\n'),
  });
  process.stdout.write('end\n');
} catch (thrown) {
  const error = explainError(thrown);
  process.stderr.write(`${error.message}\n${error instanceof TraceError ? error.mend : error.stack}\n`);
  process.exitCode = 1;
} finally {
  workspace?.close();
}
