import { generateText, type ModelMessage, Output } from 'ai';
import { TraceError } from '../../run/errors.js';
import type { JsonSchema } from '../../trajectory/trajectory.js';
import { estimateTokens } from '../compact/tokens.js';
import { backoffSeconds, MOST_PATIENCE_SECONDS, sleep } from './backoff.js';
import { ABOUT_FORM, ABOUT_LENGTH, chainOf, explainFailure } from './failures.js';
import type { AnswerMode, OpenedModel } from './provider.js';
import type { Secrets } from './secrets.js';
import type { LlmSettings } from './settings.js';
import type { Spending, Usage } from './spending.js';

/** One turn of a request: the user's in pieces (see `RenderedPrompt`), or an earlier answer. */
export type RequestTurn =
  | { readonly role: 'user'; readonly parts: readonly string[] }
  | { readonly role: 'assistant'; readonly text: string };

export interface ModelRequest {
  /** Hash of the request. */
  readonly key: string;
  readonly system: string;
  readonly turns: readonly RequestTurn[];
  readonly schema: JsonSchema;
}

export interface ModelAnswer {
  /** What the model wrote; may be empty, a refusal, or anything else that is no JSON. */
  readonly text: string;
  /** `stop`, `length`, `content-filter`, `too-large` … */
  readonly finish: string;
  readonly usage: Usage;
}

/** A request that got no answer, while others may. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
}

/** Larger bodies are broken off: no answer to these prompts comes near it. */
const MOST_BYTES = 4 * 2 ** 20;
/** Requests without an answer, one after the other, after which the endpoint is taken for broken. */
const MOST_IN_A_ROW = 5;
/** Retries when nothing has ever answered there: the address is wrong more often than the moment. */
const FIRST_RETRIES = 2;
/** Bytes a token at least has: so many tokens does a request have at most. */
const BYTES_PER_TOKEN_AT_LEAST = 2.5;

class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

/**
 * Asks a model: at most so many requests at once, each within the budget, tried again with growing waits when the
 * server is busy or breaks off. Whether the model is held to a JSON Schema, to JSON or to nothing is found out by
 * asking: the strictest form that the endpoint takes.
 */
export class LlmClient {
  readonly #model: OpenedModel;
  readonly #settings: LlmSettings;
  readonly #spending: Spending;
  readonly #secrets: Secrets;
  readonly #signal: AbortSignal | undefined;
  #mode = 0;
  /** Whether anything was ever answered, and in the present mode. */
  #answered = false;
  #answeredInMode = false;
  #failuresInARow = 0;
  #inFlight = 0;
  readonly #queue: (() => void)[] = [];
  /** Nobody sends before this moment: one refusal for the rate speaks for all. */
  #pausedUntil = 0;

  constructor(
    model: OpenedModel,
    settings: LlmSettings,
    parts: { readonly spending: Spending; readonly secrets: Secrets; readonly signal?: AbortSignal },
  ) {
    this.#model = model;
    this.#settings = settings;
    this.#spending = parts.spending;
    this.#secrets = parts.secrets;
    this.#signal = parts.signal;
    // What the library would print about options that a provider ignores.
    (globalThis as { AI_SDK_LOG_WARNINGS?: unknown }).AI_SDK_LOG_WARNINGS = false;
  }

  /**
   * Sends a request until it is answered. `onAnswer` is called with the answer before anything else happens: keep it
   * there.
   * @throws RequestError when this request gets no answer; BudgetError; TraceError when the endpoint is of no use
   *   (wrong key, wrong model, nothing there); the signal's reason while it waits.
   */
  async complete(request: ModelRequest, onAnswer: (answer: ModelAnswer) => void): Promise<ModelAnswer> {
    await this.#enter();
    try {
      const release = await this.#spending.reserve(this.#most(request));
      let used: Usage | null = null;
      try {
        const answer = await this.#untilAnswered(request);
        used = answer.usage;
        onAnswer(answer);
        return answer;
      } finally {
        release(used);
      }
    } finally {
      this.#leave();
    }
  }

  async #untilAnswered(request: ModelRequest): Promise<ModelAnswer> {
    for (let retry = 0; ; ) {
      await this.#pause();
      const mode = this.#mode;
      try {
        const answer = await this.#once(request, this.#model.modes[mode]!);
        this.#answered = true;
        this.#answeredInMode ||= mode === this.#mode;
        this.#failuresInARow = 0;
        return answer;
      } catch (error) {
        const failure = explainFailure(error, {
          settings: this.#settings,
          secrets: this.#secrets,
          keyHint: this.#model.keyHint,
          looser: mode + 1 < this.#model.modes.length,
        });
        if (failure.kind === 'fatal') throw failure.error;
        if (failure.kind === 'refused') {
          if (this.#loosen(mode, failure)) continue;
          throw this.#given(failure.words);
        }
        const most = this.#answered || failure.connected ? this.#settings.retries : FIRST_RETRIES;
        if (retry >= Math.min(most, this.#settings.retries)) {
          if (!this.#answered && !failure.connected) throw this.#nothingThere(failure.words);
          throw this.#given(`${failure.words} (${retry + 1} times)`);
        }
        if ((failure.wait ?? 0) > MOST_PATIENCE_SECONDS)
          throw new TraceError(
            `the endpoint asks to wait ${Math.round(failure.wait!)} seconds`,
            'All answers are kept: run the same command again later.',
          );
        const wait = backoffSeconds(this.#settings.backoffSeconds, retry, request.key, failure.wait);
        if (failure.wait !== null) this.#pausedUntil = Math.max(this.#pausedUntil, Date.now() + wait * 1000);
        await sleep(wait, this.#signal);
        retry++;
      }
    }
  }

  async #once(request: ModelRequest, mode: AnswerMode): Promise<ModelAnswer> {
    const { temperature, maxOutputTokens, options, timeoutSeconds } = this.#settings;
    const result = await generateText({
      model: this.#model.of(mode),
      system: request.system,
      messages: request.turns.map((turn) => this.#message(turn)),
      maxOutputTokens,
      maxRetries: 0,
      abortSignal: AbortSignal.timeout(timeoutSeconds * 1000),
      output: rawOutput(mode, request.schema),
      ...(temperature === undefined ? {} : { temperature }),
      ...(options === undefined ? {} : { providerOptions: { [this.#model.optionsKey]: options as never } }),
    }).catch((error: unknown) => {
      if (!chainOf(error).some((link) => link instanceof AnswerTooLarge)) throw error;
      return null;
    });
    const estimate = { inputTokens: inputEstimate(request), cachedTokens: 0 };
    if (result === null)
      return { text: '', finish: 'too-large', usage: { ...estimate, outputTokens: maxOutputTokens } };
    const { usage } = result;
    return {
      text: this.#secrets.redact(result.text),
      finish: result.finishReason,
      usage: {
        inputTokens: usage.inputTokens ?? estimate.inputTokens,
        cachedTokens: Math.min(usage.inputTokenDetails?.cacheReadTokens ?? 0, usage.inputTokens ?? 0),
        outputTokens: usage.outputTokens ?? estimateTokens(result.text),
      },
    };
  }

  #message(turn: RequestTurn): ModelMessage {
    if (turn.role === 'assistant') return { role: 'assistant', content: turn.text };
    const { marksCache, optionsKey } = this.#model;
    // Servers that know plain text only get plain text.
    if (!marksCache || turn.parts.length < 2) return { role: 'user', content: turn.parts.join('\n\n') };
    return {
      role: 'user',
      content: turn.parts.map((text, i) => ({
        type: 'text' as const,
        text,
        ...(i < turn.parts.length - 1
          ? { providerOptions: { [optionsKey]: { cacheControl: { type: 'ephemeral' } } } }
          : {}),
      })),
    };
  }

  /** Goes on to a looser form when the endpoint seems not to know the present one. Returns whether to ask again. */
  #loosen(mode: number, { status, words }: { readonly status: number; readonly words: string }): boolean {
    if (mode !== this.#mode) return true;
    if (this.#mode + 1 >= this.#model.modes.length || ![400, 415, 422, 500, 501].includes(status))
      return false;
    const isForm = ABOUT_FORM.test(words) || (!this.#answeredInMode && !ABOUT_LENGTH.test(words));
    if (!isForm) return false;
    this.#mode++;
    this.#answeredInMode = false;
    return true;
  }

  /** A request without an answer; too many in a row, and it is not the request. */
  #given(words: string): RequestError | TraceError {
    if (++this.#failuresInARow < MOST_IN_A_ROW) return new RequestError(words);
    return new TraceError(
      `${MOST_IN_A_ROW} requests in a row got no answer; the last: ${words}`,
      'All answers are kept: look after the endpoint, and run the same command again.',
    );
  }

  #nothingThere(words: string): TraceError {
    return new TraceError(
      `the language model cannot be reached at ${this.#settings.baseUrl ?? 'its provider'}: ${words}`,
      'Is the address right (--base-url), and does the server run?',
    );
  }

  #most(request: ModelRequest): Usage {
    const bytes = textsOf(request).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    return {
      inputTokens: Math.ceil(bytes / BYTES_PER_TOKEN_AT_LEAST) + 50,
      cachedTokens: 0,
      outputTokens: this.#settings.maxOutputTokens,
    };
  }

  async #pause(): Promise<void> {
    this.#signal?.throwIfAborted();
    const left = this.#pausedUntil - Date.now();
    if (left > 0) await sleep(left / 1000, this.#signal);
  }

  async #enter(): Promise<void> {
    while (this.#inFlight >= this.#settings.concurrency)
      await new Promise<void>((resolve) => this.#queue.push(resolve));
    this.#inFlight++;
  }

  #leave(): void {
    this.#inFlight--;
    this.#queue.shift()?.();
  }
}

/** A `fetch` that breaks bodies off which are larger than any answer. */
export function limitedFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!response.body) return response;
    let size = 0;
    const limit = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        size += chunk.byteLength;
        if (size > MOST_BYTES) controller.error(new AnswerTooLarge(`more than ${MOST_BYTES} bytes`));
        else controller.enqueue(chunk);
      },
    });
    const { headers, status, statusText } = response;
    return new Response(response.body.pipeThrough(limit), { headers, status, statusText });
  };
}

/** Asks for a form and hands the text back as it came: it is read and judged here, not in the library. */
function rawOutput(mode: AnswerMode, schema: JsonSchema): Output.Output<string, string, never> {
  const format =
    mode === 'text'
      ? { type: 'text' as const }
      : { type: 'json' as const, schema: schema as never, name: 'answer' };
  return { ...Output.text(), responseFormat: Promise.resolve(format) };
}

const textsOf = ({ system, turns }: ModelRequest): string[] => [
  system,
  ...turns.flatMap((turn) => (turn.role === 'user' ? turn.parts : [turn.text])),
];

const inputEstimate = (request: ModelRequest): number =>
  textsOf(request).reduce((sum, text) => sum + estimateTokens(text), 0);
