import { InputError } from '../../run/errors.js';
import type { Journal } from '../../run/journal.js';
import { PromptedRaters, type Workload } from '../prompted/raters.js';
import type { PromptLibrary } from '../prompts/library.js';
import { LlmAsker } from './asker.js';
import { LlmClient, limitedFetch } from './client.js';
import { openModel } from './provider.js';
import { Secrets } from './secrets.js';
import type { LlmSettings } from './settings.js';
import { costOf, dollars, Spending, thousands } from './spending.js';

export interface LlmParts {
  /** Where paid answers are kept. */
  readonly journal: Journal;
  readonly library: PromptLibrary;
  /** Where packages of providers are looked for, absolute. */
  readonly project: string;
  readonly seed: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Asked to stop: what is on its way is awaited, nothing new is sent. */
  readonly signal?: AbortSignal;
  /** Instead of the global one. */
  readonly fetch?: typeof globalThis.fetch;
}

/**
 * Raters that are a language model: discovery and labels by the prompts, structured, checked, budgeted, kept.
 * @throws InputError naming the variable, option or package that is missing.
 */
export async function openLlmRaters(settings: LlmSettings, parts: LlmParts): Promise<PromptedRaters> {
  const { environment, journal, library, project, seed, signal } = parts;
  if (settings.budget.usd !== undefined && !settings.price)
    throw new InputError(
      'a budget in US dollars needs the price of tokens',
      'Set it: `--price IN/OUT` (dollars for a million tokens in and out), analyst.price in the configuration.',
    );
  const fetch = limitedFetch(parts.fetch ?? globalThis.fetch);
  const model = await openModel(settings, { environment, project, fetch });
  const named = settings.apiKeyEnv === undefined ? undefined : environment[settings.apiKeyEnv];
  const secrets = new Secrets(environment, named === undefined ? [] : [named]);
  const spending = new Spending(settings, journal.answerTotals());
  const client = new LlmClient(model, settings, { spending, secrets, ...(signal ? { signal } : {}) });
  return new PromptedRaters(new LlmAsker(client, settings, journal), {
    library,
    settings,
    seed,
    preview: (workload) => previewLines(settings, workload, journal.answerTotals().answers),
    standing: () => spending.words(),
  });
}

/** What a diagnosis will take, before it begins. */
function previewLines(settings: LlmSettings, workload: Workload, kept: number): string[] {
  const { model, baseUrl, price, budget, provider } = settings;
  const { requests, inputTokens, outputTokens } = workload;
  const cost = price ? costOf({ inputTokens, cachedTokens: 0, outputTokens }, price) : null;
  const where = baseUrl ?? provider;
  const lines = [
    `${model} at ${where}: about ${thousands(requests)} requests, ${thousands(inputTokens)} tokens in, ${thousands(outputTokens)} out` +
      (cost === null
        ? ' (no price is set: --price IN/OUT shows the cost)'
        : `, about ${dollars(cost)} without caching`),
  ];
  if (kept > 0) lines.push(`${thousands(kept)} answers are kept from before and are not paid again`);
  const over = [
    ...(budget.tokens !== undefined && inputTokens + outputTokens > budget.tokens
      ? [`${thousands(budget.tokens)} tokens`]
      : []),
    ...(budget.usd !== undefined && cost !== null && cost > budget.usd ? [dollars(budget.usd)] : []),
  ];
  if (over.length > 0)
    lines.push(`that is more than the budget of ${over.join(' and ')}: it will stop there`);
  return lines;
}
