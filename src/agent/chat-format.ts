import { Template } from '@huggingface/jinja';
import type { Tokenizer } from '../engine/contract.js';
import type { AssistantMessage, Message, ToolSchema } from '../trajectory/trajectory.js';

/** Stands for an assistant turn while the text around it is found. A private-use character keeps it apart. */
const MARK = '\uE000';
const contentMark = (turn: number) => `${MARK}turn${turn}${MARK}`;
const reasoningMark = (turn: number) => `${MARK}think${turn}${MARK}`;
const THINK_HEADER = /<think>\s*$/;

/** Most texts that are remembered: the attempts at a task share their prompt and many tool results. */
const CACHE_SIZE = 1024;

/**
 * A model's chat template, compiled once, in both directions that sampling needs: messages → prompt tokens, and
 * new messages → the tokens that follow a sampled turn. Sampled text is never tokenised again.
 *
 * Most templates write each message by itself, so what follows a turn does not depend on what stands before it.
 * That is tried once on probe conversations; where it holds, only the new messages are rendered
 * (`localContinuation`), else the whole conversation is, and its earlier part is compared.
 */
export class ChatFormat {
  /** Tokens that end an assistant turn. */
  readonly stop: readonly number[];
  readonly #tokenizer: Tokenizer;
  readonly #template: Template;
  readonly #eosToken: string;
  readonly #local: boolean;
  readonly #tokens = new Memory<readonly number[]>();
  readonly #continuations = new Memory<string>();
  readonly #prompts = new WeakMap<readonly ToolSchema[], Memory<string>>();

  /**
   * @param template Jinja source; null, as engines give it for a model without one, is an error.
   * @throws Error for a missing template or one that cannot be parsed or render a user's message.
   */
  constructor(tokenizer: Tokenizer, template: string | null) {
    if (template === null)
      throw new Error('the model has no chat template: add chat_template.jinja to its folder');
    this.#tokenizer = tokenizer;
    const eos = tokenizer.eosTokenIds[0];
    this.#eosToken = eos === undefined ? '' : tokenizer.decode([eos]);
    try {
      this.#template = new Template(template);
      // Empty contents: a small model's vocabulary may not know the words of a probe.
      const end = this.encode(this.#closing([{ role: 'user', content: '' }], []))[0];
      // The template's own end of turn counts too where the model's configuration forgot it.
      const stop = new Set(tokenizer.eosTokenIds);
      if (end !== undefined && isSpecial(tokenizer.decode([end]))) stop.add(end);
      if (stop.size === 0) throw new Error('neither the model nor its template names an end-of-turn token');
      this.stop = [...stop];
    } catch (error) {
      throw new Error(`chat template: ${(error as Error).message}`, { cause: error });
    }
    this.#local = this.#probe();
  }

  /** Whether what follows a turn is independent of what stands before it (thinking apart). */
  get local(): boolean {
    return this.#local;
  }

  /** Text of a conversation, with the header of the next assistant turn unless told otherwise. */
  render(messages: readonly Message[], tools: readonly ToolSchema[], generation = true): string {
    return this.#template.render({
      messages: messages.map(toTemplateMessage),
      tools: tools.length > 0 ? tools : undefined,
      add_generation_prompt: generation,
      bos_token: this.#tokenizer.bosToken ?? '',
      eos_token: this.#eosToken,
    });
  }

  /** `render` of a conversation's beginning with the header of its first turn, remembered. */
  renderPrompt(messages: readonly Message[], tools: readonly ToolSchema[]): string {
    let memory = this.#prompts.get(tools);
    if (!memory) {
      memory = new Memory();
      this.#prompts.set(tools, memory);
    }
    return memory.get(JSON.stringify(messages), () => this.render(messages, tools));
  }

  /** Tokens of a text, remembered. */
  encode(text: string): readonly number[] {
    return this.#tokens.get(text, () => this.#tokenizer.encode(text));
  }

  /** Text of sampled tokens without the stop token at their end. */
  decodeTurn(tokens: readonly number[]): string {
    const last = tokens.at(-1);
    const stopped = last !== undefined && this.stop.includes(last);
    return this.#tokenizer.decode(stopped ? tokens.slice(0, -1) : tokens);
  }

  /**
   * Text between a sampled turn and the next one: end of turn, the new messages, header of the next turn. Null
   * when the template has to see the whole conversation for it. Only for conversations without thinking: a template
   * may leave that out later, wherever it stands.
   */
  localContinuation(added: readonly Message[]): string | null {
    if (!this.#local) return null;
    return this.#continuations.get(JSON.stringify(added), () =>
      this.#closing([{ role: 'user', content: '' }], added),
    );
  }

  /**
   * Like `localContinuation` for any template: renders the whole conversation with marks for the sampled turns.
   * `segments[i]` is the text before the i-th assistant turn from `firstTurn` on (the first begins with the
   * conversation), the last one the prompt of the next turn. Null when the template leaves out something that
   * was sampled (earlier thinking, as a rule) or a message contains the mark.
   * @param firstTurn index among the assistant turns of the first one that is marked.
   */
  segments(
    messages: readonly Message[],
    tools: readonly ToolSchema[],
    firstTurn: number,
  ): readonly string[] | null {
    if (messages.some((m) => m.content?.includes(MARK))) return null;
    let turn = -1;
    const sampled: { turn: number; reasoning: boolean }[] = [];
    const marked = messages.map((message): Message => {
      if (message.role !== 'assistant' || ++turn < firstTurn) return message;
      const reasoning = message.reasoning !== undefined;
      sampled.push({ turn, reasoning });
      return {
        role: 'assistant',
        content: contentMark(turn),
        ...(reasoning && { reasoning: reasoningMark(turn) }),
      };
    });
    const text = this.render(marked, tools);
    const segments: string[] = [];
    let cursor = 0;
    for (const { turn, reasoning } of sampled) {
      const content = text.indexOf(contentMark(turn), cursor);
      const thinking = reasoning ? text.indexOf(reasoningMark(turn), cursor) : content;
      if (content < 0 || thinking < 0 || thinking > content) return null;
      const before = text.slice(cursor, thinking);
      segments.push(reasoning ? before.replace(THINK_HEADER, '') : before);
      cursor = content + contentMark(turn).length;
    }
    segments.push(text.slice(cursor));
    return segments;
  }

  /** What the template writes after a marked turn that stands between the two lists of messages. */
  #closing(before: readonly Message[], after: readonly Message[], tools: readonly ToolSchema[] = []): string {
    const turn: Message = { role: 'assistant', content: contentMark(0) };
    const text = this.render([...before, turn, ...after], tools, after.length > 0);
    const at = text.indexOf(contentMark(0));
    if (at < 0) throw new Error('does not write the content of an assistant message');
    return text.slice(at + contentMark(0).length);
  }

  /** Tries on conversations of several shapes whether a continuation depends on its past. */
  #probe(): boolean {
    const user = (content: string): Message => ({ role: 'user', content });
    const result = (n: number): Message => ({
      role: 'tool',
      content: `{"found":${n}}`,
      tool_call_id: `call_${n}`,
      name: 'look',
    });
    const call = (n: number): AssistantMessage => ({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: `call_${n}`, type: 'function', function: { name: 'look', arguments: { n } } }],
    });
    const tools: ToolSchema[] = [
      { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } },
    ];
    const system: Message = { role: 'system', content: 'Rules.' };
    const histories: Message[][] = [
      [system, user('one')],
      [system, user('one'), call(0), result(0), { role: 'assistant', content: 'two?' }, user('three')],
      [system, user('one'), call(0), result(0)],
    ];
    const additions: Message[][] = [[user('next')], [result(1)], [result(1), result(2)]];
    try {
      for (const added of additions) {
        const alone = this.#closing([user('')], added);
        for (const history of histories) {
          if (this.#closing(history, added, tools) !== alone) return false;
          const whole = this.render([...history, call(1), ...added], tools);
          if (!whole.endsWith(alone) || !whole.startsWith(this.render(history, tools))) return false;
          const marked = this.render(
            [...history, { role: 'assistant', content: contentMark(0) }, ...added],
            tools,
          );
          if (marked.slice(0, marked.indexOf(MARK)) !== this.render(history, tools)) return false;
        }
      }
      return true;
    } catch {
      // Templates that refuse a probe (roles out of order, say) are rendered whole each time.
      return false;
    }
  }
}

/** Remembers the latest results of a pure function; the oldest are forgotten. */
class Memory<T> {
  readonly #known = new Map<string, T>();

  get(key: string, make: () => T): T {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const made = make();
    if (this.#known.size >= CACHE_SIZE) this.#known.delete(this.#known.keys().next().value as string);
    this.#known.set(key, made);
    return made;
  }
}

const isSpecial = (token: string) => /^<.*>$/s.test(token);

/** A message as chat templates know it: thinking is called `reasoning_content` there. */
function toTemplateMessage(message: Message): Record<string, unknown> {
  if (message.role !== 'assistant') return message as unknown as Record<string, unknown>;
  return {
    role: 'assistant',
    content: message.content ?? '',
    ...(message.tool_calls && { tool_calls: message.tool_calls }),
    ...(message.reasoning !== undefined && { reasoning_content: message.reasoning }),
  };
}
