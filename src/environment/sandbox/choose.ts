import { bubblewrapLaunch, type Launch } from './bubblewrap.js';
import { SandboxConnection } from './connection.js';
import { SANDBOX_LIMITS, type SandboxKind, type SandboxLimits } from './limits.js';
import { quickjsLaunch } from './quickjs.js';

/** What was found of a sandbox on this machine. */
export interface SandboxTrial {
  readonly kind: SandboxKind;
  /** Why it cannot be had; null when it works. */
  readonly failure: string | null;
}

export function launchOf(kind: SandboxKind, limits: SandboxLimits): Launch {
  return kind === 'bubblewrap' ? bubblewrapLaunch(limits) : quickjsLaunch(limits);
}

/**
 * Starts bubblewrap for once and lets a program of our own try what generated code must not be able to do: read and
 * write files, see the environment, start a process, send a signal.
 */
export async function tryBubblewrap(): Promise<SandboxTrial> {
  let connection: SandboxConnection | null = null;
  try {
    connection = new SandboxConnection(bubblewrapLaunch(SANDBOX_LIMITS), SANDBOX_LIMITS);
    const { environment, ...attempts } = await connection.start('probe', { probe: true });
    const open = Object.entries(attempts).filter(([, found]) => found.startsWith('open'));
    if (environment.length > 0) open.push(['environment', environment.join(' ')]);
    return {
      kind: 'bubblewrap',
      failure: open.length > 0 ? `it lets through: ${open.map(([name]) => name).join(', ')}` : null,
    };
  } catch (error) {
    return { kind: 'bubblewrap', failure: (error as Error).message };
  } finally {
    await connection?.close();
  }
}

let chosen: Promise<SandboxKind> | null = null;

/** Bubblewrap where a trial of it succeeds, QuickJS elsewhere; tried once in a process. */
export function chooseSandbox(): Promise<SandboxKind> {
  chosen ??= tryBubblewrap().then(({ failure }) => (failure === null ? 'bubblewrap' : 'quickjs'));
  return chosen;
}
