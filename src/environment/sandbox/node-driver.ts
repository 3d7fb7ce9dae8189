/**
 * The process inside bubblewrap: a line in, a line out, the generated code in a realm of its own. It is the second
 * wall, not the first: whoever breaks out of the realm is in a process without network, files, environment and
 * children. Carried in as text; imports Node's own modules alone.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { createContext, Script } from 'node:vm';

interface Start {
  readonly guest: string;
  readonly script: string;
  readonly settings: unknown;
  readonly answerCharacters: number;
}
type Guest = { handle(id: string, line: string): unknown; collect(): unknown };

/** Answers that are sent together, so that both processes have work at the same time. */
const TOGETHER = 8;

let guest: Guest;
let limit = 0;
const drain = new Script('0');
let realm: ReturnType<typeof createContext>;

/** The first line starts the realm, or asks what the walls let through. */
function start(line: string): string {
  const settings = JSON.parse(line) as Start | { readonly probe: true };
  if ('probe' in settings) return `O${JSON.stringify(probe())}`;
  limit = settings.answerCharacters;
  realm = createContext(Object.create(null), {
    codeGeneration: { strings: false, wasm: false },
    microtaskMode: 'afterEvaluate',
  });
  guest = new Script(settings.guest, { filename: 'guest' }).runInContext(realm) as Guest;
  try {
    new Script(settings.script, { filename: 'environment.ts' }).runInContext(realm);
  } catch (error) {
    return `E${JSON.stringify(wordsOf(error))}`;
  }
  return text(guest.handle('', JSON.stringify({ op: 'ready', scenario: settings.settings })));
}

function wordsOf(error: unknown): string {
  try {
    const { message } = error as Error;
    return typeof message === 'string' ? message.slice(0, 2000) : 'it throws something that is no error';
  } catch {
    return 'it throws an error that cannot be read';
  }
}

/** A string of the other realm, one line and not too long. */
function text(value: unknown): string {
  if (typeof value !== 'string' || value.includes('\n')) return 'E"an answer that is no line of text"';
  if (value.length > limit) return `E"an answer of ${value.length} characters; the limit is ${limit}"`;
  return value;
}

function answer(id: string, line: string): string {
  let value: unknown;
  try {
    value = guest.handle(id, line);
    if (value === '') {
      drain.runInContext(realm);
      value = guest.collect();
    }
  } catch (error) {
    value = `E${JSON.stringify(wordsOf(error))}`;
  }
  return text(value);
}

/** What can be reached from here; each entry should say that it cannot. */
function probe() {
  const attempt = (run: () => unknown): string => {
    try {
      return `open: ${String(run())}`;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? 'refused';
    }
  };
  return {
    environment: Object.keys(process.env),
    read: attempt(() => readdirSync('/etc')),
    home: attempt(() => readdirSync('/root').length + readdirSync('/home').length),
    write: attempt(() => writeFileSync('/probe', '')),
    spawn: attempt(() => {
      const { error } = spawnSync(process.execPath, ['-e', '0']);
      if (error) throw error;
    }),
    signal: attempt(() => process.kill(1, 0)),
  };
}

/** `data` may hold several lines and end in the middle of one. */
function loop(): void {
  const buffer = Buffer.alloc(1 << 16);
  let started = false;
  let rest: Buffer[] = [];
  for (;;) {
    let size: number;
    try {
      size = readSync(0, buffer);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') continue;
      return;
    }
    if (size === 0) return;
    const end = buffer.lastIndexOf(10, size - 1);
    if (end < 0) {
      rest.push(Buffer.from(buffer.subarray(0, size)));
      continue;
    }
    const lines = Buffer.concat([...rest, buffer.subarray(0, end)])
      .toString('utf8')
      .split('\n');
    rest = end + 1 < size ? [Buffer.from(buffer.subarray(end + 1, size))] : [];
    let out = '';
    for (const [i, line] of lines.entries()) {
      const space = line.indexOf(' ');
      const id = line.slice(0, space);
      const body = line.slice(space + 1);
      out += `${id} ${started ? answer(id, body) : start(body)}\n`;
      started = true;
      if (i % TOGETHER === TOGETHER - 1 || i === lines.length - 1) {
        writeWhole(out);
        out = '';
      }
    }
  }
}

function writeWhole(out: string): void {
  const bytes = Buffer.from(out);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}

// Bubblewrap leaves this one, whatever is cleared.
delete process.env.PWD;
loop();
