import type { MetadataValue } from './gguf-file.js';

/** Contents of tokenizer.json and tokenizer_config.json. */
export interface TokenizerObjects {
  readonly tokenizer: Record<string, unknown>;
  readonly tokenizerConfig: Record<string, unknown>;
}

/** Token types of the metadata. */
const CONTROL = 3;
const USER_DEFINED = 4;

const byteLevel = (useRegex: boolean) => ({
  type: 'ByteLevel',
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: useRegex,
});
const splitBy = (pattern: string) => ({
  type: 'Sequence',
  pretokenizers: [
    { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false },
    byteLevel(false),
  ],
});
/** The expression of the GPT-4 family of pre-tokenizers; it differs in how many digits stand together. */
const words = (digits: string) =>
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" +
  `${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;

interface PreTokenizer {
  readonly preTokenizer: object;
  readonly normalizer?: object;
  /** A word that is a token is not merged from its parts. */
  readonly ignoreMerges?: boolean;
}

const QWEN: PreTokenizer = { preTokenizer: splitBy(words('\\p{N}')), normalizer: { type: 'NFC' } };
const LLAMA3: PreTokenizer = { preTokenizer: splitBy(words('\\p{N}{1,3}')), ignoreMerges: true };
const GPT2: PreTokenizer = { preTokenizer: byteLevel(true) };
const SMOLLM: PreTokenizer = {
  preTokenizer: {
    type: 'Sequence',
    pretokenizers: [{ type: 'Digits', individual_digits: true }, byteLevel(true)],
  },
};
/** By `tokenizer.ggml.pre`. */
const PRE_TOKENIZERS: Readonly<Record<string, PreTokenizer>> = {
  qwen2: QWEN,
  'llama-bpe': LLAMA3,
  llama3: LLAMA3,
  'llama-v3': LLAMA3,
  smollm: SMOLLM,
  'gpt-2': GPT2,
};

/**
 * A byte-level BPE tokenizer from a GGUF file's metadata.
 * @throws Error naming the kind of tokenizer when it is another one, and the mend: tokenizer.json beside the file.
 */
export function ggufTokenizer(metadata: ReadonlyMap<string, MetadataValue>, path: string): TokenizerObjects {
  const field = (name: string) => metadata.get(`tokenizer.ggml.${name}`);
  const mend = 'put the tokenizer.json of the model beside it';
  if (field('model') !== 'gpt2')
    throw new Error(`${path}: a tokenizer of kind ${JSON.stringify(field('model') ?? null)}; ${mend}`);
  const pre = field('pre');
  const rules =
    typeof pre === 'string' && Object.hasOwn(PRE_TOKENIZERS, pre) ? PRE_TOKENIZERS[pre] : undefined;
  if (!rules)
    throw new Error(
      `${path}: "tokenizer.ggml.pre" is ${JSON.stringify(pre ?? null)}; known: ${Object.keys(PRE_TOKENIZERS).join(', ')}; else ${mend}`,
    );
  const tokens = strings(field('tokens'), `${path}: "tokenizer.ggml.tokens"`);
  const merges = strings(field('merges'), `${path}: "tokenizer.ggml.merges"`);
  const types = field('token_type');
  const typeOf = (id: number) => (Array.isArray(types) ? types[id] : undefined);
  const added = tokens.flatMap((content, id) => {
    const type = typeOf(id);
    if (type !== CONTROL && type !== USER_DEFINED) return [];
    const plain = { single_word: false, lstrip: false, rstrip: false, normalized: false };
    return [{ id, content, ...plain, special: type === CONTROL }];
  });
  const text = (name: string): string | null => {
    const id = field(name);
    return typeof id === 'number' ? (tokens[id] ?? null) : null;
  };
  return {
    tokenizer: {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: added,
      normalizer: rules.normalizer ?? null,
      pre_tokenizer: rules.preTokenizer,
      post_processor: null,
      decoder: byteLevel(true),
      model: {
        type: 'BPE',
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: null,
        end_of_word_suffix: null,
        fuse_unk: false,
        byte_fallback: false,
        ignore_merges: rules.ignoreMerges ?? false,
        vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
        merges,
      },
    },
    tokenizerConfig: {
      tokenizer_class: 'PreTrainedTokenizerFast',
      bos_token: text('bos_token_id'),
      eos_token: text('eos_token_id'),
    },
  };
}

function strings(value: MetadataValue | undefined, where: string): readonly string[] {
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
    throw new Error(`${where} must be a list of texts`);
  return value as readonly string[];
}
