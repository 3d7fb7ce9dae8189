import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findConfig } from '../../config/load.js';
import { InputError } from '../../run/errors.js';
import { writeFileWhole } from '../../run/files.js';
import { packageRoot } from '../../run/package-root.js';

/**
 * `trace init`: copies the starter project into a folder; no file that is there is touched.
 * @throws InputError when the folder has a project already, or one of the files.
 */
export function initCommand(place: string, flags: { readonly json?: boolean }): void {
  const folder = resolve(place);
  mkdirSync(folder, { recursive: true });
  const config = findConfig(folder);
  if (config !== null) {
    throw new InputError(`${config} is there already`, 'Choose another folder: `trace init FOLDER`.');
  }
  const starter = join(packageRoot(), 'examples', 'starter');
  const files: [name: string, text: string][] = readdirSync(starter)
    .filter((name) => !name.startsWith('.'))
    .sort()
    .map((name) => [name, readFileSync(join(starter, name), 'utf8')]);
  files.push(['.gitignore', '.trace/\n']);
  // A README or .gitignore that is there stays; a source file in the way is for its owner to decide.
  const taken = files.map(([name]) => name).filter((name) => existsSync(join(folder, name)));
  const inTheWay = taken.find((name) => name.endsWith('.ts'));
  if (inTheWay !== undefined) {
    throw new InputError(
      `${join(folder, inTheWay)} is there already`,
      'Choose another folder: `trace init FOLDER`.',
    );
  }
  const written = files.filter(([name]) => !taken.includes(name));
  for (const [name, text] of written) writeFileWhole(join(folder, name), text);

  const names = written.map(([name]) => name);
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ type: 'result', ok: true, folder, files: names })}\n`);
    return;
  }
  const kept = taken.length > 0 ? ` (kept: ${taken.join(', ')})` : '';
  process.stdout.write(
    `Wrote ${names.join(', ')} to ${folder}${kept}.\n` +
      `Next: trace doctor ${place}, then trace run ${place}\n`,
  );
}
