/**
 * A thread that keeps the sandbox's process: starts it, passes lines on in both directions, and ends it when an
 * answer is late or too long. A thread of its own, so that the main one can wait for an answer where the contract of
 * environments is synchronous. Carried in as text; imports Node's own modules alone.
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync, unlinkSync, writeFileSync } from 'node:fs';
import { type MessagePort, workerData } from 'node:worker_threads';

export interface KeeperData {
  readonly command: string;
  readonly args: readonly string[];
  /** Handed to the process as file descriptor 3, if any. */
  readonly descriptor3: Uint8Array | null;
  readonly temporaryFile: string;
  readonly port: MessagePort;
  /** Counts messages to the main thread; it waits here. */
  readonly signal: Int32Array;
  readonly answerMs: number;
  readonly loadMs: number;
  readonly answerCharacters: number;
}
/** Lines for the process and how many they are; null: end it. */
export type ToKeeper = { readonly text: string; readonly lines: number } | null;
export type FromKeeper = { readonly lines: readonly string[] } | { readonly end: string };

const data = workerData as KeeperData;
const { port, signal, answerMs, loadMs } = data;

function tell(message: FromKeeper): void {
  port.postMessage(message);
  Atomics.add(signal, 0, 1);
  Atomics.notify(signal, 0);
}

let file: number | null = null;
if (data.descriptor3) {
  writeFileSync(data.temporaryFile, data.descriptor3, { mode: 0o600, flag: 'wx' });
  file = openSync(data.temporaryFile, 'r');
  unlinkSync(data.temporaryFile);
}
const child = spawn(data.command, [...data.args], {
  env: {},
  cwd: '/',
  stdio: ['pipe', 'pipe', 'pipe', ...(file === null ? [] : [file])],
});
if (file !== null) closeSync(file);

let ended = false;
let due = 0;
let lastAnswer = performance.now();
let answeredOnce = false;
let words = '';

function end(reason: string): void {
  if (ended) return;
  ended = true;
  clearInterval(watch);
  child.kill('SIGKILL');
  tell({ end: reason });
  port.close();
}

const watch = setInterval(
  () => {
    const allowed = answeredOnce ? answerMs : loadMs;
    if (due > 0 && performance.now() - lastAnswer > allowed)
      end(answeredOnce ? `no answer within ${answerMs} ms` : `not loaded within ${allowed} ms`);
  },
  Math.max(20, answerMs / 20),
);

port.on('message', (message: ToKeeper) => {
  if (message === null) return end('closed');
  if (due === 0) lastAnswer = performance.now();
  due += message.lines;
  child.stdin!.write(message.text);
});

let rest = '';
child.stdout!.setEncoding('utf8');
child.stdout!.on('data', (text: string) => {
  if (ended) return;
  const lines = (rest + text).split('\n');
  rest = lines.pop()!;
  if (rest.length > 2 * data.answerCharacters + 1000) return end('an answer that does not end');
  if (lines.length === 0) return;
  due -= lines.length;
  if (due < 0) return end('it says what it was not asked');
  lastAnswer = performance.now();
  answeredOnce = true;
  tell({ lines });
});
child.stderr!.setEncoding('utf8');
child.stderr!.on('data', (text: string) => {
  words = (words + text).slice(-2000);
});
child.stdin!.on('error', () => {});
child.on('error', (error) => end(`${data.command} cannot be started (${error.message})`));
child.on('close', (code, name) => {
  const printable = words.replace(/[^\x20-\x7e\n]/g, '?').trim();
  const last = /heap out of memory|Cannot allocate/i.test(printable)
    ? 'out of memory'
    : printable.split('\n')[0];
  end(`its process ended (${name ?? code})${last ? `: ${last}` : ''}`);
});
