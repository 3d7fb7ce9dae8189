import { READING_DEFAULTS, type ReadingSettings } from '../prompted/settings.js';

/** Prices in US dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Input read from the provider's cache; absent: as `input`. */
  readonly cachedInput?: number;
}

/** A language model that answers the prompts, and what may be spent on it. */
export interface LlmSettings extends ReadingSettings {
  /** `openai-compatible`, `anthropic`, or the npm package of an AI SDK provider. */
  readonly provider: string;
  readonly model: string;
  /** Absent: the provider's own; for `openai-compatible` OpenAI's. */
  readonly baseUrl?: string;
  /** Environment variable that holds the key; absent: the provider's usual one. */
  readonly apiKeyEnv?: string;
  /** Absent: the provider's default. */
  readonly temperature?: number;
  /** Most tokens of one answer, thinking included. */
  readonly maxOutputTokens: number;
  /** Passed on to the provider with every request, such as `{ reasoningEffort: 'low' }`. */
  readonly options?: { readonly [name: string]: unknown };
  /** Requests in flight at once. */
  readonly concurrency: number;
  /** Most seconds to wait for one answer. */
  readonly timeoutSeconds: number;
  /** Requests after one that was refused for its rate, broke off, or met a broken server. */
  readonly retries: number;
  /** First wait after such a request; it doubles from one to the next. */
  readonly backoffSeconds: number;
  /** Times that a question is put; each time a wrong answer may be mended once. */
  readonly tries: number;
  /** Hard stops over all requests of a run, earlier processes included. */
  readonly budget: { readonly tokens?: number; readonly usd?: number };
  readonly price?: Price;
}

export const LLM_DEFAULTS: Omit<LlmSettings, 'model'> = {
  ...READING_DEFAULTS,
  provider: 'openai-compatible',
  maxOutputTokens: 8_000,
  concurrency: 8,
  timeoutSeconds: 300,
  retries: 8,
  backoffSeconds: 1,
  tries: 2,
  budget: {},
};
