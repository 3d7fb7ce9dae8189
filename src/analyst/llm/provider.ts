import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LanguageModel } from 'ai';
import { InputError } from '../../run/errors.js';
import { packageRoot } from '../../run/package-root.js';
import type { LlmSettings } from './settings.js';

/** How a model is told which form the answer has to have. */
export type AnswerMode = 'json_schema' | 'json_object' | 'text';

/** A model to ask, in the form of the AI SDK. */
export interface OpenedModel {
  /** The model for a way of asking. */
  readonly of: (mode: AnswerMode) => LanguageModel;
  /** Ways that may work, the strictest first; `text` always does. */
  readonly modes: readonly AnswerMode[];
  /** Key of the provider's own options in a request. */
  readonly optionsKey: string;
  /** Whether pieces of the user message can be marked for the provider's cache. */
  readonly marksCache: boolean;
  /** What to set when the endpoint asks for a key. */
  readonly keyHint: string;
}

type Fetch = typeof globalThis.fetch;
type Environment = Readonly<Record<string, string | undefined>>;

const OPENAI = 'https://api.openai.com/v1';
/** Key for endpoints that are nobody's by name; sent only there. */
const OWN_KEY = 'TRACE_LLM_API_KEY';

/**
 * Opens a model. Keys are read from the environment alone; a key of one provider is never sent to another's address.
 * @param project where packages of providers are looked for first.
 * @throws InputError naming what to set or install.
 */
export async function openModel(
  settings: Pick<LlmSettings, 'provider' | 'model' | 'baseUrl' | 'apiKeyEnv'>,
  options: { readonly environment: Environment; readonly project: string; readonly fetch: Fetch },
): Promise<OpenedModel> {
  checkBaseUrl(settings.baseUrl);
  switch (settings.provider) {
    case 'openai-compatible':
      return openCompatible(settings, options);
    case 'anthropic':
      return openAnthropic(settings, options);
    default:
      return openPackage(settings, options);
  }
}

function checkBaseUrl(baseUrl: string | undefined): void {
  if (baseUrl === undefined) return;
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new InputError(
      `analyst: baseUrl ${baseUrl} is no address`,
      'Write it like http://localhost:8000/v1.',
    );
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new InputError(`analyst: baseUrl begins with ${url.protocol}`, 'It begins with http: or https:.');
  if (url.username !== '' || url.password !== '' || url.search !== '')
    throw new InputError(
      'analyst: baseUrl holds a name, a password or a query',
      `Keys come from the environment only: set ${OWN_KEY}, or name a variable by apiKeyEnv.`,
    );
}

/** The key from a variable that was named, or from the usual one. @throws InputError when it is needed and not set. */
function keyFrom(
  environment: Environment,
  named: string | undefined,
  usual: string,
  needed: boolean,
): string | null {
  const name = named ?? usual;
  const value = environment[name]?.trim();
  if (value) return value;
  if (named !== undefined || needed)
    throw new InputError(
      `the environment variable ${name} is not set: the language model's key is read from it`,
      `Set it before the command (\`export ${name}=…\`), or name another one: \`--api-key-env NAME\`, apiKeyEnv in the configuration.`,
    );
  return null;
}

async function openCompatible(
  { model, baseUrl, apiKeyEnv }: Pick<LlmSettings, 'model' | 'baseUrl' | 'apiKeyEnv'>,
  { environment, fetch }: { readonly environment: Environment; readonly fetch: Fetch },
): Promise<OpenedModel> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const baseURL = baseUrl ?? OPENAI;
  const openAi = new URL(baseURL).host === new URL(OPENAI).host;
  const usual = openAi ? 'OPENAI_API_KEY' : OWN_KEY;
  const apiKey = keyFrom(environment, apiKeyEnv, usual, openAi);
  const provider = (supportsStructuredOutputs: boolean) =>
    createOpenAICompatible({
      name: 'endpoint',
      baseURL,
      fetch,
      supportsStructuredOutputs,
      ...(openAi ? { transformRequestBody: withNewNames } : {}),
      ...(apiKey === null ? {} : { apiKey }),
    });
  const strict = provider(true);
  const loose = provider(false);
  return {
    of: (mode) => (mode === 'json_schema' ? strict : loose)(model),
    modes: ['json_schema', 'json_object', 'text'],
    optionsKey: 'endpoint',
    marksCache: false,
    keyHint: `Set ${apiKeyEnv ?? usual} to its key.`,
  };
}

/** OpenAI's newer models refuse the older name of the limit, which other servers know alone. */
function withNewNames(body: Record<string, unknown>): Record<string, unknown> {
  const { max_tokens, ...rest } = body;
  return max_tokens === undefined ? rest : { ...rest, max_completion_tokens: max_tokens };
}

async function openAnthropic(
  { model, baseUrl, apiKeyEnv }: Pick<LlmSettings, 'model' | 'baseUrl' | 'apiKeyEnv'>,
  { environment, fetch }: { readonly environment: Environment; readonly fetch: Fetch },
): Promise<OpenedModel> {
  const { createAnthropic } = await import('@ai-sdk/anthropic');
  const usual = baseUrl === undefined ? 'ANTHROPIC_API_KEY' : OWN_KEY;
  const apiKey = keyFrom(environment, apiKeyEnv, usual, true)!;
  const provider = createAnthropic({ apiKey, fetch, ...(baseUrl === undefined ? {} : { baseURL: baseUrl }) });
  return {
    of: () => provider(model),
    modes: ['json_schema', 'text'],
    optionsKey: 'anthropic',
    marksCache: true,
    keyHint: `Set ${apiKeyEnv ?? usual} to a valid key.`,
  };
}

/** A provider by its package, such as `@ai-sdk/google`: its `create…` function, or the provider that it exports. */
async function openPackage(
  {
    provider: name,
    model,
    baseUrl,
    apiKeyEnv,
  }: Pick<LlmSettings, 'provider' | 'model' | 'baseUrl' | 'apiKeyEnv'>,
  {
    environment,
    fetch,
    project,
  }: { readonly environment: Environment; readonly project: string; readonly fetch: Fetch },
): Promise<OpenedModel> {
  if (!/^(?:@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*$/.test(name))
    throw new InputError(
      `analyst: provider ${JSON.stringify(name)} is no package`,
      'Providers are openai-compatible, anthropic, and npm packages of the AI SDK such as @ai-sdk/google.',
    );
  const module = await importPackage(name, project);
  const create = Object.entries(module).find(
    ([key, value]) => /^create[A-Z]/.test(key) && typeof value === 'function',
  )?.[1] as ((options: object) => unknown) | undefined;
  if (!create)
    throw new InputError(
      `analyst: the package ${name} exports no provider of the AI SDK (no function create…)`,
      'Name a provider package, such as @ai-sdk/google.',
    );
  const apiKey = apiKeyEnv === undefined ? null : keyFrom(environment, apiKeyEnv, apiKeyEnv, true);
  const made = create({
    name: 'endpoint',
    fetch,
    ...(apiKey === null ? {} : { apiKey }),
    ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
  }) as { languageModel?: (model: string) => LanguageModel } & ((model: string) => LanguageModel);
  const opened = typeof made.languageModel === 'function' ? made.languageModel(model) : made(model);
  return {
    of: () => opened,
    modes: ['json_schema', 'text'],
    optionsKey: name.split('/').at(-1)!,
    marksCache: false,
    keyHint: `Set the environment variable that ${name} reads its key from, or name one by apiKeyEnv.`,
  };
}

/** Imports a package from the project's modules, or from those of TRACE. @throws InputError when neither has it. */
async function importPackage(name: string, project: string): Promise<Record<string, unknown>> {
  for (const folder of [project, packageRoot()]) {
    let file: string;
    try {
      file = createRequire(join(folder, 'package.json')).resolve(name);
    } catch {
      continue;
    }
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  }
  throw new InputError(
    `analyst: the provider's package ${name} is not installed`,
    `Install it in the project: \`npm install ${name}\` (a version for AI SDK 6).`,
  );
}
