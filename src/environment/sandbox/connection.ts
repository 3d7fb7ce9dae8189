import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { Launch } from './bubblewrap.js';
import { SandboxError } from './errors.js';
import type { FromKeeper, KeeperData, ToKeeper } from './keeper.js';
import type { SandboxLimits } from './limits.js';
import { programText } from './program-text.js';
import { type Answer, type Op, readAnswer } from './protocol.js';

interface Waiting {
  settle(text: string): void;
  fail(error: Error): void;
}

/**
 * A line to a sandboxed process. Requests that are made in one turn of the event loop travel together. After a breach
 * it is closed for good: everything that waits, and every later request, throws the same error.
 */
export class SandboxConnection {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #signal = new Int32Array(new SharedArrayBuffer(4));
  readonly #waiting = new Map<string, Waiting>();
  #next = 0;
  #out: string[] = [];
  #ended: SandboxError | null = null;

  constructor(launch: Launch, limits: SandboxLimits) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const workerData: KeeperData = {
      ...launch,
      temporaryFile: join(tmpdir(), `trace-${randomUUID()}`),
      port: port2,
      signal: this.#signal,
      answerMs: limits.answerMs,
      loadMs: limits.loadMs,
      answerCharacters: limits.answerCharacters,
    };
    this.#worker = new Worker(programText('keeper'), {
      eval: true,
      workerData,
      transferList: [port2],
      env: {},
      execArgv: [],
    });
    this.#worker.on('error', (error) => this.#end(`its keeper broke (${error.message})`));
    this.#worker.on('exit', () => this.#end('its keeper ended'));
    port1.on('message', (message: FromKeeper) => this.#receive(message));
    this.#rest();
  }

  /** Why it is closed; null while it is open. */
  get ended(): SandboxError | null {
    return this.#ended;
  }

  /** @throws SandboxError after a breach; Error with the environment's words where it threw. */
  ask<O extends Op>(op: O, request: object): Promise<Answer<O>> {
    return new Promise((resolve, reject) => {
      this.#send(JSON.stringify({ op, ...request }), {
        settle: (text) => {
          try {
            resolve(this.#read(op, text));
          } catch (error) {
            reject(error);
          }
        },
        fail: reject,
      });
    });
  }

  /** Several requests of one kind whose answers the caller waits for, the event loop standing still meanwhile. */
  askNow<O extends Op>(op: O, requests: readonly object[]): (Answer<O> | Error)[] {
    const answers = requests.map((): { text?: string; error?: Error } => ({}));
    for (const [i, request] of requests.entries())
      this.#send(JSON.stringify({ op, ...request }), {
        settle: (text) => {
          answers[i]!.text = text;
        },
        fail: (error) => {
          answers[i]!.error = error;
        },
      });
    this.#flush();
    const open = () => answers.some(({ text, error }) => text === undefined && error === undefined);
    while (open()) {
      const seen = Atomics.load(this.#signal, 0);
      const received = receiveMessageOnPort(this.#port);
      if (received) this.#receive(received.message as FromKeeper);
      else Atomics.wait(this.#signal, 0, seen, 1000);
    }
    return answers.map(({ text, error }) => {
      if (error) return error;
      try {
        return this.#read(op, text!);
      } catch (thrown) {
        return thrown as Error;
      }
    });
  }

  /** The first request has its own form. */
  start<O extends 'ready' | 'probe'>(op: O, settings: object): Promise<Answer<O>> {
    return new Promise((resolve, reject) => {
      this.#send(JSON.stringify(settings), {
        settle: (text) => {
          try {
            resolve(this.#read(op, text));
          } catch (error) {
            reject(error);
          }
        },
        fail: reject,
      });
    });
  }

  /** Ends the process. */
  async close(): Promise<void> {
    if (!this.#ended) {
      this.#port.postMessage(null satisfies ToKeeper);
      this.#end('closed');
    }
    await this.#worker.terminate();
  }

  #read<O extends Op>(op: O, text: string): Answer<O> {
    try {
      return readAnswer(op, text);
    } catch (error) {
      if (error instanceof SandboxError) this.#breach(error);
      throw error;
    }
  }

  #send(json: string, waiting: Waiting): void {
    if (this.#ended) {
      waiting.fail(this.#ended);
      return;
    }
    const id = String(++this.#next);
    this.#waiting.set(id, waiting);
    if (this.#waiting.size === 1) {
      this.#port.ref();
      this.#worker.ref();
    }
    // After the promises that are being settled now have gone on.
    if (this.#out.push(`${id} ${json}\n`) === 1) process.nextTick(() => this.#flush());
  }

  #flush(): void {
    if (this.#out.length === 0 || this.#ended) return;
    const message: ToKeeper = { text: this.#out.join(''), lines: this.#out.length };
    this.#out = [];
    this.#port.postMessage(message);
  }

  #receive(message: FromKeeper): void {
    if ('end' in message) {
      this.#end(message.end);
      return;
    }
    for (const line of message.lines) {
      const space = line.indexOf(' ');
      const id = line.slice(0, space);
      const waiting = this.#waiting.get(id);
      if (!waiting) {
        this.#breach(new SandboxError('it says what it was not asked'));
        return;
      }
      this.#waiting.delete(id);
      waiting.settle(line.slice(space + 1));
    }
    if (this.#waiting.size === 0) this.#rest();
  }

  /** Nothing is due: an open sandbox does not keep the process alive. */
  #rest(): void {
    this.#port.unref();
    this.#worker.unref();
  }

  #breach(error: SandboxError): void {
    if (this.#ended) return;
    this.#port.postMessage(null satisfies ToKeeper);
    this.#end(error);
  }

  #end(reason: string | SandboxError): void {
    if (this.#ended) return;
    this.#ended = typeof reason === 'string' ? new SandboxError(reason) : reason;
    this.#out = [];
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const one of waiting) one.fail(this.#ended);
    this.#rest();
  }
}
