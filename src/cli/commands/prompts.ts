import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { FAMILIES, PromptLibrary } from '../../analyst/prompts/library.js';
import type { PromptFile } from '../../analyst/prompts/prompt-file.js';
import { InputError } from '../../run/errors.js';
import { writeFileWhole } from '../../run/files.js';
import { colorsFor } from '../terminal/colors.js';

/** Options of `trace prompts`. */
export interface PromptsFlags {
  /** The project whose prompts override; absent: this folder. */
  readonly project?: string;
  readonly json?: boolean;
  /** Of `eject`: every prompt; overwrite what is there. */
  readonly all?: boolean;
  readonly force?: boolean;
}

const projectOf = (flags: PromptsFlags): string => {
  const folder = resolve(flags.project ?? '.');
  if (!existsSync(folder)) throw new InputError(`--project ${flags.project}: there is no such folder`);
  return folder;
};

const summaryOf = ({ id, origin, file, purpose, inputs }: PromptFile) => ({
  id,
  origin,
  file,
  purpose,
  inputs: Object.keys(inputs),
});

/** `trace prompts list`. @throws InputError for a prompt of the project that is wrong. */
export function listPrompts(flags: PromptsFlags): void {
  const prompts = new PromptLibrary(projectOf(flags)).list();
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ families: FAMILIES, prompts: prompts.map(summaryOf) })}\n`);
    return;
  }
  const colors = colorsFor(process.stdout);
  const width = Math.max(...prompts.map(({ id }) => id.length));
  for (const { id, origin, purpose } of prompts) {
    const mark = origin === 'project' ? colors.yellow('project') : colors.dim('trace  ');
    process.stdout.write(`${id.padEnd(width)}  ${mark}  ${purpose}\n`);
  }
  process.stdout.write(
    `\n${colors.dim('trace prompts show ID prints one, trace prompts eject ID copies it into the project to be changed')}\n`,
  );
}

/** `trace prompts show ID`. @throws InputError when there is none, or it is wrong. */
export function showPrompt(id: string, flags: PromptsFlags): void {
  const prompt = new PromptLibrary(projectOf(flags)).get(id);
  if (flags.json) {
    const { output, system, user, text } = prompt;
    const shown = { ...summaryOf(prompt), inputs: prompt.inputs, output, system, user, text };
    process.stdout.write(`${JSON.stringify(shown)}\n`);
    return;
  }
  process.stdout.write(prompt.text.endsWith('\n') ? prompt.text : `${prompt.text}\n`);
}

/**
 * `trace prompts eject ID…`: copies prompts that come with TRACE into the project, where they override.
 * @throws InputError when a file is there already (unless `force`), or there is no such prompt.
 */
export function ejectPrompts(ids: readonly string[], flags: PromptsFlags): void {
  const project = projectOf(flags);
  const packaged = new PromptLibrary(null);
  if (ids.length === 0 && !flags.all)
    throw new InputError('no prompt to eject', 'Name one (`trace prompts list` shows them), or use --all.');
  const chosen = flags.all ? packaged.list() : ids.map((id) => packaged.get(id));
  const written = chosen.map(({ id, text }) => ({ id, text, file: join(project, 'prompts', `${id}.md`) }));
  const taken = written.filter(({ file }) => existsSync(file));
  if (taken.length > 0 && !flags.force)
    throw new InputError(
      taken.map(({ file }) => `${file} is there already`).join('\n'),
      'Keep it, or overwrite it with --force.',
    );
  for (const { file, text } of written) writeFileWhole(file, text);
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ written: written.map(({ id, file }) => ({ id, file })) })}\n`);
    return;
  }
  for (const { file } of written) process.stdout.write(`${relative(process.cwd(), file)}\n`);
  process.stdout.write('Change them as you like: they are read instead of those that come with TRACE.\n');
}
