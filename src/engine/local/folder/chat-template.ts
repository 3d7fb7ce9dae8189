import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The Jinja chat template of a Hugging Face folder: `chat_template.jinja` (since transformers 4.51), else
 * `chat_template` in `tokenizer_config.json`, a string or a list of named templates. As in transformers, one named
 * "tool_use" (in the list, or as `additional_chat_templates/tool_use.jinja`) serves conversations with tools and
 * "default" the others: both are joined into one template. Null when there is none.
 * @throws Error when the list has no default template.
 */
export function readChatTemplate(
  folder: string,
  tokenizerConfig: Readonly<Record<string, unknown>>,
): string | null {
  const file = join(folder, 'chat_template.jinja');
  if (existsSync(file)) {
    const tools = join(folder, 'additional_chat_templates', 'tool_use.jinja');
    const usual = readFileSync(file, 'utf8');
    return existsSync(tools) ? eitherTemplate(readFileSync(tools, 'utf8'), usual) : usual;
  }
  const template = tokenizerConfig.chat_template;
  if (template === null || template === undefined) return null;
  if (typeof template === 'string') return template;
  if (Array.isArray(template)) {
    const named = (name: string): string | undefined => {
      const item = (template as readonly { name?: unknown; template?: unknown }[]).find(
        (item) => item?.name === name && typeof item.template === 'string',
      );
      return item?.template as string | undefined;
    };
    const usual = named('default');
    const tools = named('tool_use');
    if (usual !== undefined) return tools === undefined ? usual : eitherTemplate(tools, usual);
  }
  throw new Error(
    `${join(folder, 'tokenizer_config.json')}: "chat_template" must be a string or a list with one named "default"`,
  );
}

function eitherTemplate(tools: string, usual: string): string {
  return `{% if tools %}${tools}{% else %}${usual}{% endif %}`;
}
