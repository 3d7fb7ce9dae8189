import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import type { SandboxLimits } from './limits.js';
import { programText } from './program-text.js';
import { seccompFilter } from './seccomp.js';

/** How a process is started whose standard input and output carry lines. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  /** Content of file descriptor 3. */
  readonly descriptor3: Uint8Array | null;
}

/** Memory of Node itself beside heap and buffers: code, stacks of its threads. */
const OWN_MIB = 512;

let libraries: readonly string[] | null = null;

/** Shared objects that this Node needs, by the path under which the loader looks for them. */
function nodeLibraries(): readonly string[] {
  libraries ??= (
    JSON.parse(
      execFileSync(
        process.execPath,
        [
          '-e',
          'process.report.excludeNetwork = true; console.log(JSON.stringify(process.report.getReport().sharedObjects))',
        ],
        { env: {}, encoding: 'utf8', timeout: 30_000 },
      ),
    ) as string[]
  ).filter((path) => path.startsWith('/') && path !== process.execPath);
  return libraries;
}

/**
 * Node inside bubblewrap: namespaces of its own (users, processes, network, …), a read-only root that holds the
 * program and its libraries and nothing else, no environment, no capabilities, a filter of system calls, and limits of
 * memory.
 * @throws Error where this machine cannot have it.
 */
export function bubblewrapLaunch(limits: SandboxLimits): Launch {
  if (process.platform !== 'linux') throw new Error('bubblewrap is there on Linux only');
  const filter = seccompFilter();
  if (!filter) throw new Error(`no filter of system calls for ${process.arch}`);
  const bound = [process.execPath, ...nodeLibraries()].flatMap((path) => [
    '--ro-bind',
    realpathSync(path),
    path,
  ]);
  const node = [
    process.execPath,
    '--disallow-code-generation-from-strings',
    '--disable-proto=delete',
    '--no-warnings',
    '--no-expose-wasm',
    `--max-old-space-size=${limits.memoryMiB}`,
    '-e',
    programText('node-driver'),
  ];
  const kibibytes = (2 * limits.memoryMiB + OWN_MIB) * 1024;
  return {
    command: '/bin/sh',
    args: [
      '-c',
      `ulimit -c 0 && ulimit -d ${kibibytes} && ulimit -n 64 && PATH=/usr/bin:/bin:/usr/local/bin exec bwrap "$@"`,
      'sh',
      ...['--unshare-all', '--unshare-user', '--die-with-parent', '--new-session', '--clearenv'],
      ...['--cap-drop', 'ALL', '--uid', '65534', '--gid', '65534', '--hostname', 'sandbox'],
      ...bound,
      ...['--remount-ro', '/', '--chdir', '/', '--seccomp', '3', '--'],
      ...node,
    ],
    descriptor3: filter,
  };
}
