import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeFileWhole, writeJsonWhole } from '../../../run/files.js';
import { type ModelConfig, parameterShapes } from '../model/config.js';
import { readChatTemplate } from './chat-template.js';
import { formatModelConfig, parseModelConfig, parseTokenIds } from './config.js';
import { openGguf } from './gguf/gguf-file.js';
import { ggufConfig, ggufParameters } from './gguf/gguf-model.js';
import { ggufTokenizer } from './gguf/gguf-tokenizer.js';
import { readModelTensors, type Tensors, writeSafetensors } from './safetensors.js';
import { FolderTokenizer } from './tokenizer.js';

/** A model as its Hugging Face folder holds it. */
export interface ModelFolder {
  readonly path: string;
  readonly config: ModelConfig;
  /** By Hugging Face names, f32; exactly those of `parameterShapes(config)`. */
  readonly parameters: Tensors;
  readonly tokenizer: FolderTokenizer;
  readonly chatTemplate: string | null;
}

/** What `writeModelFolder` needs besides shape and parameters. */
export interface TokenizerFiles {
  /** Content of tokenizer.json. */
  readonly tokenizer: Readonly<Record<string, unknown>>;
  /** Content of tokenizer_config.json. */
  readonly tokenizerConfig: Readonly<Record<string, unknown>>;
  readonly chatTemplate: string | null;
}

/**
 * Reads a model: a Hugging Face folder, a GGUF file, or a folder that holds one GGUF file and no config.json.
 * @throws Error naming file and field or tensor.
 */
export function readModel(path: string): ModelFolder {
  if (!existsSync(path)) throw new Error(`${path} is missing: no model folder and no GGUF file`);
  if (!statSync(path).isDirectory()) return readGgufModel(path);
  if (existsSync(join(path, 'config.json'))) return readModelFolder(path);
  const files = readdirSync(path).filter((name) => name.endsWith('.gguf'));
  if (files.length > 1) throw new Error(`${path} holds ${files.length} GGUF files: name one of them`);
  return files.length === 1 ? readGgufModel(join(path, files[0] as string)) : readModelFolder(path);
}

/**
 * Reads a GGUF file; quantised tensors become f32. Tokenizer and chat template come from tokenizer.json,
 * tokenizer_config.json and chat_template.jinja where they stand beside the file, else from its metadata.
 * @throws Error naming file and field or tensor.
 */
export function readGgufModel(path: string): ModelFolder {
  const file = openGguf(path);
  try {
    const config = ggufConfig(file);
    const folder = dirname(path);
    const beside = (name: string) => {
      const found = join(folder, name);
      return existsSync(found) ? readJson(found) : null;
    };
    const tokenizerJson = beside('tokenizer.json');
    const made = tokenizerJson === null ? ggufTokenizer(file.metadata, path) : null;
    const tokenizerConfig = beside('tokenizer_config.json') ?? made?.tokenizerConfig ?? {};
    const template = file.metadata.get('tokenizer.chat_template');
    return {
      path,
      config,
      parameters: ggufParameters(file, config),
      tokenizer: new FolderTokenizer(made?.tokenizer ?? tokenizerJson!, tokenizerConfig, config.eosTokenIds),
      chatTemplate:
        readChatTemplate(folder, tokenizerConfig) ?? (typeof template === 'string' ? template : null),
    };
  } finally {
    file.close();
  }
}

/**
 * Reads config.json, the weights (one file or shards), tokenizer.json, tokenizer_config.json and the chat
 * template. Tokens that end a completion come from generation_config.json, else from config.json.
 * @throws Error naming file and field or tensor; a shape that contradicts config.json names both.
 */
export function readModelFolder(folder: string): ModelFolder {
  const configFile = join(folder, 'config.json');
  const parsed = parseModelConfig(readJson(configFile), configFile);
  const eosTokenIds = readEosTokenIds(folder, parsed);
  const config: ModelConfig = { ...parsed, eosTokenIds };
  const parameters = selectParameters(readModelTensors(folder), config, folder);
  const tokenizerJson = readJson(join(folder, 'tokenizer.json'));
  const tokenizerConfigFile = join(folder, 'tokenizer_config.json');
  const tokenizerConfig = existsSync(tokenizerConfigFile) ? readJson(tokenizerConfigFile) : {};
  let tokenizer: FolderTokenizer;
  try {
    tokenizer = new FolderTokenizer(tokenizerJson, tokenizerConfig, eosTokenIds);
  } catch (error) {
    throw new Error(`${join(folder, 'tokenizer.json')}: ${(error as Error).message}`);
  }
  return {
    path: folder,
    config,
    parameters,
    tokenizer,
    chatTemplate: readChatTemplate(folder, tokenizerConfig),
  };
}

/**
 * Writes a folder that `readModelFolder` and transformers read: config.json, generation_config.json,
 * model.safetensors (f32), tokenizer.json, tokenizer_config.json and, when there is one, chat_template.jinja.
 * Equal input gives equal bytes.
 * @throws Error when a parameter is missing, unknown or has another shape than the config says.
 */
export function writeModelFolder(
  folder: string,
  config: ModelConfig,
  parameters: Tensors,
  files: TokenizerFiles,
): void {
  const selected = selectParameters(parameters, config, folder);
  for (const name of parameters.keys()) {
    if (!selected.has(name)) throw new Error(`${folder}: "${name}" is no parameter of this model`);
  }
  const formatted = formatModelConfig(config);
  writeJsonWhole(join(folder, 'config.json'), formatted);
  writeJsonWhole(join(folder, 'generation_config.json'), {
    do_sample: true,
    eos_token_id: formatted.eos_token_id,
  });
  writeSafetensors(join(folder, 'model.safetensors'), selected);
  writeJsonWhole(join(folder, 'tokenizer.json'), files.tokenizer);
  writeJsonWhole(join(folder, 'tokenizer_config.json'), files.tokenizerConfig);
  if (files.chatTemplate !== null) writeFileWhole(join(folder, 'chat_template.jinja'), files.chatTemplate);
}

/** Exactly the parameters of the model, in the order of `parameterShapes`, shapes checked. */
function selectParameters(tensors: Tensors, config: ModelConfig, folder: string): Tensors {
  const parameters: Tensors = new Map();
  for (const [name, shape] of parameterShapes(config)) {
    const tensor = tensors.get(name);
    if (tensor === undefined) throw new Error(`${folder}: the weights lack "${name}"`);
    if (tensor.shape.join() !== shape.join()) {
      throw new Error(
        `${folder}: "${name}" is [${tensor.shape.join(', ')}], config.json means [${shape.join(', ')}]`,
      );
    }
    parameters.set(name, tensor);
  }
  return parameters;
}

function readEosTokenIds(folder: string, config: ModelConfig): readonly number[] {
  const file = join(folder, 'generation_config.json');
  if (existsSync(file)) {
    const ids = parseTokenIds(readJson(file).eos_token_id, `${file}: "eos_token_id"`);
    if (ids.length > 0) return ids;
  }
  return config.eosTokenIds;
}

function readJson(file: string): Record<string, unknown> {
  if (!existsSync(file)) throw new Error(`${file} is missing: not a Hugging Face model folder`);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file} is not JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${file} must be a JSON object`);
  }
  return value as Record<string, unknown>;
}
