import type { Tokenizer } from '../../src/engine/contract.js';

const SPECIAL = [
  '<|im_start|>',
  '<|im_end|>',
  '<|end|>',
  '<think>',
  '</think>',
  '<tool_call>',
  '</tool_call>',
];

/**
 * A tokenizer for tests in which most texts have several spellings: single characters and pairs of letters are
 * tokens, and encoding takes pairs greedily. Tokens sampled one character at a time are therefore not what
 * encoding their text gives, which shows whether anything is tokenised again.
 */
export class PairTokenizer implements Tokenizer {
  readonly eosTokenIds = [1];
  readonly #ids = new Map<string, number>();
  readonly #texts: string[] = [];

  constructor() {
    for (const text of SPECIAL) this.#id(text);
    const letters = [...'abcdefghijklmnopqrstuvwxyz'];
    for (const a of letters) for (const b of letters) this.#id(a + b);
    this.#id('\n');
    for (let code = 32; code < 127; code++) this.#id(String.fromCharCode(code));
  }

  encode(text: string): number[] {
    return this.#split(text, true);
  }

  /** A spelling that `encode` never gives for texts with two letters in a row. */
  spell(text: string): number[] {
    return this.#split(text, false);
  }

  decode(tokens: readonly number[]): string {
    return tokens.map((token) => this.#texts[token]).join('');
  }

  tokenId(token: string): number | undefined {
    return this.#ids.get(token);
  }

  get size(): number {
    return this.#texts.length;
  }

  #split(text: string, pairs: boolean): number[] {
    const tokens: number[] = [];
    for (let i = 0; i < text.length; ) {
      const special = text[i] === '<' ? SPECIAL.find((s) => text.startsWith(s, i)) : undefined;
      const pair = text.slice(i, i + 2);
      const piece = special ?? (pairs && /^[a-z]{2}$/.test(pair) ? pair : text[i]!);
      tokens.push(this.#id(piece));
      i += piece.length;
    }
    return tokens;
  }

  #id(piece: string): number {
    let id = this.#ids.get(piece);
    if (id === undefined) {
      id = this.#texts.push(piece) - 1;
      this.#ids.set(piece, id);
    }
    return id;
  }
}
