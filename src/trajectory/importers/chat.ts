import { isObject, type JsonObject, RecordError, read } from '../parse.js';
import type { AssistantMessage, Message, ToolCall, ToolSchema } from '../trajectory.js';

/** A tool result that says it failed, in formats without a flag. */
export const ERROR_RESULT = /^\s*(error\b|traceback \(most recent call last\))/i;

/** Text of a message: a string, or the text parts of a list of parts. */
export function contentText(content: unknown, field: string): string | null {
  if (content === null || content === undefined) return null;
  if (typeof content === 'string') return content;
  if (Array.isArray(content))
    return content
      .map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : ''))
      .filter((text) => text !== '')
      .join('\n');
  return read.text(content, field);
}

interface ReadCall {
  readonly call: ToolCall;
  /** Why the arguments could not be read. */
  readonly malformed?: string;
}

/**
 * One tool call, in OpenAI's form (`function: {name, arguments: JSON text}`) or flat (`name`, `arguments`).
 * Arguments that are no JSON object are part of what an agent does wrong: the call stays, without arguments,
 * and the message is marked malformed.
 */
function readCall(value: unknown, field: string): ReadCall {
  const outer = read.object(value, field);
  const called = outer.function === undefined ? outer : read.object(outer.function, `${field}.function`);
  const name = read.text(called.name, `${field}.name`);
  const id = typeof outer.id === 'string' ? outer.id : '';
  const make = (given: JsonObject): ToolCall => ({
    id,
    type: 'function',
    function: { name, arguments: given },
  });
  let given: unknown = called.arguments;
  if (typeof given === 'string') {
    try {
      given = given.trim() === '' ? {} : JSON.parse(given);
    } catch (error) {
      return { call: make({}), malformed: `arguments of ${name} are no JSON: ${(error as Error).message}` };
    }
  }
  if (given === null || given === undefined) given = {};
  if (!isObject(given)) return { call: make({}), malformed: `arguments of ${name} are no object` };
  return { call: make(given) };
}

/**
 * What a benchmark noted against the form of a turn (τ²-bench's `errors`; the reason stands at the end). It counts
 * where nothing is left of the turn: text beside calls is noted too, but the attempt goes on with both.
 */
function formErrors({ errors, content, tool_calls }: JsonObject): string[] {
  const empty = !content && !(Array.isArray(tool_calls) && tool_calls.length > 0);
  if (!Array.isArray(errors) || !empty) return [];
  return errors
    .filter((error) => typeof error === 'string')
    .map((error) => error.split('Error: ').at(-1)!.trim());
}

export function readAssistant(message: JsonObject, field: string): AssistantMessage {
  const calls = message.tool_calls ?? [];
  const readCalls = read
    .list(calls, `${field}.tool_calls`)
    .map((call, i) => readCall(call, `${field}.tool_calls[${i}]`));
  const malformed = [
    ...readCalls.flatMap((call) => (call.malformed ? [call.malformed] : [])),
    ...formErrors(message),
  ].join('; ');
  const reasoning = message.reasoning_content ?? message.reasoning;
  return {
    role: 'assistant',
    content: contentText(message.content, `${field}.content`),
    ...(readCalls.length > 0 ? { tool_calls: readCalls.map(({ call }) => call) } : {}),
    ...(typeof reasoning === 'string' && reasoning !== '' ? { reasoning } : {}),
    ...(malformed ? { malformed } : {}),
  };
}

/** A message in OpenAI's chat form. @throws RecordError naming the field. */
export function readChatMessage(value: unknown, field: string): Message {
  const message = read.object(value, field);
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: contentText(message.content, `${field}.content`) ?? '' };
    case 'user':
      return { role: 'user', content: contentText(message.content, `${field}.content`) ?? '' };
    case 'assistant':
      return readAssistant(message, field);
    case 'tool': {
      const content = contentText(message.content, `${field}.content`) ?? '';
      const id = message.tool_call_id ?? message.id;
      const failed = typeof message.error === 'boolean' ? message.error : ERROR_RESULT.test(content);
      return {
        role: 'tool',
        content,
        tool_call_id: typeof id === 'string' ? id : '',
        ...(typeof message.name === 'string' ? { name: message.name } : {}),
        ...(failed ? { error: true } : {}),
      };
    }
    default:
      throw new RecordError(
        `field ${field}.role must be system, user, assistant or tool, but is ${JSON.stringify(message.role)}`,
      );
  }
}

/** Function schemas in OpenAI's form or bare; what is neither is left out. */
export function readTools(value: unknown): ToolSchema[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item): ToolSchema[] => {
    const called = isObject(item) && isObject(item.function) ? item.function : item;
    if (!isObject(called) || typeof called.name !== 'string') return [];
    const parameters = called.parameters ?? called.input_schema;
    return [
      {
        type: 'function',
        function: {
          name: called.name,
          ...(typeof called.description === 'string' ? { description: called.description } : {}),
          parameters: isObject(parameters) ? parameters : { type: 'object', properties: {} },
        },
      },
    ];
  });
}

/** Names of all tools called in a conversation. */
export function calledTools(messages: readonly Message[]): string[] {
  return messages.flatMap((message) =>
    message.role === 'assistant' ? (message.tool_calls ?? []).map((call) => call.function.name) : [],
  );
}
