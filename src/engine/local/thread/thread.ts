import type { Transferable, Worker } from 'node:worker_threads';
import { startWorker } from '../../../run/start-worker.js';

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly stack?: string };
}

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A worker thread that answers calls, one at a time and in order (`serve.ts` is its other side). It keeps the
 * process alive only while a call is waiting, so a program that forgets `close` still ends.
 */
export class Thread {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #next = 0;
  #failure: Error | null = null;

  /** Starts the thread; see `startWorker`. */
  constructor(script: URL, data: unknown) {
    this.#worker = startWorker(script, data);
    this.#worker.unref();
    this.#worker.on('message', (reply: Reply) => this.#settle(reply));
    this.#worker.on('error', (error) =>
      this.#fail(error instanceof Error ? error : new Error(String(error))),
    );
    this.#worker.on('exit', () => this.#fail(new Error('the engine thread has ended')));
  }

  /** Calls a method of the thread. @throws what the method threw, or an error when the thread has ended. */
  call<T>(method: string, argument: unknown, transfer: readonly Transferable[] = []): Promise<T> {
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise<T>((resolve, reject) => {
      const id = this.#next++;
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(id, { resolve, reject });
      this.#worker.postMessage({ id, method, argument }, transfer);
    });
  }

  #settle({ id, result, error }: Reply): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#worker.unref();
    if (error) {
      const failure = new Error(error.message);
      if (error.stack !== undefined) failure.stack = error.stack;
      pending.reject(failure);
    } else pending.resolve(result as never);
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
  }

  async close(): Promise<void> {
    this.#failure ??= new Error('the engine is closed');
    await this.#worker.terminate();
  }
}
