import { existsSync, readdirSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { LoadedConfig } from '../config/load.js';
import type { TraceConfig } from '../config/schema.js';
import { digestFile, digestJson } from '../run/digest.js';
import { InputError } from '../run/errors.js';
import { packageRoot } from '../run/package-root.js';

/** A base model as found on disk. */
export interface LocatedModel {
  /** Absolute: a Hugging Face folder or a GGUF file. */
  readonly folder: string;
  /** SHA-256 over the files that decide what it computes. */
  readonly digest: string;
}

/**
 * Finds the base model: a name among the models that come with TRACE, or the path of a Hugging Face folder or a GGUF
 * file relative to the project.
 * @throws InputError when there is none, or files are missing.
 */
export function locateModel(model: string, project: string): LocatedModel {
  const isName = !/[./\\]/.test(model);
  const folder = isName ? join(packageRoot(), 'models', model) : resolve(project, model);
  const gguf = ggufFile(folder);
  if (gguf !== null) {
    const names = [gguf, join(dirname(gguf), 'tokenizer.json')].filter((file) => existsSync(file));
    return { folder: gguf, digest: digestJson(names.map((file) => digestFile(file))) };
  }
  const missing = ['config.json', 'tokenizer.json'].filter((name) => !existsSync(join(folder, name)));
  const weights = existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith('.safetensors'))
        .sort()
    : [];
  if (weights.length === 0) missing.push('*.safetensors');
  if (missing.length > 0) {
    throw new InputError(
      `model: ${model} is no model folder: ${folder} lacks ${missing.join(', ')}`,
      'Give the name `desk-base`, or the path of a Hugging Face folder or a GGUF file (docs/engine.md says of which families).',
    );
  }
  const names = ['config.json', 'tokenizer.json', ...weights];
  return {
    folder,
    digest: digestJson(names.map((name) => [name, digestFile(join(folder, name))])),
  };
}

/** The GGUF file that a path means: itself, or the only one in a folder without config.json. */
function ggufFile(path: string): string | null {
  if (path.endsWith('.gguf')) return existsSync(path) ? path : null;
  if (!existsSync(path) || existsSync(join(path, 'config.json'))) return null;
  const files = readdirSync(path).filter((name) => name.endsWith('.gguf'));
  return files.length === 1 ? join(path, files[0] as string) : null;
}

/** The file of a project's own target, or null for a target that comes with TRACE. @throws InputError */
export function locateTarget(config: TraceConfig, project: string): string | null {
  const { target } = config;
  if (!/[./\\]/.test(target)) return null;
  const file = isAbsolute(target) ? target : resolve(project, target);
  if (!existsSync(file)) {
    throw new InputError(`target: there is no file ${file}`, 'Give `desk`, or the path of a module.');
  }
  return file;
}

/** What every step's result depends on: the seed, the base model's bytes and the target. */
export function commonSettings(loaded: LoadedConfig, model: LocatedModel): Record<string, unknown> {
  const target = locateTarget(loaded.config, loaded.project);
  return {
    seed: loaded.config.seed,
    model: model.digest,
    target: target === null ? loaded.config.target : digestFile(target),
    // Rollouts do not depend on the analyst: the step that does names another one in its own options.
    analyst: 'offline',
    // Sums are rounded in another order with another number of threads.
    threads: loaded.config.threads,
  };
}
