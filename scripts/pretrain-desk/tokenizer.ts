import { DESK_TOOLS } from '../../src/targets/desk/tools.js';
import {
  ASK_ADDRESS,
  ASK_USER,
  GUIDANCE,
  GUIDANCE_CLOSE,
  GUIDANCE_OPEN,
  POLICY,
} from '../../src/targets/desk/wording.js';
import {
  ADDRESSES,
  COLOURS,
  IDS,
  ORDER_STATUSES,
  OUTCOMES,
  PAYMENTS,
  PRICES,
  PRODUCTS,
  SIZES,
} from '../../src/targets/desk/words.js';

export const SPECIAL = {
  pad: '<|pad|>',
  unknown: '<|unknown|>',
  system: '<|system|>',
  user: '<|user|>',
  assistant: '<|assistant|>',
  tool: '<|tool|>',
  end: '<|end|>',
} as const;

const LOOKS = COLOURS.flatMap((colour) => SIZES.map((size) => `${colour}-${size}`));

/** Tokens that stand directly before an id: the keys by which it is recalled. */
export const KEYS: readonly string[] = [...PRODUCTS, ...LOOKS].map((key) => `${key}:`);

/** Values that are copied from one place of an episode to another. */
export const VALUES: readonly string[] = [...IDS, ...PAYMENTS, ...ADDRESSES, ...PRODUCTS, ...LOOKS];

const skeleton = (name: string, first: string) => `{"name":"${name}","arguments":{"${first}":"`;

/** Whole phrases and JSON skeletons: everything in desk's texts that is not a value. */
const PHRASES: readonly string[] = [
  ...POLICY,
  GUIDANCE_OPEN,
  GUIDANCE_CLOSE,
  ...Object.values(GUIDANCE),
  ASK_USER,
  ASK_ADDRESS,
  'I am user ',
  'To ',
  'Please ',
  '. Please ',
  'cancel order ',
  'return the ',
  'exchange the ',
  'readdress order ',
  ' of order ',
  ' for ',
  ...LOOKS.map((look) => ` for ${look}`),
  ...COLOURS.map((colour) => ` for the cheapest ${colour}`),
  ', ',
  ...Object.values(OUTCOMES).map((outcome) => ` ${outcome}`),
  ...DESK_TOOLS.map(({ function: { name, parameters } }) =>
    skeleton(name, (parameters.required as readonly string[])[0] as string),
  ),
  '","item":"',
  '","variant":"',
  '","payment":"',
  '","address":"',
  '"}}',
  '{"payments":["',
  '{"status":"',
  '","items":["',
  '{"variants":["',
  '","',
  '"]}',
  '{"ok":true}',
  '{"error":"not found"}',
  '{"error":"bad call"}',
  ...ORDER_STATUSES,
];

/** Printable ASCII and the line break, so that any such text can be written, if only letter by letter. */
const CHARACTERS: readonly string[] = [
  '\n',
  ...Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)),
];

/** All tokens; a token's id is its index. */
export const VOCABULARY: readonly string[] = [
  ...CHARACTERS,
  ...Object.values(SPECIAL),
  ...PHRASES,
  ...COLOURS,
  ...PRICES.map((price) => `$${price} `),
  ...KEYS,
  ...VALUES,
];

/**
 * `tokenizer.json` in the format of Hugging Face `tokenizers`: words and phrases are added tokens (the longest
 * match wins), the rest falls to a BPE model without merges, one token a character.
 */
export function tokenizerJson(): Record<string, unknown> {
  const special = new Set<string>(Object.values(SPECIAL));
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: VOCABULARY.slice(CHARACTERS.length).map((content, i) => ({
      id: CHARACTERS.length + i,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: special.has(content),
    })),
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: { type: 'Fuse' },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: SPECIAL.unknown,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(
        [...CHARACTERS, SPECIAL.unknown].map((token) => [token, VOCABULARY.indexOf(token)]),
      ),
      merges: [],
    },
  };
}

/** `tokenizer_config.json`. */
export function tokenizerConfig(context: number): Record<string, unknown> {
  return {
    tokenizer_class: 'PreTrainedTokenizerFast',
    model_max_length: context,
    clean_up_tokenization_spaces: false,
    eos_token: SPECIAL.end,
    pad_token: SPECIAL.pad,
    unk_token: SPECIAL.unknown,
  };
}

/**
 * `chat_template.jinja`. Tool schemas are left out: the model knows the desk's tools from its training, and a
 * prompt that lists them would be longer than an episode.
 */
export const CHAT_TEMPLATE = `{%- for message in messages -%}
{%- if message.role == 'assistant' -%}
${SPECIAL.assistant}{{ message.content or '' }}
{%- for call in message.tool_calls or [] -%}
{"name":{{ call.function.name | tojson }},"arguments":{
{%- for key, value in call.function.arguments | items -%}
{%- if not loop.first -%},{%- endif -%}{{ key | tojson }}:{{ value | tojson }}
{%- endfor -%}
}}
{%- endfor -%}
${SPECIAL.end}
{%- elif message.role in ['system', 'user', 'tool'] -%}
<|{{ message.role }}|>{{ message.content }}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}${SPECIAL.assistant}{%- endif -%}
`;
