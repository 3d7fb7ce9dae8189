import { isObject, type JsonObject, RecordError, read } from '../parse.js';
import type { AssistantMessage, Message, ToolCall, ToolMessage, ToolSchema } from '../trajectory.js';
import { ERROR_RESULT } from './chat.js';
import { asText, checkDepth, firstText, unwrapJson } from './spans.js';
import { type CallPart, noParts, type Parts, readArguments, resultText, sortParts } from './spans-parts.js';

type Role = Message['role'];

/** Roles in the words of the formats: OpenAI, LangChain's types and classes, Gemini. */
const ROLES: { readonly [word: string]: Role } = {
  system: 'system',
  developer: 'system',
  systemmessage: 'system',
  user: 'user',
  human: 'user',
  humanmessage: 'user',
  assistant: 'assistant',
  ai: 'assistant',
  model: 'assistant',
  chatbot: 'assistant',
  aimessage: 'assistant',
  tool: 'tool',
  function: 'tool',
  ipython: 'tool',
  toolmessage: 'tool',
  functionmessage: 'tool',
};

function roleOf(word: unknown): Role | undefined {
  if (typeof word !== 'string') return undefined;
  const plain = word.toLowerCase().replace(/chunk$/, '');
  return Object.hasOwn(ROLES, plain) ? ROLES[plain] : undefined;
}

interface Envelope {
  readonly role: unknown;
  readonly body: JsonObject;
}

/** Takes a message out of what its format wraps around it: LangChain's constructors and `data`, OpenInference's `message`. */
function unwrap(value: JsonObject, field: string, depth = 0): Envelope {
  checkDepth(depth, field);
  if (isObject(value.kwargs) && Array.isArray(value.id)) {
    const body = value.kwargs;
    return { role: body.role ?? body.type ?? value.id.at(-1), body };
  }
  if (isObject(value.data) && typeof value.type === 'string')
    return { role: value.data.role ?? value.type, body: value.data };
  if (isObject(value.message) && value.role === undefined && value.content === undefined)
    return unwrap(value.message, field, depth + 1);
  return { role: value.role ?? value.type, body: value };
}

function callsOf(body: JsonObject): { readonly calls: CallPart[]; readonly invalid: string[] } {
  const extra = isObject(body.additional_kwargs) ? body.additional_kwargs : {};
  const listed = [body.tool_calls, body.toolCalls, extra.tool_calls].map(unwrapJson);
  const list = listed.find((value) => Array.isArray(value) && value.length > 0);
  const calls: CallPart[] = [];
  if (Array.isArray(list))
    for (const item of list) {
      const outer = isObject(item) && isObject(item.tool_call) ? item.tool_call : item;
      if (isObject(outer)) calls.push(...sortParts({ ...outer, type: 'tool_call' }, 'tool_calls').calls);
    }
  const single = body.function_call ?? extra.function_call;
  if (calls.length === 0 && isObject(single))
    calls.push(...sortParts({ ...single, type: 'function_call' }, 'function_call').calls);
  if (calls.length === 0 && typeof body.function_call_name === 'string')
    calls.push({ id: '', name: body.function_call_name, arguments: body.function_call_arguments_json });
  const invalid = Array.isArray(body.invalid_tool_calls) ? body.invalid_tool_calls : [];
  return {
    calls,
    invalid: invalid.filter(isObject).map((item) => {
      const name = firstText(item.name) ?? 'a call';
      calls.push({ id: firstText(item.id) ?? '', name, arguments: {} });
      return `arguments of ${name} are no JSON object: ${asText(item.args).slice(0, 200)}`;
    }),
  };
}

function assistantOf(body: JsonObject, parts: Parts): AssistantMessage {
  const { calls, invalid } = callsOf(body);
  // LangChain repeats Anthropic's tool_use parts in tool_calls.
  const all = calls.length > 0 ? calls : parts.calls;
  const malformed = [...invalid];
  const toolCalls = all.map(({ id, name, arguments: given }): ToolCall => {
    const read = readArguments(given, name);
    if (read.malformed) malformed.push(read.malformed);
    return { id, type: 'function', function: { name, arguments: read.value } };
  });
  const extra = isObject(body.additional_kwargs) ? body.additional_kwargs.reasoning_content : undefined;
  const reasoning = [asText(body.reasoning_content ?? extra), ...parts.reasoning].filter(
    (text) => text !== '',
  );
  const refusal = typeof body.refusal === 'string' && body.refusal !== '' ? [body.refusal] : [];
  const content = [...parts.text, ...refusal].join('\n');
  return {
    role: 'assistant',
    content: content === '' && toolCalls.length > 0 ? null : content,
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
    ...(reasoning.length > 0 ? { reasoning: reasoning.join('\n') } : {}),
    ...(malformed.length > 0 ? { malformed: malformed.join('; ') } : {}),
  };
}

function toolMessage(content: string, id: string, name: string | undefined, failed: boolean): ToolMessage {
  return {
    role: 'tool',
    content,
    tool_call_id: id,
    ...(name === undefined ? {} : { name }),
    ...(failed || ERROR_RESULT.test(content) ? { error: true } : {}),
  };
}

/** Items of OpenAI's Responses API, which have a type instead of a role. */
function responseItem(value: JsonObject): Message[] | null {
  if (value.role !== undefined) return null;
  if (value.type !== 'function_call' && value.type !== 'function_call_output' && value.type !== 'reasoning')
    return null;
  const parts = sortParts(
    value.type === 'function_call' ? { ...value, id: value.call_id ?? value.id } : value,
    'item',
  );
  return [
    ...parts.results.map(({ id, name, content, error }) => toolMessage(content, id, name, error)),
    ...(value.type === 'function_call_output' ? [] : [assistantOf({}, parts)]),
  ];
}

/**
 * One message of any of the tracing formats; several where it carries several tool results.
 * @param fallback the role of a message that names none.
 * @throws RecordError naming the field whose role no format knows.
 */
export function readSpanMessage(value: unknown, fallback: 'user' | 'assistant', field: string): Message[] {
  if (typeof value === 'string') return [{ role: fallback, content: value }];
  // LangChain also takes ["human", "text"].
  if (Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && roleOf(value[0]))
    return readSpanMessage({ role: value[0], content: value[1] }, fallback, field);
  if (!isObject(value))
    throw new RecordError(`field ${field} must be a message, but is ${JSON.stringify(value)?.slice(0, 80)}`);
  const item = responseItem(value);
  if (item) return item;
  const { role: word, body } = unwrap(value, field);
  const role =
    roleOf(word) ?? (word === undefined || word === 'message' || word === 'text' ? fallback : undefined);
  if (!role)
    throw new RecordError(
      `field ${field}.role must be system, user, assistant or tool, but is ${JSON.stringify(word)?.slice(0, 80)}`,
    );
  const content = unwrapContent(body.content ?? body.contents ?? body.parts ?? body.text);
  if (role === 'tool') {
    const parts = sortParts(content, field);
    const name = firstText(body.name, body.tool_name);
    if (parts.results.length > 0)
      return parts.results.map((part) => toolMessage(part.content, part.id, part.name ?? name, part.error));
    const plain = body.content ?? body.result ?? body.output ?? content;
    const text = parts.text.length > 0 ? parts.text.join('\n') : asText(plain);
    return [
      toolMessage(
        text,
        firstText(body.tool_call_id, body.id) ?? '',
        name,
        body.status === 'error' || body.is_error === true,
      ),
    ];
  }
  const parts = sortParts(content, field, noParts());
  if (role === 'assistant') return [assistantOf(body, parts)];
  // Anthropic hands tool results back in a message of the user.
  const results = parts.results.map((part) => toolMessage(part.content, part.id, part.name, part.error));
  if (results.length > 0 && parts.text.length === 0) return results;
  return [...results, { role, content: parts.text.join('\n') }];
}

/** Lists of parts are often written as JSON text; a message that merely looks like JSON stays what it is. */
function unwrapContent(content: unknown): unknown {
  if (typeof content !== 'string' || !/^\s*\[\s*\{/.test(content)) return content;
  const list = unwrapJson(content);
  const known = (part: unknown) =>
    isObject(part) &&
    (typeof part.type === 'string' ||
      typeof part.text === 'string' ||
      isObject(part.toolUse) ||
      isObject(part.toolResult)) &&
    ('text' in part ||
      'content' in part ||
      'toolUse' in part ||
      'toolResult' in part ||
      'input' in part ||
      'image_url' in part);
  return Array.isArray(list) && list.every(known) ? list : content;
}

/** Puts a message that only calls tools to the text before it: the Responses API writes one turn as several items. */
function joinTurns(messages: readonly Message[]): Message[] {
  const joined: Message[] = [];
  for (const message of messages) {
    const before = joined.at(-1);
    if (message.role === 'assistant' && before?.role === 'assistant' && !message.content) {
      const calls = [...(before.tool_calls ?? []), ...(message.tool_calls ?? [])];
      const reasoning = [before.reasoning, message.reasoning].filter((text) => text).join('\n');
      const malformed = [before.malformed, message.malformed].filter((text) => text).join('; ');
      joined[joined.length - 1] = {
        role: 'assistant',
        content: before.content || calls.length === 0 ? before.content : null,
        ...(calls.length > 0 ? { tool_calls: calls } : {}),
        ...(reasoning ? { reasoning } : {}),
        ...(malformed ? { malformed } : {}),
      };
    } else if (
      message.role === 'assistant' &&
      before?.role === 'assistant' &&
      !before.content &&
      !before.tool_calls
    ) {
      // Thinking came as an item of its own before the words.
      const reasoning = [before.reasoning, message.reasoning].filter((text) => text).join('\n');
      joined[joined.length - 1] = { ...message, ...(reasoning ? { reasoning } : {}) };
    } else joined.push(message);
  }
  return joined;
}

const WRAPPERS = [
  'messages',
  'generations',
  'choices',
  'message',
  'output',
  'input',
  'candidates',
  'kwargs',
] as const;

/**
 * The messages in whatever a tracing tool stored as the input or output of a step: a message, a list, one of the
 * bodies of the model providers (`messages`, `choices`, `output`), LangChain's `generations`, or plain text. An
 * object without messages becomes one message that holds it as JSON, or its only text.
 * @throws RecordError naming the field that is no message.
 */
export function readMessages(
  given: unknown,
  fallback: 'user' | 'assistant',
  field: string,
  depth = 0,
): Message[] {
  checkDepth(depth, field);
  const value = unwrapJson(given);
  if (value === null || value === undefined || value === '') return [];
  if (typeof value !== 'object') return [{ role: fallback, content: asText(given) }];
  if (Array.isArray(value)) {
    if (value.length === 0) return [];
    // A batch of requests or choices: the first.
    if (Array.isArray(value[0]) && !(value[0].length === 2 && roleOf(value[0][0])))
      return readMessages(value[0], fallback, `${field}[0]`, depth + 1);
    if (
      value.length === 2 &&
      typeof value[0] === 'string' &&
      typeof value[1] === 'string' &&
      roleOf(value[0])
    )
      return readSpanMessage(value, fallback, field);
    return joinTurns(value.flatMap((item, i) => readSpanMessage(item, fallback, `${field}[${i}]`)));
  }
  const object = value as JsonObject;
  if (isMessage(object)) return joinTurns(readSpanMessage(object, fallback, field));
  const system = firstText(object.system, object.instructions);
  const leading: Message[] =
    system !== undefined && fallback === 'user' ? [{ role: 'system', content: system }] : [];
  for (const key of WRAPPERS) {
    const inner = unwrapJson(object[key]);
    if (inner === null || inner === undefined || inner === '') continue;
    // Of several choices the first; `messages` and items of a response are all of one conversation.
    const first = key === 'choices' || key === 'generations' || key === 'candidates';
    const chosen = first && Array.isArray(inner) ? inner[0] : inner;
    const messages = readMessages(chosen, fallback, `${field}.${key}`, depth + 1);
    if (messages.length > 0) return messages[0]?.role === 'system' ? messages : [...leading, ...messages];
  }
  const texts = Object.values(object).filter(
    (item): item is string => typeof item === 'string' && item !== '',
  );
  const only = Object.keys(object).length === 1 && texts.length === 1;
  if (Object.keys(object).length === 0) return [];
  return [...leading, { role: fallback, content: only ? texts[0]! : JSON.stringify(object) }];
}

/** Messages of a step's free-form input or output; where they are none, the value as one message. */
export function lenient(value: unknown, fallback: 'user' | 'assistant', field: string): Message[] {
  try {
    return readMessages(value, fallback, field);
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    return readMessages(JSON.stringify({ value }), fallback, field);
  }
}

function isMessage(object: JsonObject): boolean {
  if (isObject(object.kwargs) && Array.isArray(object.id)) return roleOf(object.id.at(-1)) !== undefined;
  if (roleOf(object.role) !== undefined) return true;
  if (typeof object.type === 'string' && (object.content !== undefined || isObject(object.data)))
    return roleOf(object.type) !== undefined || object.type === 'message';
  if (object.type === 'function_call' || object.type === 'function_call_output') return true;
  if (isObject(object.message)) return false;
  return (
    object.messages === undefined &&
    (object.content !== undefined || Array.isArray(object.parts) || Array.isArray(object.tool_calls))
  );
}

/** The last schemas that came as text: every request of an agent repeats them. */
let lastRead: { readonly text: string; readonly schemas: readonly ToolSchema[] } | null = null;

/** Schemas of tools in the forms of OpenAI, Anthropic and the GenAI conventions; what is none is left out. */
export function readToolSchemas(given: unknown): readonly ToolSchema[] {
  if (typeof given !== 'string') return schemasIn(given);
  if (lastRead?.text !== given) lastRead = { text: given, schemas: schemasIn(unwrapJson(given)) };
  return lastRead.schemas;
}

function schemasIn(list: unknown): ToolSchema[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item): ToolSchema[] => {
    const outer = unwrapJson(item);
    const called = isObject(outer) && isObject(outer.function) ? outer.function : outer;
    if (!isObject(called) || typeof called.name !== 'string') return [];
    const parameters = unwrapJson(called.parameters ?? called.input_schema ?? called.inputSchema);
    return [
      {
        type: 'function',
        function: {
          name: called.name,
          ...(typeof called.description === 'string' ? { description: called.description } : {}),
          parameters: isObject(parameters)
            ? read.plain(parameters, 'parameters')
            : { type: 'object', properties: {} },
        },
      },
    ];
  });
}

export interface ToolOutput {
  readonly text: string;
  readonly callId?: string;
  readonly error: boolean;
}

/** What a tool gave back, as text: plain, as LangChain's message of a tool (also under `output`), or as text parts. */
export function readToolOutput(given: unknown, depth = 0): ToolOutput {
  checkDepth(depth, 'output');
  const value = unwrapJson(given);
  if (isObject(value)) {
    const body =
      isObject(value.kwargs) && Array.isArray(value.id)
        ? value.kwargs
        : isObject(value.data)
          ? value.data
          : value;
    if (
      body.content !== undefined &&
      (body.tool_call_id !== undefined || roleOf(body.type ?? body.role) === 'tool')
    ) {
      const callId = firstText(body.tool_call_id);
      return {
        text: resultText(body.content),
        ...(callId === undefined ? {} : { callId }),
        error: body.status === 'error' || body.is_error === true,
      };
    }
    const keys = Object.keys(value);
    if (keys.length === 1 && (keys[0] === 'output' || keys[0] === 'result' || keys[0] === 'content'))
      return readToolOutput(value[keys[0]], depth + 1);
  }
  // JSON text stays as it was written.
  return { text: typeof given === 'string' ? given : resultText(value), error: false };
}
