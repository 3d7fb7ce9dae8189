import type { AssistantMessage, Message, ToolCall } from '../../trajectory/trajectory.js';
import { callsOf, textOf } from './messages.js';
import { fromPlain, toPlain } from './python/json.js';
import { type Args, type Dict, isDict } from './python/value.js';
import type { Requestor } from './task.js';

/** The benchmark's messages, and how each side sees them. */

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly requestor: Requestor;
  readonly arguments: Args;
}

/** The calls of a message of one side. */
export const callsFrom = (message: Dict, side: Requestor): Call[] =>
  callsOf(message).map((call) => ({
    id: String(call.get('id') ?? ''),
    name: String(call.get('name')),
    requestor: side,
    arguments: isDict(call.get('arguments')) ? (call.get('arguments') as Dict) : new Map(),
  }));

/** A participant's turn as a message of the benchmark. */
export function turnMessage(side: Requestor, turn: AssistantMessage): Dict {
  const calls = turn.tool_calls ?? [];
  return new Map<string, unknown>([
    ['role', side],
    ['content', turn.content],
    [
      'tool_calls',
      calls.length === 0
        ? null
        : calls.map(
            ({ id, function: { name, arguments: args } }) =>
              new Map<string, unknown>([
                ['id', id],
                ['name', name],
                ['arguments', fromPlain(args)],
                ['requestor', side],
              ]),
          ),
    ],
  ]);
}

export const answerMessage = (call: Call, content: string, error: boolean): Dict =>
  new Map<string, unknown>([
    ['id', call.id],
    ['role', 'tool'],
    ['content', content],
    ['requestor', call.requestor],
    ['error', error],
  ]);

function toolCalls(message: Dict): ToolCall[] {
  return callsFrom(message, 'assistant').map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: toPlain(args) as { readonly [name: string]: unknown } },
  }));
}

/** The message as the agent or the user sees it; null where it is the other side's own business. */
export function seenBy(viewer: Requestor, message: Dict): Message | null {
  const role = message.get('role');
  const content = textOf(message);
  if (role === 'tool') {
    if ((message.get('requestor') ?? 'assistant') !== viewer) return null;
    return {
      role: 'tool',
      content,
      tool_call_id: String(message.get('id')),
      ...(message.get('error') === true && { error: true }),
    };
  }
  const calls = toolCalls(message);
  if (role === viewer)
    return {
      role: 'assistant',
      content: content === '' ? null : content,
      ...(calls.length > 0 && { tool_calls: calls }),
    };
  return calls.length > 0 ? null : { role: 'user', content };
}
