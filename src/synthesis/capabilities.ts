import { existsSync, readFileSync } from 'node:fs';
import type { Capability } from '../analyst/contract.js';
import { InputError } from '../run/errors.js';
import { runPaths } from '../run/paths.js';

/**
 * Retained capabilities of a run, in the diagnosis' order (greatest contrastive gap first).
 * @throws InputError when the diagnosis is missing or its file is damaged.
 */
export function retainedCapabilities(folder: string): Capability[] {
  const path = runPaths.capabilities(folder);
  if (!existsSync(path))
    throw new InputError(`${path}: there is no diagnosis`, 'Run the step `diagnose` first.');
  let content: { readonly capabilities?: unknown };
  try {
    content = JSON.parse(readFileSync(path, 'utf8')) as typeof content;
  } catch (error) {
    throw new InputError(
      `${path} is not valid JSON: ${(error as Error).message}`,
      'Run the step `diagnose` again.',
    );
  }
  if (!Array.isArray(content.capabilities))
    throw new InputError(`${path}: capabilities is no list`, 'Run the step `diagnose` again.');
  return content.capabilities.flatMap((entry: unknown, i): Capability[] => {
    const { name, definition, retained } = (entry ?? {}) as { [key: string]: unknown };
    if (typeof name !== 'string' || !/^[a-z][a-z0-9_]*$/.test(name) || typeof definition !== 'string')
      throw new InputError(
        `${path}: capabilities[${i}] needs a snake_case name and a definition`,
        'Mend the entry, or run the step `diagnose` again.',
      );
    return retained === true ? [{ name, definition }] : [];
  });
}
