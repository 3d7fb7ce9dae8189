import { join } from 'node:path';
import type { TraceConfig } from '../config/schema.js';
import { digestJson } from '../run/digest.js';
import type { Journal } from '../run/journal.js';
import type { Analyst } from './contract.js';
import { LLM_DEFAULTS, type LlmSettings } from './llm/settings.js';
import { READING_DEFAULTS, type ReadingSettings } from './prompted/settings.js';
import { PromptLibrary } from './prompts/library.js';

/** What of an analyst the diagnosis uses. */
export type Raters = Omit<Analyst, 'author' | 'repair'>;

/** The analyst of a configuration, defaults filled in. */
export type AnalystSettings =
  | { readonly kind: 'offline' }
  | ({ readonly kind: 'llm' } & LlmSettings)
  | ({ readonly kind: 'handoff' } & ReadingSettings);

export interface OpenParts {
  readonly seed: number;
  /** Where paid answers are kept. */
  readonly journal: Journal;
  /** The project, whose `prompts/` override and whose packages are looked in; absolute. */
  readonly project: string;
  /** Where requests of `handoff` are written; absolute. */
  readonly handoff: string;
  /** The command that goes on once they are answered. */
  readonly resume: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

/** Defaults filled in. */
export function analystSettings(given: TraceConfig['analyst']): AnalystSettings {
  const config = typeof given === 'string' ? { kind: given } : given;
  switch (config.kind) {
    case 'offline':
      return { kind: 'offline' };
    case 'handoff':
      return { ...READING_DEFAULTS, ...config };
    case 'llm':
      return { ...LLM_DEFAULTS, ...config };
  }
}

/**
 * What a diagnosis by this analyst depends on besides the attempts: model, prompts, how attempts are shown; not what
 * only decides how fast and how dear it is. Null for the offline analyst, which has no settings.
 */
export function analystIdentity(settings: AnalystSettings, project: string): object | null {
  if (settings.kind === 'offline') return null;
  const { kind, candidates, trajectoryTokens, discoverAttempts, batchTokens, showReference, family } =
    settings;
  const prompts = new PromptLibrary(project).list().map(({ id, text }) => [id, text]);
  const reading = { candidates, trajectoryTokens, discoverAttempts, batchTokens, showReference, family };
  const model =
    settings.kind === 'llm'
      ? {
          provider: settings.provider,
          model: settings.model,
          temperature: settings.temperature,
          options: settings.options,
          tries: settings.tries,
        }
      : {};
  return { kind, ...reading, ...model, prompts: digestJson(prompts) };
}

/** Opens who discovers and labels; loads only what that one needs. @throws InputError naming what has to be set, installed or mended. */
export async function openRaters(settings: AnalystSettings, parts: OpenParts): Promise<Raters> {
  const { environment, handoff, journal, project, resume, seed, signal } = parts;
  switch (settings.kind) {
    case 'offline': {
      const { OfflineRaters } = await import('./offline/offline.js');
      return new OfflineRaters({ seed });
    }
    case 'llm': {
      const { openLlmRaters } = await import('./llm/llm.js');
      return openLlmRaters(settings, {
        journal,
        library: new PromptLibrary(project),
        project,
        seed,
        environment,
        ...(signal ? { signal } : {}),
      });
    }
    case 'handoff': {
      const { HandoffAsker } = await import('./handoff/handoff.js');
      const { PromptedRaters } = await import('./prompted/raters.js');
      const asker = new HandoffAsker({ folder: handoff, resume });
      return new PromptedRaters(asker, {
        library: new PromptLibrary(project),
        settings,
        seed,
        finish: () => asker.settle(),
        preview: () => [`requests and answers: ${join(handoff, 'README.md')}`],
      });
    }
  }
}
