import { isObject, type JsonObject, RecordError, read } from '../parse.js';
import type { AssistantMessage, Message, ToolCall, ToolMessage, ToolSchema } from '../trajectory.js';

/** A tool result that says it failed, in formats without a flag. */
export const ERROR_RESULT = /^\s*(error\b|traceback \(most recent call last\))/i;

/** Blocks that are no text for a reader: they are calls, results or thinking, and read elsewhere. */
const NO_TEXT = new Set([
  'tool_use',
  'server_tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
  'reasoning',
]);

/** A value that is no text, as JSON. @throws RecordError when it is nested too deeply. */
export function jsonText(value: unknown, field: string): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    throw new RecordError(`field ${field} is nested too deeply`);
  }
}

/** Text of one content block: its text; pictures, sounds and files as their type in brackets. */
function blockText(block: unknown, field: string): string {
  if (typeof block === 'string') return block;
  if (!isObject(block)) return jsonText(block, field);
  for (const key of ['text', 'refusal', 'content'] as const)
    if (typeof block[key] === 'string') return block[key];
  if (typeof block.type !== 'string') return jsonText(block, field);
  return NO_TEXT.has(block.type) ? '' : `[${block.type}]`;
}

/** Text of a message: a string, the blocks of a list joined by line ends, or the JSON of anything else. */
export function contentText(content: unknown, field: string): string | null {
  if (content === null || content === undefined) return null;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content))
    return isObject(content) ? blockText(content, field) : jsonText(content, field);
  return content
    .map((block, i) => blockText(block, `${field}[${i}]`))
    .filter((text) => text !== '')
    .join('\n');
}

/** Arguments of a tool call; `malformed` says why they could not be read, with the text that was given. */
export interface ReadArguments {
  readonly given: JsonObject;
  readonly malformed?: string;
}

/**
 * Arguments as an object, from one or from its JSON text. What is neither is part of what an agent does wrong: the
 * call stays, without arguments, and what was given stands in `malformed`.
 * @throws RecordError for arguments nested deeper than any tool's.
 */
export function parseArguments(value: unknown, name: string, field: string): ReadArguments {
  let given = value ?? {};
  if (typeof given === 'string') {
    const text = given;
    try {
      given = text.trim() === '' ? {} : ((JSON.parse(text) as unknown) ?? {});
    } catch {
      return { given: {}, malformed: `arguments of ${name} are no JSON: ${text}` };
    }
  }
  if (!isObject(given))
    return { given: {}, malformed: `arguments of ${name} are no object: ${jsonText(given, field)}` };
  return { given: read.plain(given, field) };
}

export interface ReadCall {
  readonly call: ToolCall;
  readonly malformed?: string;
}

/** One tool call, in OpenAI's form (`function: {name, arguments: JSON text}`) or flat (`name`, `arguments` or `input`). */
export function readCall(value: unknown, field: string): ReadCall {
  const outer = read.object(value, field);
  const called = isObject(outer.function) ? outer.function : outer;
  const name = read.text(called.name, `${field}.name`);
  const id = outer.id ?? outer.call_id;
  const { given, malformed } = parseArguments(called.arguments ?? called.input, name, `${field}.arguments`);
  const call: ToolCall = {
    id: typeof id === 'string' ? id : '',
    type: 'function',
    function: { name, arguments: given },
  };
  return malformed === undefined ? { call } : { call, malformed };
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

/** Thinking of a turn: a field beside the content, or blocks of it. */
function thinking(message: JsonObject): string {
  const beside = message.reasoning_content ?? message.reasoning ?? message.thinking;
  if (typeof beside === 'string') return beside;
  if (!Array.isArray(message.content)) return '';
  return message.content
    .flatMap((block) => {
      if (!isObject(block)) return [];
      const text =
        block.type === 'thinking' ? block.thinking : block.type === 'reasoning' ? block.text : null;
      return typeof text === 'string' && text !== '' ? [text] : [];
    })
    .join('\n');
}

/** The calls of a turn: `tool_calls`, the older `function_call`, and blocks of type `tool_use`. */
function callsOf({ tool_calls, function_call, content }: JsonObject, field: string): readonly ReadCall[] {
  const calls: ReadCall[] = [];
  if (tool_calls !== null && tool_calls !== undefined) {
    const list = read.list(tool_calls, `${field}.tool_calls`);
    for (let i = 0; i < list.length; i++) calls.push(readCall(list[i], `${field}.tool_calls[${i}]`));
  }
  if (calls.length === 0 && isObject(function_call))
    calls.push(readCall(function_call, `${field}.function_call`));
  if (Array.isArray(content))
    for (const [i, block] of content.entries())
      if (isObject(block) && block.type === 'tool_use') calls.push(readCall(block, `${field}.content[${i}]`));
  return calls;
}

/** A message under construction: importing makes very many, and spreading objects would cost as much as reading them. */
type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

export function readAssistant(message: JsonObject, field: string): AssistantMessage {
  const text = contentText(message.content, `${field}.content`);
  // Content of calls and thinking alone is no text.
  const content = text === '' && Array.isArray(message.content) ? null : text;
  const made: Draft<AssistantMessage> = { role: 'assistant', content };
  const calls = callsOf(message, field);
  const malformed: string[] = [];
  if (calls.length > 0) {
    made.tool_calls = calls.map(({ call }) => call);
    for (const call of calls) if (call.malformed !== undefined) malformed.push(call.malformed);
  }
  const reasoning = thinking(message);
  if (reasoning !== '') made.reasoning = reasoning;
  if (Array.isArray(message.errors)) malformed.push(...formErrors(message));
  if (malformed.length > 0) made.malformed = malformed.join('; ');
  return made;
}

/** A tool's result as a message. */
export function readToolResult(message: JsonObject, field: string): ToolMessage {
  const content = contentText(message.content ?? message.output, `${field}.content`) ?? '';
  const id = message.tool_call_id ?? message.tool_use_id ?? message.call_id ?? message.id;
  const made: Draft<ToolMessage> = { role: 'tool', content, tool_call_id: typeof id === 'string' ? id : '' };
  if (typeof message.name === 'string') made.name = message.name;
  const flag = message.error ?? message.is_error;
  if (typeof flag === 'boolean' ? flag : ERROR_RESULT.test(content)) made.error = true;
  return made;
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
    case 'tool':
    case 'function':
      return readToolResult(message, field);
    default:
      throw new RecordError(
        `field ${field}.role must be system, user, assistant or tool, but is ${jsonText(message.role ?? null, field)}`,
      );
  }
}

/** Function schemas in OpenAI's form, Anthropic's (`input_schema`) or bare; what is none of them is left out. */
export function readTools(value: unknown): ToolSchema[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item, i): ToolSchema[] => {
    const called = isObject(item) && isObject(item.function) ? item.function : item;
    if (!isObject(called) || typeof called.name !== 'string') return [];
    const parameters = called.parameters ?? called.input_schema;
    return [
      {
        type: 'function',
        function: {
          name: called.name,
          ...(typeof called.description === 'string' ? { description: called.description } : {}),
          parameters: isObject(parameters)
            ? read.plain(parameters, `tools[${i}].parameters`)
            : { type: 'object', properties: {} },
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
