import { readModelFolder, writeModelFolder } from '../../src/engine/local/folder/model-folder.js';
import type { ModelConfig } from '../../src/engine/local/model/config.js';
import { type Parameters, transposeLinears } from '../../src/engine/local/model/parameters.js';
import { CONTEXT } from './data.js';
import { CHAT_TEMPLATE, tokenizerConfig, tokenizerJson } from './tokenizer.js';

/** Writes a Hugging Face folder with model, tokenizer and chat template; equal parameters give equal bytes. */
export function writeDeskModel(folder: string, config: ModelConfig, parameters: Parameters): void {
  const tensors = transposeLinears(Object.entries(parameters));
  writeModelFolder(folder, config, new Map(Object.entries(tensors)), {
    tokenizer: tokenizerJson(),
    tokenizerConfig: tokenizerConfig(CONTEXT),
    chatTemplate: CHAT_TEMPLATE,
  });
}

/** Parameters of such a folder in memory's layout. */
export function readDeskParameters(folder: string): Parameters {
  return transposeLinears(readModelFolder(folder).parameters);
}
