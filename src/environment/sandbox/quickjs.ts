import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Launch } from './bubblewrap.js';
import type { SandboxLimits } from './limits.js';
import { programText } from './program-text.js';

/**
 * A Node process without environment around QuickJS in WebAssembly. The generated code is interpreted there and sees
 * the language alone; the process may read QuickJS's own files and nothing else, where Node can hold it to that.
 */
export function quickjsLaunch(limits: SandboxLimits): Launch {
  const entry = realpathSync(createRequire(import.meta.url).resolve('quickjs-emscripten'));
  const modules = entry.slice(0, entry.lastIndexOf('node_modules') + 'node_modules'.length);
  const flags = process.allowedNodeEnvironmentFlags;
  const permission = ['--permission', '--experimental-permission'].find((flag) => flags.has(flag));
  return {
    command: process.execPath,
    args: [
      '--no-warnings',
      `--max-old-space-size=${limits.memoryMiB}`,
      ...(permission ? [permission, `--allow-fs-read=${modules}/*`] : []),
      '-e',
      programText('quickjs-driver'),
      entry,
    ],
    descriptor3: null,
  };
}
