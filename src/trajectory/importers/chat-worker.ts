import { parentPort, workerData } from 'node:worker_threads';
import { type PreparedBatch, prepareLines } from './chat-lines.js';
import type { DraftContext } from './chat-record.js';

/** What the thread is sent: whole lines, whether they begin the file, and memory to print into. */
export interface BatchMessage {
  readonly batch: ArrayBuffer;
  readonly length: number;
  readonly first: boolean;
  readonly room?: ArrayBuffer;
}

/** What it sends back, the memory of the batch too. */
export interface BatchAnswer {
  readonly prepared: PreparedBatch;
  readonly batch: ArrayBuffer;
}

// The thread of `chat-threads.ts`: a batch comes, its attempts go back, in order.
parentPort?.on('message', ({ batch, length, first, room }: BatchMessage) => {
  const prepared = prepareLines(new Uint8Array(batch, 0, length), first, workerData as DraftContext, room);
  parentPort!.postMessage({ prepared, batch } satisfies BatchAnswer, [prepared.bytes, batch]);
});
