import { APICallError, LoadAPIKeyError } from 'ai';
import { InputError, TraceError } from '../../run/errors.js';
import { retryAfterSeconds } from './backoff.js';
import type { Secrets } from './secrets.js';
import type { LlmSettings } from './settings.js';

/** Words by which servers say that they do not know the form that was asked for, or that the request is too long. */
export const ABOUT_FORM =
  /response_?format|json_?schema|json_?object|structured|output_?(?:format|config)|guided|grammar|\bschema\b/i;
export const ABOUT_LENGTH = /context|too (?:long|large|many)|maximum|max_tokens|token limit|reduce/i;

export type Failure =
  | {
      readonly kind: 'again';
      readonly words: string;
      readonly wait: number | null;
      readonly connected: boolean;
    }
  | { readonly kind: 'refused'; readonly words: string; readonly status: number }
  | { readonly kind: 'fatal'; readonly error: TraceError };

/** What the words for a failure are made of. */
export interface FailureContext {
  readonly settings: Pick<LlmSettings, 'timeoutSeconds' | 'model' | 'baseUrl'>;
  readonly secrets: Secrets;
  /** What to set when the endpoint asks for a key. */
  readonly keyHint: string;
  readonly looser: boolean;
}

/**
 * What to make of an error: secrets taken out of its words.
 * @param looser whether a looser form of answer is left to be asked for.
 */
export function explainFailure(
  error: unknown,
  { settings, secrets, keyHint, looser }: FailureContext,
): Failure {
  if (error instanceof TraceError) return { kind: 'fatal', error };
  if (LoadAPIKeyError.isInstance(error))
    return {
      kind: 'fatal',
      error: new InputError(secrets.redact(error.message), keyHint),
    };
  const chain = chainOf(error);
  if (chain.some((link) => link.name === 'TimeoutError' || link.name === 'AbortError'))
    return {
      kind: 'again',
      words: `no answer within ${settings.timeoutSeconds} seconds`,
      wait: null,
      connected: true,
    };
  const call = chain.find((link): link is APICallError => APICallError.isInstance(link));
  const status = call?.statusCode;
  const said = secrets.redact(wordsOf(call, chain));
  if (status === undefined || (status >= 200 && status < 300))
    return { kind: 'again', words: said, wait: null, connected: call?.statusCode !== undefined };
  const words = `the endpoint answered ${status}: ${said}`;
  if (status === 401 || status === 403) return { kind: 'fatal', error: new InputError(words, keyHint) };
  if (status === 402)
    return {
      kind: 'fatal',
      error: new TraceError(words, 'The account has no money left. All answers are kept.'),
    };
  if (status === 404 || status === 405)
    return {
      kind: 'fatal',
      error: new InputError(
        words,
        `Is ${settings.model} a model there (--model), and the address right (--base-url${settings.baseUrl ? ` ${settings.baseUrl}` : ''}; it usually ends in /v1)?`,
      ),
    };
  const again = status === 408 || status === 409 || status === 425 || status === 429 || status >= 500;
  // A form that a server does not know may break it, too.
  if (!again || (status >= 500 && ABOUT_FORM.test(said) && looser)) return { kind: 'refused', words, status };
  return {
    kind: 'again',
    words,
    wait: retryAfterSeconds(call?.responseHeaders, Date.now()),
    connected: true,
  };
}

/** An error and what caused it. */
export function chainOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let link = error; link instanceof Error && !chain.includes(link); link = link.cause) chain.push(link);
  return chain;
}

const LONGEST_WORDS = 300;

/** What the server said, or the deepest reason why it said nothing. */
function wordsOf(call: APICallError | undefined, chain: readonly Error[]): string {
  const body = call?.responseBody?.trim();
  const deepest = chain.at(-1);
  const reason = deepest ? `${deepest.message}${codeOf(deepest)}` : 'no reason given';
  const own = call && call.message !== 'Failed to process successful response' ? call.message : reason;
  const words = call?.statusCode !== undefined && call.statusCode >= 300 && body ? messageIn(body) : own;
  const line = (words || reason).replace(/\s+/g, ' ').trim();
  return line.length <= LONGEST_WORDS ? line : `${line.slice(0, LONGEST_WORDS)}…`;
}

function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && !error.message.includes(code) ? ` (${code})` : '';
}

/** The message in an error body, in the forms that servers use; else the body. */
function messageIn(body: string): string {
  try {
    const parsed = JSON.parse(body) as {
      error?: { message?: unknown } | string;
      message?: unknown;
      detail?: unknown;
    };
    const inner = typeof parsed.error === 'object' ? parsed.error?.message : parsed.error;
    const found = [inner, parsed.message, parsed.detail].find(
      (item) => typeof item === 'string' && item !== '',
    );
    return typeof found === 'string' ? found : body;
  } catch {
    return body;
  }
}
