import { isObject } from '../parse.js';
import { readChats } from './chat-import.js';
import { messagesIn } from './chat-record.js';
import type { Importer } from './importer.js';

/** Content blocks that only Anthropic's messages have. */
const BLOCKS: readonly unknown[] = [
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
  'server_tool_use',
];

const hasBlocks = (message: unknown) =>
  isObject(message) &&
  Array.isArray(message.content) &&
  message.content.some((block) => isObject(block) && BLOCKS.includes(block.type));

function isAnthropic(record: unknown): boolean {
  const outer = isObject(record) && isObject(record.request) ? record.request : record;
  const found = messagesIn(outer);
  if (!found) return hasBlocks(record);
  if (found.list.some(hasBlocks)) return true;
  const tools = isObject(outer) && Array.isArray(outer.tools) ? outer.tools : [];
  return tools.some((tool) => isObject(tool) && isObject(tool.input_schema));
}

/** Conversations of Anthropic's messages API, with `system` and `tools` beside them. */
export const anthropicImporter: Importer = {
  name: 'anthropic',
  title: 'Anthropic messages (content blocks text, tool_use, tool_result, thinking; system beside them)',
  matches: (sample) => sample.kind !== 'folder' && sample.kind !== 'zip' && sample.records.some(isAnthropic),
  read: (path, options) => readChats(path, 'anthropic', options),
};
