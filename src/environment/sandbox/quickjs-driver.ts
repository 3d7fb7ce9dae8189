/**
 * The worker process around QuickJS: a line in, a line out, the generated code in an interpreter inside WebAssembly,
 * which knows nothing but the language. Carried in as text; imports Node's own modules, and QuickJS by the path it is
 * given.
 */
import { readSync, writeSync } from 'node:fs';
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from 'quickjs-emscripten';

interface Start {
  readonly guest: string;
  readonly script: string;
  readonly settings: unknown;
  readonly answerCharacters: number;
  readonly answerMs: number;
  readonly loadMs: number;
  readonly memoryMiB: number;
}

/** Deeper recursion than this overflows the stack of WebAssembly before QuickJS sees it. */
const STACK_BYTES = 128 * 1024;
const TOGETHER = 8;

let vm: QuickJSContext;
let runtime: QuickJSRuntime;
let handle: QuickJSHandle;
let collect: QuickJSHandle;
let limits: Start;
let deadline = Number.POSITIVE_INFINITY;

async function start(line: string): Promise<string> {
  limits = JSON.parse(line) as Start;
  const { newQuickJSWASMModule } = require(process.argv[1]!) as typeof import('quickjs-emscripten');
  runtime = (await newQuickJSWASMModule()).newRuntime();
  runtime.setMemoryLimit(limits.memoryMiB * 2 ** 20);
  runtime.setMaxStackSize(STACK_BYTES);
  runtime.setInterruptHandler(() => performance.now() > deadline);
  vm = runtime.newContext();
  const guest = vm.unwrapResult(vm.evalCode(limits.guest, 'guest'));
  handle = vm.getProp(guest, 'handle');
  collect = vm.getProp(guest, 'collect');
  deadline = performance.now() + limits.loadMs;
  const loaded = vm.evalCode(limits.script, 'environment.ts');
  if (loaded.error) return failure(loaded.error);
  loaded.value.dispose();
  return answer('', JSON.stringify({ op: 'ready', scenario: limits.settings }));
}

function failure(error: QuickJSHandle): string {
  let words = 'it throws an error that cannot be read';
  const message = vm.getProp(error, 'message');
  if (vm.typeof(message) === 'string') words = vm.getString(message).slice(0, 2000);
  message.dispose();
  error.dispose();
  if (words === 'interrupted') words = `no answer in time`;
  return `E${JSON.stringify(words)}`;
}

function text(value: string): string {
  if (value.includes('\n')) return 'E"an answer that is no line of text"';
  if (value.length > limits.answerCharacters)
    return `E"an answer of ${value.length} characters; the limit is ${limits.answerCharacters}"`;
  return value;
}

function call(callee: QuickJSHandle, ...given: string[]): { value: string } | { error: QuickJSHandle } {
  const handles = given.map((one) => vm.newString(one));
  const result = vm.callFunction(callee, vm.undefined, ...handles);
  for (const one of handles) one.dispose();
  if (result.error) return { error: result.error };
  const value = vm.typeof(result.value) === 'string' ? vm.getString(result.value) : '\n';
  result.value.dispose();
  return { value };
}

function answer(id: string, line: string): string {
  deadline = performance.now() + limits.answerMs;
  let result = call(handle, id, line);
  if ('value' in result && result.value === '') {
    // One job at a time: a chain of promises without end must not go past the deadline.
    while (runtime.hasPendingJob() && performance.now() <= deadline) {
      const done = runtime.executePendingJobs(1);
      if (done.error) done.error.dispose();
    }
    if (performance.now() > deadline) return `E"no answer within ${limits.answerMs} ms"`;
    result = call(collect);
  }
  return 'error' in result ? failure(result.error) : text(result.value);
}

async function loop(): Promise<void> {
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
      out += `${id} ${started ? answer(id, body) : await start(body)}\n`;
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

// After an error of the host (a stack of WebAssembly that overflows) the interpreter is not to be trusted any more.
loop().then(
  () => process.exit(0),
  () => process.exit(70),
);
