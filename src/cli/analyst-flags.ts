import type { Command } from 'commander';
import { findConfig, loadConfig, parseConfig } from '../config/load.js';
import type { TraceConfig } from '../config/schema.js';
import { InputError } from '../run/errors.js';

/** Options that say who discovers and labels; as the command line hands them over. */
export interface AnalystFlags {
  readonly analyst?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly provider?: string;
  readonly apiKeyEnv?: string;
  readonly budgetTokens?: string;
  readonly budgetUsd?: string;
  readonly price?: string;
  readonly concurrency?: string;
  readonly showReference?: boolean;
}

const KINDS = ['offline', 'llm', 'handoff'];

/** Adds the options to a command. */
export function addAnalystOptions(command: Command): Command {
  return command
    .option('--analyst <kind>', 'who discovers and labels: offline, llm, handoff (docs/analysts.md)')
    .option('--model <name>', 'of llm: the model')
    .option('--base-url <url>', 'of llm: an OpenAI-compatible address, such as http://localhost:8000/v1')
    .option('--provider <name>', 'of llm: openai-compatible, anthropic, or an AI SDK package')
    .option('--api-key-env <name>', 'of llm: the environment variable that holds the key')
    .option('--price <in/out>', 'of llm: US dollars for a million tokens in and out, such as 3/15')
    .option('--budget-tokens <n>', 'of llm: hard stop, all tokens of the run together')
    .option('--budget-usd <x>', 'of llm: hard stop in US dollars; needs --price')
    .option('--concurrency <n>', 'of llm: requests in flight at once (8)')
    .option('--show-reference', 'of llm and handoff: show the raters the right solution, where it is known');
}

/** The analyst that the configuration of this folder names, if it has one. */
export async function analystOfProject(folder: string): Promise<TraceConfig['analyst']> {
  if (findConfig(folder) === null) return 'offline';
  return (await loadConfig(folder)).config.analyst;
}

/**
 * The configuration's analyst with what the options say instead. Options of a language model alone mean `llm`.
 * @throws InputError naming the option that is wrong or missing.
 */
export function analystFrom(flags: AnalystFlags, base: TraceConfig['analyst']): TraceConfig['analyst'] {
  const settings = typeof base === 'string' ? { kind: base } : base;
  const ofModel =
    flags.model ?? flags.baseUrl ?? flags.provider ?? flags.budgetTokens ?? flags.budgetUsd ?? flags.price;
  const kind = flags.analyst ?? (ofModel === undefined ? settings.kind : 'llm');
  if (!KINDS.includes(kind))
    throw new InputError(`--analyst ${kind}: there is no such analyst`, `There are ${KINDS.join(', ')}.`);
  const kept = settings.kind === kind ? settings : { kind };
  if (kind === 'offline') return 'offline';
  const reading = { ...kept, ...(flags.showReference ? { showReference: true } : {}) };
  if (kind === 'handoff') return checked(reading);
  const earlier = kept.kind === 'llm' ? (kept as Extract<typeof settings, { kind: 'llm' }>) : undefined;
  const model = flags.model ?? earlier?.model;
  if (!model)
    throw new InputError(
      'the analyst llm needs a model',
      'Name it: `--model NAME` (and `--base-url URL` or `--provider anthropic`), or set analyst.model in the configuration.',
    );
  const budget = {
    ...earlier?.budget,
    ...given('tokens', numberOf(flags.budgetTokens, '--budget-tokens')),
    ...given('usd', numberOf(flags.budgetUsd, '--budget-usd')),
  };
  return checked({
    ...reading,
    model,
    ...given('baseUrl', flags.baseUrl),
    ...given('provider', flags.provider),
    ...given('apiKeyEnv', flags.apiKeyEnv),
    ...given('concurrency', numberOf(flags.concurrency, '--concurrency')),
    ...given('price', flags.price === undefined ? undefined : priceOf(flags.price)),
    ...(Object.keys(budget).length > 0 ? { budget } : {}),
  });
}

const given = (name: string, value: unknown): object => (value === undefined ? {} : { [name]: value });

/** The schema of the configuration judges options too. @throws InputError */
function checked(analyst: unknown): TraceConfig['analyst'] {
  return parseConfig({ analyst }, 'options').analyst;
}

function numberOf(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InputError(`${option}: ${text} is no number`);
  return value;
}

/** `3/15`, or `3/15/0.3` with the price of cached input. */
function priceOf(text: string): { input: number; output: number; cachedInput?: number } {
  const [input, output, cached, more] = text.split('/').map(Number);
  const numbers = [input, output, cached ?? 0];
  if (
    output === undefined ||
    more !== undefined ||
    !numbers.every((value) => Number.isFinite(value) && value! >= 0)
  )
    throw new InputError(
      `--price ${text}: two numbers are wanted`,
      'Dollars for a million tokens in and out, such as 3/15; a third one is for cached input.',
    );
  return { input: input!, output, ...(cached === undefined ? {} : { cachedInput: cached }) };
}
