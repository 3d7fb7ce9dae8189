/**
 * Bytes of UTF-8 that make one token, on the low side of what current tokenizers reach on JSON and English (3.5 to
 * 4.5), so that estimates come out high rather than low.
 */
const BYTES_PER_TOKEN = 3.5;

/** Estimated tokens of a text; no tokenizer is asked, for the model may be any. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text, 'utf8') / BYTES_PER_TOKEN);
}

/** Characters that fill so many tokens, for plain text. */
export const charactersOf = (tokens: number): number => Math.floor(tokens * BYTES_PER_TOKEN);

/**
 * Shortens a text from its middle and says how much was left out.
 * @param head share of what stays that is taken from the beginning.
 */
export function shorten(text: string, characters: number, head = 0.6): string {
  if (text.length <= characters) return text;
  const mark = (left: number) => ` […${left.toLocaleString('en-US')} characters left out…] `;
  const room = Math.max(0, characters - mark(text.length).length);
  const start = Math.floor(room * head);
  const end = room - start;
  return `${text.slice(0, start)}${mark(text.length - start - end)}${end === 0 ? '' : text.slice(-end)}`;
}
