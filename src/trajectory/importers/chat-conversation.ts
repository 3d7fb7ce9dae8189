import { isObject, type JsonObject, RecordError, read } from '../parse.js';
import type { AssistantMessage, Message, ToolCall } from '../trajectory.js';
import { contentText, jsonText, readAssistant, readToolResult } from './chat.js';

/** Names that chat formats give to the four roles. */
const ROLES: Readonly<Record<string, Message['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  gpt: 'assistant',
  ai: 'assistant',
  model: 'assistant',
  tool: 'tool',
  function: 'tool',
  function_response: 'tool',
  observation: 'tool',
  ipython: 'tool',
};

/** Types of a response API's items, which have no role. */
const ITEMS: readonly unknown[] = ['function_call', 'function_call_output', 'reasoning'];

/** Whether a value looks like a message of a conversation. */
export function isMessage(value: unknown): boolean {
  if (!isObject(value)) return false;
  const role = value.role ?? value.from;
  if (typeof role === 'string') return Object.hasOwn(ROLES, role);
  return ITEMS.includes(value.type);
}

/** Reads the messages of one conversation in order; keeps which calls wait for a result. */
class ConversationReader {
  readonly messages: Message[] = [];
  readonly #waiting: ToolCall[] = [];
  #numbered = 0;

  /** Calls without an id get one, so that results can be told apart. */
  #assistant(message: AssistantMessage): void {
    let named = message;
    if (message.tool_calls?.some((call) => call.id === '')) {
      const calls = message.tool_calls.map((call) =>
        call.id === '' ? { ...call, id: `call-${++this.#numbered}` } : call,
      );
      named = { ...message, tool_calls: calls };
    }
    if (named.tool_calls) this.#waiting.push(...named.tool_calls);
    this.messages.push(named);
  }

  /** A result without an id belongs to the first waiting call of its name, else to the first one that waits. */
  #result(value: JsonObject, field: string): void {
    const result = readToolResult(value, field);
    const { tool_call_id, name } = result;
    let at = this.#waiting.findIndex((call) =>
      tool_call_id === '' ? call.function.name === name : call.id === tool_call_id,
    );
    if (at < 0 && tool_call_id === '' && this.#waiting.length > 0) at = 0;
    const [call] = at >= 0 ? this.#waiting.splice(at, 1) : [];
    if (!call || (tool_call_id !== '' && name !== undefined)) this.messages.push(result);
    else {
      const { role, content, error } = result;
      const found = { role, content, tool_call_id: call.id, name: name ?? call.function.name };
      this.messages.push(error ? { ...found, error } : found);
    }
  }

  add(value: unknown, field: string): void {
    const message = read.object(value, field);
    const role = message.role ?? message.from;
    if (role === undefined && ITEMS.includes(message.type)) {
      this.#item(message, field);
      return;
    }
    const known = typeof role === 'string' && Object.hasOwn(ROLES, role) ? ROLES[role] : undefined;
    const content = message.content ?? message.value ?? message.text;
    const plain = content === message.content ? message : { ...message, content };
    switch (known) {
      case 'system':
        this.messages.push({ role: 'system', content: contentText(content, `${field}.content`) ?? '' });
        return;
      case 'user':
        this.#user(plain, field);
        return;
      case 'assistant':
        this.#assistant(readAssistant(plain, field));
        return;
      case 'tool':
        this.#result(plain, field);
        return;
      default:
        throw new RecordError(
          `field ${field}.role must be system, user, assistant or tool, but is ${jsonText(role ?? null, field)}`,
        );
    }
  }

  /** A user's turn may carry results of tools as blocks beside his words; results alone are no turn of his. */
  #user(message: JsonObject, field: string): void {
    const blocks = Array.isArray(message.content) ? message.content : null;
    const results = blocks?.filter(isResult) ?? [];
    for (const [i, block] of results.entries()) this.#result(block, `${field}.content[${i}]`);
    const words = results.length > 0 ? blocks!.filter((block) => !isResult(block)) : message.content;
    if (results.length > 0 && (words as unknown[]).length === 0) return;
    this.messages.push({ role: 'user', content: contentText(words, `${field}.content`) ?? '' });
  }

  /** Items of a response API: calls and thinking of one turn follow each other. */
  #item(item: JsonObject, field: string): void {
    if (item.type === 'function_call_output') this.#result(item, field);
    else if (item.type === 'function_call') this.#assistant(readAssistant({ tool_calls: [item] }, field));
    else {
      const summary = contentText(item.summary ?? item.content, `${field}.summary`);
      if (summary) this.#assistant({ role: 'assistant', content: null, reasoning: summary });
    }
  }
}

function isResult(block: unknown): block is JsonObject {
  return isObject(block) && block.type === 'tool_result';
}

/**
 * A conversation in any of the usual chat forms: OpenAI's (`tool_calls`, the older `function_call`), Anthropic's
 * content blocks, response API items, `from`/`value` lists. Calls without ids are numbered and results are joined to
 * them in order.
 * @throws RecordError naming the field.
 */
export function readConversation(value: unknown, field: string): readonly Message[] {
  const reader = new ConversationReader();
  for (const [i, item] of read.list(value, field).entries()) reader.add(item, `${field}[${i}]`);
  return reader.messages;
}
