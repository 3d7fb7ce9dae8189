import { isObject } from '../parse.js';
import { isOneConversation, readChats } from './chat-import.js';
import { messagesIn } from './chat-record.js';
import type { Importer } from './importer.js';

/**
 * Conversations in OpenAI's form, one a record: JSONL, a JSON list, an object that holds the list, Parquet rows, a
 * bare list of messages. Asked last: many particular formats hold such messages too.
 */
export const openaiChatImporter: Importer = {
  name: 'openai-chat',
  title:
    'chats in OpenAI’s form (messages, tools, tool_calls; reward, score, success, resolved or label beside them)',
  matches: (sample) =>
    isOneConversation(sample) ||
    (sample.kind !== 'folder' &&
      sample.kind !== 'zip' &&
      sample.records.some(
        (record) =>
          filled(record) || (isObject(record) && isObject(record.request) && filled(record.request)),
      )),
  read: (path, options) => readChats(path, 'openai-chat', options),
};

const filled = (record: unknown) => (messagesIn(record)?.list.length ?? 0) > 0;
