import { parseDocument } from 'yaml';
import { z } from 'zod';
import { InputError } from '../../run/errors.js';
import type { JsonSchema } from '../../trajectory/trajectory.js';

/** A markdown prompt as it stands in a file. */
export interface PromptFile {
  /** `label`, or with its family `tool-use/label`. */
  readonly id: string;
  /** Absolute path. */
  readonly file: string;
  /** Where it was found: with the package, or in the project, which overrides the package. */
  readonly origin: 'package' | 'project';
  /** One line for people. */
  readonly purpose: string;
  /** Names that the text may use as `{{name}}`, each with a few words on what it holds. */
  readonly inputs: { readonly [name: string]: string };
  /** JSON Schema of the answer. */
  readonly output: JsonSchema;
  /** Instructions, the system message. */
  readonly system: string;
  /**
   * The user message, cut where requests that differ only in what follows may share what stands before (prompt
   * caches).
   */
  readonly user: readonly string[];
  /** The file's whole text. */
  readonly text: string;
}

const frontMatter = z.strictObject({
  purpose: z.string().min(1),
  inputs: z.record(
    z.string().regex(/^[a-z][a-z_]*$/, 'input names are written small_with_underscores'),
    z.string(),
  ),
  output: z.record(z.string(), z.unknown()),
});

const FENCE = /^---\r?\n([\s\S]*?)\r?\n---[ \t]*\r?\n/;
const USER = /^<!--\s*user\s*-->[ \t]*$/m;
const CACHE = /^<!--\s*cache\s*-->[ \t]*$/m;
export const PLACEHOLDER = /\{\{\s*([a-z][a-z_]*)\s*\}\}/g;

/**
 * Reads a prompt: YAML front matter (`purpose`, `inputs`, `output`), the system message, a line `<!-- user -->`, the
 * user message; in it lines `<!-- cache -->` may mark what a provider's prompt cache can keep.
 * @throws InputError naming the file and what is wrong with it.
 */
export function parsePromptFile(
  text: string,
  place: { readonly id: string; readonly file: string; readonly origin: PromptFile['origin'] },
): PromptFile {
  const wrong = (what: string, mend: string) => new InputError(`${place.file}: ${what}`, mend);
  const fence = FENCE.exec(text);
  if (!fence)
    throw wrong(
      'a prompt begins with front matter between two lines `---`',
      `\`trace prompts show ${place.id}\` shows one that is right.`,
    );
  const document = parseDocument(fence[1]!);
  const error = document.errors[0];
  if (error) {
    const line = error.linePos?.[0].line;
    throw wrong(
      `front matter${line === undefined ? '' : `, line ${line + 1}`}: ${error.message.split('\n')[0]}`,
      'It is YAML.',
    );
  }
  const parsed = frontMatter.safeParse(document.toJS());
  if (!parsed.success)
    throw wrong(
      `front matter: ${parsed.error.issues.map((issue) => `${issue.path.join('.') || '(all)'}: ${issue.message}`).join('; ')}`,
      'It holds purpose (text), inputs (name: what it is) and output (a JSON Schema).',
    );
  try {
    z.fromJSONSchema(parsed.data.output as z.core.JSONSchema.JSONSchema);
  } catch (cause) {
    throw wrong(
      `front matter: output is no JSON Schema: ${cause instanceof Error ? cause.message : String(cause)}`,
      'Compare it with the one that comes with TRACE.',
    );
  }
  const body = text.slice(fence[0].length);
  const [system = '', user, more] = body.split(USER);
  if (user === undefined || more !== undefined)
    throw wrong(
      'one line `<!-- user -->` has to stand between the instructions and what is to be read',
      'Put one before the first input.',
    );
  for (const [, name] of body.matchAll(PLACEHOLDER))
    if (!(name! in parsed.data.inputs))
      throw wrong(
        `{{${name}}} is not among its inputs`,
        `Its inputs are ${Object.keys(parsed.data.inputs).join(', ')}.`,
      );
  return {
    ...place,
    ...parsed.data,
    system: system.trim(),
    user: user
      .split(CACHE)
      .map((part) => part.trim())
      .filter((part) => part !== ''),
    text,
  };
}
