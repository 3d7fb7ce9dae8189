import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../../run/errors.js';
import type { CapabilityEnvironment } from '../contract.js';
import { loadCapabilityEnvironment } from '../load-generated.js';
import { openSandboxed, type SandboxOptions } from './open.js';

/**
 * Where a generated environment runs: in this process, in a sandbox, or (`auto`) in this process where its text is
 * known to be harmless and in a sandbox otherwise.
 */
export type LoadMode = 'trusted' | 'sandbox' | 'auto';

/** Environment variable that sets the mode of a whole run; absent: `trusted`. */
export const MODE_VARIABLE = 'TRACE_ENVIRONMENTS';

export interface LoadOptions extends SandboxOptions {
  readonly mode?: LoadMode;
  /** Whether `auto` may run a text in this process; absent: none. */
  readonly isTrusted?: (source: string) => boolean;
}

/** An environment and how to be done with it. */
export type LoadedEnvironment = CapabilityEnvironment & { close?(): Promise<void> };

/**
 * Loads a generated environment from its folder in the asked mode.
 * @throws InputError when the mode is none; what `loadCapabilityEnvironment` and `openSandboxed` throw.
 */
export async function loadEnvironment(folder: string, options: LoadOptions = {}): Promise<LoadedEnvironment> {
  const mode = options.mode ?? modeFromEnvironment();
  if (mode === 'trusted') return loadCapabilityEnvironment(folder);
  if (mode === 'auto' && options.isTrusted?.(readFileSync(join(folder, 'environment.ts'), 'utf8')))
    return loadCapabilityEnvironment(folder);
  return openSandboxed(folder, options);
}

export function modeFromEnvironment(): LoadMode {
  const value = process.env[MODE_VARIABLE] ?? 'trusted';
  if (value === 'trusted' || value === 'sandbox' || value === 'auto') return value;
  throw new InputError(`${MODE_VARIABLE} is "${value}"`, 'It may be trusted, sandbox or auto.');
}
