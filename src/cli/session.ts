import { importDefault } from '../config/load.js';
import type { TraceConfig } from '../config/schema.js';
import type { Engine } from '../engine/contract.js';
import type { Target } from '../environment/contract.js';
import { InputError } from '../run/errors.js';
import { locateTarget } from './settings.js';

/** What the steps of one process share: the engine and the target, opened when a step first needs them. */
export class Session {
  readonly #config: TraceConfig;
  readonly #project: string;
  readonly #modelFolder: string;
  #engine: Promise<Engine> | null = null;
  #target: Promise<Target> | null = null;

  /** @param project and `modelFolder`: absolute folders. */
  constructor(config: TraceConfig, project: string, modelFolder: string) {
    this.#config = config;
    this.#project = project;
    this.#modelFolder = modelFolder;
  }

  /** @throws what the engine throws for a model folder it cannot run. */
  engine(): Promise<Engine> {
    this.#engine ??= openEngine(this.#modelFolder, this.#config.threads);
    return this.#engine;
  }

  /** @throws InputError when the project's target is none. */
  target(): Promise<Target> {
    this.#target ??= openTarget(this.#config, this.#project);
    return this.#target;
  }

  async close(): Promise<void> {
    const engine = this.#engine;
    this.#engine = null;
    if (engine) await (await engine.catch(() => null))?.close();
  }
}

async function openEngine(model: string, threads: number): Promise<Engine> {
  const { openLocalEngine } = await import('../engine/local/engine.js');
  return openLocalEngine({ model, threads });
}

async function openTarget(config: TraceConfig, project: string): Promise<Target> {
  const file = locateTarget(config, project);
  if (file !== null) return checkTarget(await importDefault(file), file);
  if (config.target === 'desk') return (await import('../targets/desk/desk.js')).desk;
  throw new InputError(
    `target: there is no target "${config.target}"`,
    'Targets that come with TRACE: desk. Your own is named by its path: `./environment.ts`.',
  );
}

/** A module's default export as a target. @throws InputError naming what it lacks. */
function checkTarget(value: unknown, file: string): Target {
  const given = (value ?? {}) as { readonly [member: string]: unknown };
  const functions = ['systemPrompt', 'scenario', 'open', 'split'];
  const lacks = [
    ...['name', 'family'].filter((member) => typeof given[member] !== 'string'),
    ...['maxTurns', 'successThreshold'].filter((member) => typeof given[member] !== 'number'),
    ...(Array.isArray(given.tools) ? [] : ['tools']),
    ...(given.toolKinds !== null && typeof given.toolKinds === 'object' ? [] : ['toolKinds']),
    ...functions.filter((member) => typeof given[member] !== 'function'),
  ];
  if (lacks.length > 0) {
    throw new InputError(
      `${file}: the default export is no target: ${lacks.join(', ')} missing or of the wrong type`,
      '`trace init` writes one to start from.',
    );
  }
  return value as Target;
}
