import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../../run/errors.js';
import { packageRoot } from '../../run/package-root.js';
import { type PromptFile, parsePromptFile } from './prompt-file.js';

/** Families that come with TRACE; each has its own folder of prompts. */
export const FAMILIES = ['general', 'tool-use', 'code-repair'] as const;
export type Family = (typeof FAMILIES)[number];

/** Family whose prompt stands in for one that a family does not have. */
const FALLBACK: Family = 'general';
const ID = /^(?:[a-z][a-z-]*\/)?[a-z][a-z-]*$/;

/** The prompts that come with TRACE, and those of a project, which override them file by file. */
export class PromptLibrary {
  readonly #folders: readonly { readonly origin: PromptFile['origin']; readonly folder: string }[];

  /** @param project absolute folder whose `prompts/` overrides; null: none. */
  constructor(project: string | null) {
    const own = join(packageRoot(), 'prompts');
    const given = project === null ? null : join(project, 'prompts');
    this.#folders = [
      ...(given !== null && given !== own ? [{ origin: 'project' as const, folder: given }] : []),
      { origin: 'package' as const, folder: own },
    ];
  }

  /** Every prompt by its id, sorted; the project's where it has one. @throws InputError for a wrong file. */
  list(): PromptFile[] {
    const ids = new Set(this.#folders.flatMap(({ folder }) => idsUnder(folder)));
    return [...ids].sort().map((id) => this.get(id));
  }

  /** The prompt with this id. @throws InputError when there is none, or its file is wrong. */
  get(id: string): PromptFile {
    const found = this.#find(id);
    if (found) return found;
    const known = [...new Set(this.#folders.flatMap(({ folder }) => idsUnder(folder)))].sort();
    throw new InputError(`there is no prompt "${id}"`, `There are ${known.join(', ')}.`);
  }

  /** A family's prompt, or the general one where the family has none. @throws InputError */
  of(family: string, name: string): PromptFile {
    return this.#find(`${family}/${name}`) ?? this.get(`${FALLBACK}/${name}`);
  }

  #find(id: string): PromptFile | null {
    if (!ID.test(id)) return null;
    for (const place of this.#folders) {
      const found = this.#read(place, id);
      if (found) return found;
    }
    return null;
  }

  #read(place: { origin: PromptFile['origin']; folder: string }, id: string): PromptFile | null {
    const file = join(place.folder, `${id}.md`);
    if (!existsSync(file)) return null;
    return parsePromptFile(readFileSync(file, 'utf8'), { id, file, origin: place.origin });
  }
}

/** Ids of the markdown files of a folder and of its subfolders, one deep. */
function idsUnder(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const names = (below: string) =>
    readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      return entry.isFile() && path.endsWith('.md') ? [path.slice(0, -'.md'.length)] : [];
    });
  const families = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return ['', ...families.map((entry) => entry.name)].flatMap(names).filter((id) => ID.test(id));
}
