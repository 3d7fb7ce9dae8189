import { TraceError } from '../../run/errors.js';

/** The environment broke a rule of the sandbox, or its process ended: it is closed for good. */
export class SandboxError extends TraceError {
  override readonly name = 'SandboxError';

  constructor(message: string) {
    super(
      `the environment was stopped by its sandbox: ${message}`,
      'Look at its environment.ts: an environment answers at once, with plain data, and needs little memory.',
    );
  }
}
