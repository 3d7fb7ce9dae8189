import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import { startWorker } from '../../run/start-worker.js';
import { JsonShapeError, LONGEST_RECORD } from '../json-pieces.js';
import { PreparedTrajectory } from '../prepared.js';
import { prepareLines } from './chat-lines.js';
import { type ChatContext, identify } from './chat-record.js';
import type { BatchAnswer, BatchMessage } from './chat-worker.js';
import type { ImporterOptions } from './importer.js';
import { refuse } from './records.js';

/** Smaller files are read before the threads have started. */
const WORTH_IT = 1 << 25;
const BATCH = 1 << 20;
const MOST_THREADS = 3;
/** Batches on their way for each thread. */
const AHEAD = 2;
const NEWLINE = 0x0a;

const script = new URL('./chat-worker.js', import.meta.url);

/** How many threads a file is worth: 0 for small ones and on one processor. */
export function threadsFor(path: string): number {
  const processors = availableParallelism();
  if (processors < 2 || statSync(path).size < WORTH_IT) return 0;
  return Math.min(processors, MOST_THREADS);
}

/** A thread with the batches it was given; they come back in order. */
class Thread {
  readonly #worker: Worker;
  readonly #waiting: { resolve(answer: BatchAnswer): void; reject(error: unknown): void }[] = [];

  constructor(context: ChatContext) {
    const { source, fileId, passAt } = context;
    this.#worker = startWorker(script, { source, fileId, passAt });
    this.#worker.on('message', (answer: BatchAnswer) => this.#waiting.shift()?.resolve(answer));
    const fail = (error: unknown) => {
      for (const { reject } of this.#waiting.splice(0)) reject(error);
    };
    this.#worker.on('error', fail);
    this.#worker.on('exit', (code) => fail(new Error(`a thread of the import ended with code ${code}`)));
  }

  prepare(message: BatchMessage): Promise<BatchAnswer> {
    const answer = new Promise<BatchAnswer>((resolve, reject) => this.#waiting.push({ resolve, reject }));
    // Whoever takes the batches in order is told; a later one may fail before its turn.
    answer.catch(() => {});
    this.#worker.postMessage(message, message.room ? [message.batch, message.room] : [message.batch]);
    return answer;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** Memory that goes round: fresh pages cost more than what is done with them. */
class Memory {
  readonly #spare: ArrayBuffer[] = [];

  take(): ArrayBuffer | undefined {
    return this.#spare.pop();
  }

  give(memory: ArrayBuffer): void {
    // What one long line needed is not kept for ever.
    if (memory.byteLength <= 4 * BATCH) this.#spare.push(memory);
  }
}

interface LinesRead {
  readonly batch: ArrayBuffer;
  readonly length: number;
}

/** Pieces of a file that end at a line's end. */
async function* batches(path: string, memory: Memory): AsyncGenerator<LinesRead> {
  const file = await open(path);
  const space = (least: number) => {
    const spare = memory.take();
    return Buffer.from(
      spare && spare.byteLength > least ? spare : new ArrayBuffer(Math.max(BATCH, least * 2)),
    );
  };
  try {
    let buffer = space(0);
    let filled = 0;
    for (;;) {
      if (filled === buffer.length) {
        if (filled > LONGEST_RECORD)
          throw new JsonShapeError(`a line is longer than ${LONGEST_RECORD} bytes`);
        const larger = space(filled);
        buffer.copy(larger, 0, 0, filled);
        buffer = larger;
      }
      const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, null);
      if (bytesRead === 0) break;
      const cut = buffer.subarray(filled, filled + bytesRead).lastIndexOf(NEWLINE) + 1;
      const end = filled + cut;
      filled += bytesRead;
      if (cut === 0) continue;
      const rest = space(filled - end);
      buffer.copy(rest, 0, end, filled);
      yield { batch: buffer.buffer, length: end };
      filled -= end;
      buffer = rest;
    }
    if (filled > 0) yield { batch: buffer.buffer, length: filled };
  } finally {
    await file.close();
  }
}

/**
 * Chats of a JSONL file, prepared for the store by other threads; with 0 threads by this one. Order, ids and refusals
 * are those of reading it record by record. Prepared by threads an attempt holds until the next one is asked for: then
 * its memory may be used again.
 * @throws InvalidRecordError at a bad record unless `onInvalid` is given; JsonShapeError for a line that no string holds.
 */
export async function* preparedChats(
  path: string,
  context: ChatContext,
  options: ImporterOptions,
  threads = threadsFor(path),
): AsyncGenerator<PreparedTrajectory> {
  const pool = Array.from({ length: threads }, () => new Thread(context));
  const ahead: { readonly length: number; readonly answer: BatchAnswer | Promise<BatchAnswer> }[] = [];
  const batchMemory = new Memory();
  const rooms = new Memory();
  let before = 0;

  async function* next(): AsyncGenerator<PreparedTrajectory> {
    const { length, answer } = ahead.shift()!;
    const { prepared, batch } = await answer;
    batchMemory.give(batch);
    options.onBytes?.(length);
    const printed = Buffer.from(prepared.bytes);
    for (const line of prepared.made) {
      if (line.refused !== undefined) {
        refuse(path, before + line.line, line.refused, options);
        continue;
      }
      const { id, taskId, trial } = identify(line, context);
      const own = printed.subarray(line.start, line.end);
      yield new PreparedTrajectory(id, taskId, trial, line.outcome, line.reason, own);
    }
    before += prepared.lines;
    if (threads > 0) rooms.give(prepared.bytes);
  }

  try {
    let number = 0;
    for await (const { batch, length } of batches(path, batchMemory)) {
      const first = number === 0;
      const thread = pool[number++ % pool.length];
      const room = rooms.take();
      const answer = thread
        ? thread.prepare({ batch, length, first, ...(room && { room }) })
        : { prepared: prepareLines(new Uint8Array(batch, 0, length), first, context), batch };
      ahead.push({ length, answer });
      while (ahead.length > threads * AHEAD) yield* next();
    }
    while (ahead.length > 0) yield* next();
  } finally {
    await Promise.all(pool.map((thread) => thread.end()));
  }
}
