import { writeModelFolder } from '../../src/engine/local/folder/model-folder.js';
import type { ModelConfig } from '../../src/engine/local/model/config.js';
import { transposeLinears } from '../../src/engine/local/model/parameters.js';
import { tinyConfig, tinyParameters } from '../../src/engine/local/sample/test-model.js';

/** Every message, then the end-of-turn word. */
const TEMPLATE = '{% for m in messages %}{{ m.content }} w0 {% endfor %}';

/**
 * Writes a model folder for the local engine: small, random, with a word-level tokenizer of the words `w0` (end of
 * turn) to `w39`.
 */
export function writeTinyModel(folder: string, config: ModelConfig = tinyConfig): void {
  const parameters = new Map(Object.entries(transposeLinears(Object.entries(tinyParameters(config)))));
  writeModelFolder(folder, config, parameters, {
    tokenizer: {
      version: '1.0',
      added_tokens: [],
      normalizer: null,
      pre_tokenizer: { type: 'Whitespace' },
      post_processor: null,
      decoder: null,
      model: {
        type: 'WordLevel',
        vocab: Object.fromEntries(Array.from({ length: config.vocabularySize }, (_, i) => [`w${i}`, i])),
        unk_token: 'w0',
      },
    },
    tokenizerConfig: { tokenizer_class: 'PreTrainedTokenizerFast' },
    chatTemplate: TEMPLATE,
  });
}
