import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers';
import type { Tokenizer } from '../../contract.js';

/**
 * A tokenizer from the parsed `tokenizer.json` and `tokenizer_config.json` of a Hugging Face folder.
 * `decode` keeps every space and special token, so that it inverts `encode` wherever the vocabulary allows it.
 */
export class FolderTokenizer implements Tokenizer {
  readonly eosTokenIds: readonly number[];
  readonly bosToken: string;
  readonly #tokenizer: HuggingFaceTokenizer;
  readonly #hasDecoder: boolean;

  /**
   * @param eosTokenIds tokens that end a completion.
   * @throws Error when `tokenizer.json` is not one.
   */
  constructor(tokenizerJson: object, tokenizerConfig: object, eosTokenIds: readonly number[]) {
    this.#tokenizer = new HuggingFaceTokenizer(tokenizerJson, tokenizerConfig);
    this.#hasDecoder = this.#tokenizer.decoder !== null;
    this.eosTokenIds = eosTokenIds;
    this.bosToken = tokenText((tokenizerConfig as { bos_token?: unknown }).bos_token);
  }

  /** @throws Error when the text holds something that the vocabulary cannot express and there is no unknown token. */
  encode(text: string): number[] {
    if (text === '') return [];
    const { ids, tokens } = this.#tokenizer.encode(text, { add_special_tokens: false });
    for (let i = 0; i < ids.length; i++) {
      if (!Number.isInteger(ids[i])) {
        throw new Error(`the vocabulary has no token for ${JSON.stringify(tokens[i])} and no unknown token`);
      }
    }
    return ids;
  }

  decode(tokens: readonly number[]): string {
    // Ids between the vocabulary's end and the model's padded size have no text; the library would print them.
    const known = tokens.filter((id) => this.#tokenizer.id_to_token(id) !== undefined);
    if (known.length === 0) return '';
    if (!this.#hasDecoder) return known.map((id) => this.#tokenizer.id_to_token(id)).join('');
    return this.#tokenizer.decode(known, { skip_special_tokens: false, clean_up_tokenization_spaces: false });
  }

  tokenId(token: string): number | undefined {
    return this.#tokenizer.token_to_id(token);
  }
}

/** `bos_token` of tokenizer_config.json: a text, or an object with it as `content`; '' for none. */
function tokenText(token: unknown): string {
  if (typeof token === 'string') return token;
  const content = (token as { content?: unknown } | null | undefined)?.content;
  return typeof content === 'string' ? content : '';
}
