import { isObject, type JsonObject, read } from '../parse.js';
import { asText, checkDepth, firstText, unwrapJson } from './spans.js';

/** A call as some format wrote it; arguments may still be text. */
export interface CallPart {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

export interface ResultPart {
  readonly id: string;
  readonly name?: string;
  readonly content: string;
  readonly error: boolean;
}

/** The parts of one message, sorted by what they are; each list in the message's order. */
export interface Parts {
  readonly text: string[];
  readonly reasoning: string[];
  readonly calls: CallPart[];
  readonly results: ResultPart[];
}

export const noParts = (): Parts => ({ text: [], reasoning: [], calls: [], results: [] });

const objectAt = (value: JsonObject, ...keys: readonly string[]): JsonObject | undefined =>
  keys.map((key) => value[key]).find(isObject);

/** Text of a tool's result: text parts are put together, anything else is kept as JSON. */
export function resultText(value: unknown): string {
  const content = unwrapText(value);
  if (!Array.isArray(content)) return asText(content);
  const texts = content.map((part) => (isObject(part) ? (part.text ?? part.json) : part));
  return texts.every((text) => text !== undefined) ? texts.map(asText).join('\n') : asText(content);
}

/** AI SDK's typed outputs, `{type: 'text' | 'json', value}`. */
function unwrapText(value: unknown): unknown {
  if (
    isObject(value) &&
    typeof value.type === 'string' &&
    'value' in value &&
    Object.keys(value).length === 2
  )
    return value.value;
  return value;
}

function callOf(part: JsonObject): CallPart | null {
  const called =
    objectAt(part, 'toolUse', 'function_call', 'functionCall', 'tool_call') ??
    (isObject(part.function) ? { ...part.function, id: part.id } : part);
  const name = firstText(called.name, called.toolName, called.tool_name);
  if (name === undefined) return null;
  const given = called.arguments ?? called.input ?? called.args;
  return {
    id: firstText(called.id, called.toolUseId, called.toolCallId, called.call_id) ?? '',
    name,
    arguments: given,
  };
}

function resultOf(part: JsonObject): ResultPart {
  const given = objectAt(part, 'toolResult', 'function_response', 'functionResponse') ?? part;
  const name = firstText(given.name, given.toolName, given.tool_name);
  const value = [given.response, given.content, given.result, given.output].find(
    (candidate) => candidate !== undefined,
  );
  return {
    id:
      firstText(
        given.id,
        given.tool_use_id,
        given.toolUseId,
        given.toolCallId,
        given.call_id,
        given.tool_call_id,
      ) ?? '',
    ...(name === undefined ? {} : { name }),
    content: resultText(value),
    error: given.is_error === true || given.isError === true || given.status === 'error',
  };
}

const CALLS = new Set(['tool_call', 'tool_use', 'tool-call', 'function_call', 'server_tool_call']);
const RESULTS = new Set([
  'tool_call_response',
  'tool_result',
  'tool-result',
  'function_call_output',
  'server_tool_call_response',
]);
const REASONING = new Set(['reasoning', 'thinking', 'redacted_thinking']);

/** `true` when the part was taken for a call or a result by its only key, as Bedrock and Gemini write them. */
function keyedPart(part: JsonObject, into: Parts): boolean {
  if (objectAt(part, 'toolUse', 'function_call', 'functionCall')) {
    const call = callOf(part);
    if (call) into.calls.push(call);
    return true;
  }
  if (!objectAt(part, 'toolResult', 'function_response', 'functionResponse')) return false;
  into.results.push(resultOf(part));
  return true;
}

/**
 * Sorts a message's content. Known are texts, lists of parts in the forms of OpenAI (chat and responses), Anthropic,
 * Bedrock, Gemini, the AI SDK, LangChain, OpenInference and the GenAI conventions. Media are kept as `[image]`, parts
 * of no known form as JSON: the reader sees that something stood there.
 * @throws RecordError when it is nested too deeply.
 */
export function sortParts(content: unknown, field: string, into: Parts = noParts(), depth = 0): Parts {
  checkDepth(depth, field);
  if (content === null || content === undefined || content === '') return into;
  if (typeof content === 'string' || typeof content === 'number' || typeof content === 'boolean') {
    into.text.push(String(content));
    return into;
  }
  if (Array.isArray(content)) {
    for (const part of content) sortParts(part, field, into, depth + 1);
    return into;
  }
  const part = content as JsonObject;
  const inner = part.message_content;
  if (isObject(inner)) return sortParts(inner, field, into, depth + 1);
  const type = typeof part.type === 'string' ? part.type : '';
  if (CALLS.has(type)) {
    const call = callOf(part);
    if (call) into.calls.push(call);
  } else if (RESULTS.has(type)) into.results.push(resultOf(part));
  else if (REASONING.has(type)) {
    const text = part.content ?? part.text ?? part.thinking ?? part.reasoning;
    const summary = Array.isArray(part.summary)
      ? part.summary.map((item) => (isObject(item) ? item.text : ''))
      : [];
    const words = [asText(text), ...summary.map(asText)].filter((word) => word !== '').join('\n');
    if (words) into.reasoning.push(words);
  } else if (keyedPart(part, into)) return into;
  else if (typeof part.text === 'string') {
    if (part.text !== '') into.text.push(part.text);
  } else if (isObject(part.reasoningContent)) {
    const words = objectAt(part.reasoningContent, 'reasoningText')?.text;
    if (typeof words === 'string' && words !== '') into.reasoning.push(words);
  } else if ((type === 'text' || type === '') && typeof part.content === 'string') {
    if (part.content !== '') into.text.push(part.content);
  } else if (type !== '' && type !== 'text') into.text.push(`[${type.replace(/_url$/, '')}]`);
  else into.text.push(JSON.stringify(part));
  return into;
}

export interface ReadArguments {
  readonly value: JsonObject;
  /** Why they could not be read. */
  readonly malformed?: string;
}

/** Arguments of a call: an object, or an object written as JSON. Nothing is none. */
export function readArguments(given: unknown, name: string): ReadArguments {
  if (given === null || given === undefined || (typeof given === 'string' && given.trim() === ''))
    return { value: {} };
  if (isObject(given)) return { value: read.plain(given, 'arguments') };
  const value = unwrapJson(given);
  // Some exporters write the JSON as text twice.
  const twice = typeof value === 'string' && value !== given ? unwrapJson(value) : value;
  if (isObject(twice)) return { value: read.plain(twice, 'arguments') };
  return { value: {}, malformed: `arguments of ${name} are no JSON object: ${asText(given).slice(0, 200)}` };
}
