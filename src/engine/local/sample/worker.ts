import { parentPort, workerData } from 'node:worker_threads';
import type { FromWorker, ToWorker, WorkerStart } from './messages.js';
import { SamplingCore } from './sampling-core.js';

/** Entry of a sampling thread: handles what came in, runs a step, reports, until it is told to close. */
async function main(): Promise<void> {
  if (parentPort === null) throw new Error('the sampling worker must be started as a worker thread');
  const port = parentPort;
  const { config, parameters, rows, context } = workerData as WorkerStart;
  const core = new SamplingCore(config, parameters, { rows, context });
  const inbox: ToWorker[] = [];
  let wake: () => void = () => {};
  port.on('message', (messages: readonly ToWorker[]) => {
    inbox.push(...messages);
    wake();
  });
  const post = (message: FromWorker) => port.postMessage(message);
  for (;;) {
    if (inbox.length === 0 && !core.busy) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    for (const message of inbox.splice(0)) {
      if (message.type === 'close') {
        await core.close();
        post({ type: 'closed' });
        port.close();
        return;
      }
      await handle(core, message, post);
    }
    if (!core.busy) continue;
    const { completions, failure } = await core.step();
    if (completions.length > 0) post({ type: 'done', completions });
    if (failure) post({ type: 'failed', ...failure });
  }
}

async function handle(
  core: SamplingCore,
  message: Exclude<ToWorker, { type: 'close' }>,
  post: (message: FromWorker) => void,
): Promise<void> {
  switch (message.type) {
    case 'job':
      try {
        core.submit(message.job);
      } catch (error) {
        post({ type: 'failed', ids: [message.job.id], message: (error as Error).message });
      }
      return;
    case 'policy':
      core.addPolicy(message.key, message.weights);
      return;
    case 'drop':
      await core.dropPolicy(message.key);
      return;
    case 'release':
      core.releaseSequence(message.sequence);
      return;
  }
}

await main();
