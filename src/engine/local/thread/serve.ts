import { parentPort, type Transferable } from 'node:worker_threads';

/** What a method answers: the result, and the buffers to move instead of copy. */
export interface Answer {
  readonly result: unknown;
  readonly transfer?: readonly Transferable[];
}
export type Method = (argument: never) => Answer | Promise<Answer>;

/** Answers the calls of `Thread`, one after the other in the order they came. */
export function serve(methods: Readonly<Record<string, Method>>): void {
  if (!parentPort) throw new Error('serve() runs in a worker thread');
  const port = parentPort;
  let last: Promise<void> = Promise.resolve();
  port.on('message', ({ id, method, argument }: { id: number; method: string; argument: never }) => {
    last = last.then(async () => {
      try {
        const handler = methods[method];
        if (!handler) throw new Error(`the engine thread has no method ${method}`);
        const { result, transfer = [] } = await handler(argument);
        port.postMessage({ id, result }, transfer);
      } catch (error) {
        const { message, stack } = error instanceof Error ? error : new Error(String(error));
        port.postMessage({ id, error: { message, stack } });
      }
    });
  });
}
