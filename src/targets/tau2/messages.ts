import { type Dict, isDict } from './python/value.js';
import type { RecordedCall, Requestor } from './task.js';

/** A conversation whose tool messages do not answer its tool calls. */
export class ConversationError extends Error {
  override readonly name = 'ConversationError';
}

/** The tool calls of a message, in order. */
export function callsOf(message: Dict): readonly Dict[] {
  const calls = message.get('tool_calls');
  return Array.isArray(calls) ? calls.filter(isDict) : [];
}

/**
 * The tool calls of a conversation in the benchmark's message form, each with its answer.
 * @throws ConversationError where a call's answer is missing or stands elsewhere.
 */
export function recordedCalls(messages: readonly Dict[]): RecordedCall[] {
  const found: RecordedCall[] = [];
  const queue = unpacked(messages);
  for (let at = 0; at < queue.length; at++) {
    const message = queue[at] as Dict;
    if (message.get('role') === 'tool')
      throw new ConversationError(`message ${at}: a tool message without a call before it`);
    for (const call of callsOf(message)) {
      const answer = queue[++at];
      if (answer?.get('role') !== 'tool')
        throw new ConversationError(`message ${at}: the answer to ${String(call.get('name'))} is missing`);
      const id = String(call.get('id') ?? '');
      if (String(answer.get('id') ?? '') !== id)
        throw new ConversationError(
          `message ${at}: answers ${String(answer.get('id'))}, but the call is ${id}`,
        );
      found.push({
        id,
        name: String(call.get('name')),
        requestor: requestorOf(call, message),
        arguments: isDict(call.get('arguments')) ? (call.get('arguments') as Dict) : new Map(),
        content: String(answer.get('content') ?? ''),
      });
    }
  }
  return found;
}

function requestorOf(call: Dict, message: Dict): Requestor {
  const named = call.get('requestor') ?? message.get('role');
  return named === 'user' ? 'user' : 'assistant';
}

/** Several answers may be packed in one message. */
function unpacked(messages: readonly Dict[]): Dict[] {
  return messages.flatMap((message) => {
    const parts = message.get('tool_messages');
    return Array.isArray(parts) ? parts.filter(isDict) : [message];
  });
}

/** A message's text; empty where it has none. */
export function textOf(message: Dict): string {
  const content = message.get('content');
  return typeof content === 'string' ? content : '';
}
