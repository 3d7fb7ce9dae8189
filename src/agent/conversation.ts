import type { SampleResult } from '../engine/contract.js';
import type { AssistantMessage, Message, ToolSchema } from '../trajectory/trajectory.js';
import type { ChatFormat } from './chat-format.js';
import type { TokenSequence } from './contract.js';

/** A sequence under construction. */
interface Draft {
  readonly tokens: number[];
  readonly sampled: boolean[];
  readonly logprobs: number[];
  readonly routes: (readonly number[])[] | null;
  readonly promptLength: number;
  readonly promptWithoutHint?: readonly number[];
  /** Index among the assistant turns of the first one sampled here. */
  readonly firstTurn: number;
  /** Template text before each sampled turn. */
  readonly segments: string[];
  /** A turn sampled here has thinking, which the template may leave out later. */
  thinks: boolean;
}

export interface ConversationOptions {
  readonly tools: readonly ToolSchema[];
  /** Keep the slots that each sampled token took. */
  readonly routes?: boolean;
  /** System prompt without the hint, when the episode's has one: each prompt is then kept without it too. */
  readonly systemWithoutHint?: string;
}

/**
 * The exact tokens of one conversation. The ids sampled are the ids kept: a next prompt is the earlier tokens
 * plus the tokens of what was added. Where the template would write the past otherwise (thinking left out,
 * another end of turn), the next prompt starts a new sequence.
 */
export class Conversation {
  readonly #format: ChatFormat;
  readonly #options: ConversationOptions;
  readonly #drafts: Draft[] = [];
  #seen = 0;
  #turns = 0;

  constructor(format: ChatFormat, options: ConversationOptions) {
    this.#format = format;
    this.#options = options;
  }

  /**
   * Tokens of the whole prompt of the next assistant turn. `messages` is the conversation so far and begins
   * with the messages of the last call; the returned array is the live one: read it before the next call.
   */
  prompt(messages: readonly Message[]): readonly number[] {
    const draft = this.#drafts.at(-1);
    const extended = draft !== undefined && this.#extend(draft, messages);
    if (!extended) this.#start(messages);
    this.#seen = messages.length;
    return this.#drafts.at(-1)!.tokens;
  }

  /** Takes the tokens sampled for the last prompt, and the message they were read as. */
  append(result: SampleResult, message: AssistantMessage): void {
    const draft = this.#drafts.at(-1);
    if (!draft) throw new Error('append before the first prompt');
    for (let i = 0; i < result.tokens.length; i++) {
      draft.tokens.push(result.tokens[i]!);
      draft.sampled.push(true);
      draft.logprobs.push(result.logprobs[i]!);
      draft.routes?.push(result.routes?.[i] ?? []);
    }
    if (message.reasoning !== undefined) draft.thinks = true;
    this.#turns++;
  }

  /** How many sequences there are: a new one means that a cached prefix is of no more use. */
  get sequenceCount(): number {
    return this.#drafts.length;
  }

  /** The sequences so far; a prompt that nothing was sampled for is cut off. */
  sequences(): TokenSequence[] {
    return this.#drafts.flatMap((draft) => {
      const length = draft.sampled.lastIndexOf(true) + 1;
      if (length === 0) return [];
      return {
        tokens: draft.tokens.slice(0, length),
        sampled: draft.sampled.slice(0, length),
        logprobs: draft.logprobs.slice(0, length),
        promptLength: draft.promptLength,
        ...(draft.promptWithoutHint && { promptWithoutHint: draft.promptWithoutHint }),
        ...(draft.routes && { routes: draft.routes.slice(0, length) }),
      };
    });
  }

  #start(messages: readonly Message[]): void {
    const { tools, systemWithoutHint, routes } = this.#options;
    const text = this.#format.renderPrompt(messages, tools);
    const tokens = [...this.#format.encode(text)];
    const plain = systemWithoutHint === undefined ? null : withSystem(messages, systemWithoutHint);
    this.#drafts.push({
      tokens,
      sampled: tokens.map(() => false),
      logprobs: tokens.map(() => 0),
      routes: routes ? tokens.map(() => []) : null,
      promptLength: tokens.length,
      ...(plain && { promptWithoutHint: this.#format.encode(this.#format.renderPrompt(plain, tools)) }),
      firstTurn: this.#turns,
      segments: [text],
      thinks: false,
    });
  }

  #extend(draft: Draft, messages: readonly Message[]): boolean {
    const text = this.#continuation(draft, messages);
    if (text === null) return false;
    let added = this.#format.encode(text);
    const last = draft.tokens.at(-1)!;
    if (this.#format.stop.includes(last)) {
      // The turn ended by itself: its stop token has to be the one that the template writes there.
      if (added[0] !== last) return false;
      added = added.slice(1);
    }
    for (const token of added) {
      draft.tokens.push(token);
      draft.sampled.push(false);
      draft.logprobs.push(0);
      draft.routes?.push([]);
    }
    draft.segments.push(text);
    return true;
  }

  #continuation(draft: Draft, messages: readonly Message[]): string | null {
    const added = messages.slice(this.#seen + 1);
    const local = draft.thinks ? null : this.#format.localContinuation(added);
    if (local !== null) return local;
    const segments = this.#format.segments(messages, this.#options.tools, draft.firstTurn);
    if (!segments || segments.length !== draft.segments.length + 1) return null;
    return draft.segments.every((segment, i) => segment === segments[i]) ? segments.at(-1)! : null;
  }
}

const withSystem = (messages: readonly Message[], content: string): Message[] => {
  const rest = messages[0]?.role === 'system' ? messages.slice(1) : messages;
  return [{ role: 'system', content }, ...rest];
};
