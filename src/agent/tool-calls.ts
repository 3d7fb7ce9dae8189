import type { AssistantMessage, ToolCall } from '../trajectory/trajectory.js';

const CALL_OPEN = '<tool_call>';
const CALL_CLOSE = '</tool_call>';
const THINK_OPEN = '<think>';
const THINK_CLOSE = '</think>';

/** A turn that cannot be read; carries the reason. Internal: callers see `AssistantMessage.malformed`. */
class Unreadable extends Error {}

/**
 * Reads an assistant turn as the model wrote it (stop token removed).
 *
 * A turn is text, tool calls, or both. A tool call is a JSON object `{"name": …, "arguments": {…}}`, either in
 * `<tool_call>…</tool_call>` (Qwen3 and Hermes) or bare, when the whole turn is one or more such objects.
 * `<think>…</think>` at the start becomes `reasoning`; a turn whose header already opened the thinking may begin
 * inside it. What cannot be read is never guessed at: the message then has `malformed` with the reason, and the
 * whole text as `content`.
 *
 * @param firstCall number of the turn's first call in the episode: call ids are `call_<number>`.
 */
export function parseAssistantText(text: string, firstCall = 0): AssistantMessage {
  try {
    const { reasoning, rest } = splitReasoning(text);
    const { content, calls } = splitCalls(rest, firstCall);
    if (calls.length === 0 && content === '') throw new Unreadable('the turn is empty');
    return {
      role: 'assistant',
      content: content === '' ? null : content,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(reasoning !== null && { reasoning }),
    };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { role: 'assistant', content: text, malformed: error.message };
  }
}

function splitReasoning(text: string): { reasoning: string | null; rest: string } {
  const opens = text.trimStart().startsWith(THINK_OPEN);
  const close = text.indexOf(THINK_CLOSE);
  if (close < 0) {
    if (opens) throw new Unreadable(`${THINK_OPEN} is never closed`);
    return { reasoning: null, rest: text };
  }
  // A closing tag that stands after a call belongs to the call's text, not to thinking.
  const call = text.indexOf(CALL_OPEN);
  if (!opens && call >= 0 && call < close) return { reasoning: null, rest: text };
  const start = opens ? text.indexOf(THINK_OPEN) + THINK_OPEN.length : 0;
  return { reasoning: text.slice(start, close).trim(), rest: text.slice(close + THINK_CLOSE.length) };
}

function splitCalls(text: string, firstCall: number): { content: string; calls: ToolCall[] } {
  const values: unknown[] = [];
  let content = '';
  if (text.includes(CALL_OPEN) || text.includes(CALL_CLOSE)) {
    let cursor = 0;
    for (;;) {
      const open = text.indexOf(CALL_OPEN, cursor);
      const outside = text.slice(cursor, open < 0 ? undefined : open);
      if (outside.includes(CALL_CLOSE)) throw new Unreadable(`${CALL_CLOSE} without ${CALL_OPEN}`);
      content += outside;
      if (open < 0) break;
      const close = text.indexOf(CALL_CLOSE, open);
      if (close < 0) throw new Unreadable(`${CALL_OPEN} is never closed`);
      values.push(readJson(text.slice(open + CALL_OPEN.length, close)));
      cursor = close + CALL_CLOSE.length;
    }
  } else if (text.trimStart().startsWith('{')) {
    for (const piece of jsonObjects(text)) values.push(readJson(piece));
  } else {
    content = text;
  }
  return { content: content.trim(), calls: values.map((value, i) => toCall(value, firstCall + i)) };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Unreadable(`not valid JSON: ${excerpt(text)}`);
  }
}

function toCall(value: unknown, number: number): ToolCall {
  if (!isObject(value)) throw new Unreadable('a tool call has to be a JSON object');
  const { name, arguments: args } = value;
  if (typeof name !== 'string' || name === '') throw new Unreadable('a tool call without a name');
  if (!isObject(args)) throw new Unreadable(`the arguments of ${excerpt(name)} are not a JSON object`);
  return { id: `call_${number}`, type: 'function', function: { name, arguments: args } };
}

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const excerpt = (text: string) => {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 60)}…` : line;
};

/** Cuts a text of nothing but JSON objects, separated by white space, into one string an object. */
function* jsonObjects(text: string): Generator<string> {
  let depth = 0;
  let inString = false;
  let start = -1;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (inString) {
      if (c === '\\') i++;
      else if (c === '"') inString = false;
    } else if (c === '{') {
      if (depth++ === 0) start = i;
    } else if (depth === 0) {
      if (!/\s/.test(c!)) throw new Unreadable(`text beside a bare tool call: ${excerpt(text.slice(i))}`);
    } else if (c === '"') {
      inString = true;
    } else if (c === '}' && --depth === 0) {
      yield text.slice(start, i + 1);
    }
  }
  if (depth > 0) throw new Unreadable(`not valid JSON: ${excerpt(text.slice(start))}`);
}
