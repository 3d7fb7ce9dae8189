import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

/**
 * Starts a worker thread.
 * @param script URL of the compiled script (`new URL('./name.js', import.meta.url)`). Where only its TypeScript
 *   source exists, as in development, the thread loads that; it needs the development package tsx.
 * @param data handed to the script as `workerData`.
 */
export function startWorker(script: URL, data: unknown): Worker {
  if (existsSync(fileURLToPath(script))) return new Worker(script, { workerData: data });
  const source = script.href.replace(/\.js$/, '.ts');
  const loader = import.meta.resolve('tsx/esm/api');
  const code = `import(${JSON.stringify(loader)}).then(({ register }) => { register(); return import(${JSON.stringify(source)}); });`;
  return new Worker(code, { workerData: data, eval: true });
}
