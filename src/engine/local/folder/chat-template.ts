import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The Jinja chat template of a Hugging Face folder: `chat_template.jinja` (since transformers 4.51), else
 * `chat_template` in `tokenizer_config.json`, a string or a list of named templates of which "default" is
 * taken. Null when there is none.
 * @throws Error when the list has no default template.
 */
export function readChatTemplate(
  folder: string,
  tokenizerConfig: Readonly<Record<string, unknown>>,
): string | null {
  const file = join(folder, 'chat_template.jinja');
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const template = tokenizerConfig.chat_template;
  if (template === null || template === undefined) return null;
  if (typeof template === 'string') return template;
  if (Array.isArray(template)) {
    for (const item of template as readonly { name?: unknown; template?: unknown }[]) {
      if (item?.name === 'default' && typeof item.template === 'string') return item.template;
    }
  }
  throw new Error(
    `${join(folder, 'tokenizer_config.json')}: "chat_template" must be a string or a list with one named "default"`,
  );
}
