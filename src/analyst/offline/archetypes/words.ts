/**
 * Text as words and what stands between them. A word is a run of letters, digits and the signs that tie a
 * value together (`card_12`, `$30`, `#W5`, `12.50`); everything else is literal glue.
 */
export interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const WORD = /[\p{L}\p{N}$#_]+(?:\.\p{N}+)?/gu;

export function wordsOf(text: string): Word[] {
  return [...text.matchAll(WORD)].map((match) => ({
    text: match[0],
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** The text with every word replaced by U+0000: two texts of one shape have the same glue. */
export function glueOf(text: string): string {
  return text.replace(WORD, '\u0000');
}

/** Where `needle`'s words stand in `hay` as neighbours with the same glue; index of the first word or −1. */
export function findWords(hay: string, needle: string): number {
  const words = wordsOf(hay);
  const count = wordsOf(needle).length;
  if (count === 0) return -1;
  for (let i = 0; i + count <= words.length; i++)
    if (hay.slice(words[i]!.start, words[i + count - 1]!.end) === needle) return i;
  return -1;
}

/** Words of a text, with neighbours that are one of the values together as one unit (longest first). */
export function unitsOf(text: string, values: ReadonlySet<string>): (Word & { readonly value: boolean })[] {
  const words = wordsOf(text);
  const longest = Math.max(1, ...[...values].map((value) => wordsOf(value).length));
  const units: (Word & { readonly value: boolean })[] = [];
  for (let i = 0; i < words.length; ) {
    let taken = 0;
    for (let n = Math.min(longest, words.length - i); n > 0 && taken === 0; n--)
      if (values.has(text.slice(words[i]!.start, words[i + n - 1]!.end))) taken = n;
    const { start } = words[i]!;
    const { end } = words[i + Math.max(1, taken) - 1]!;
    units.push({ text: text.slice(start, end), start, end, value: taken > 0 });
    i += Math.max(1, taken);
  }
  return units;
}

/** Most frequent string; ties go to the one seen first. Undefined for an empty list. */
export function mostFrequent(items: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  let best: string | undefined;
  for (const [item, count] of counts) if (best === undefined || count > counts.get(best)!) best = item;
  return best;
}

/** The number inside a word (`$30` → 30), or null. */
export function numberIn(word: string): number | null {
  const match = /\d+(?:\.\d+)?/.exec(word);
  return match ? Number(match[0]) : null;
}
