import { basename, relative } from 'node:path';
import { type DiagnosisOrigin, originOfFiles } from '../report/diagnosis-origin.js';

/** Options that say where results go or how a command goes on; they do not belong to what it found. */
const ASIDE: ReadonlySet<string> = new Set(['out', 'json', 'resume', 'export']);

/**
 * Where a diagnosis of files comes from. Paths are named from the folder that the command runs in, so that a
 * diagnosis that was resumed is the same as one that was not.
 * @param flags options as the command line hands them over, by their camelCase names.
 */
export function commandOrigin(files: readonly string[], flags: object): DiagnosisOrigin {
  const options = Object.entries(flags as { [name: string]: unknown }).flatMap(([name, value]) => {
    if (ASIDE.has(name) || value === undefined || value === null || value === false) return [];
    const option = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (value === true) return [option];
    return (Array.isArray(value) ? value : [value]).flatMap((item) => [option, String(item)]);
  });
  const named = files.map((file) => relative(process.cwd(), file) || file);
  const { importRaters } = flags as { readonly importRaters?: string };
  const origin = originOfFiles(named, options);
  return named.length > 0 || importRaters === undefined
    ? origin
    : { ...origin, title: basename(importRaters) };
}
