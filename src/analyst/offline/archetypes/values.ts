/**
 * How atomic values look and how new ones are made: learned from examples. Closed vocabularies (names, colours,
 * statuses, prices) are reused word by word; codes (ids) keep only their alphabet, place by place, so that no
 * observed id is needed to make a new one.
 */
export type ValuePart =
  /** One of these, literally. */
  | { readonly words: readonly string[] }
  /** One character of each alphabet in turn. */
  | { readonly alphabets: readonly string[] };

/** Parts that are written one after the other, such as `card` + `_` + `12`. */
export type ValueMaker = readonly ValuePart[];

/** More distinct numbers than this are a code, not a vocabulary of quantities. */
const MOST_QUANTITIES = 30;

const runs = (value: string): string[] => value.match(/\p{L}+|\p{N}+(?:\.\p{N}+)?|[^\p{L}\p{N}]/gu) ?? [];
const signature = (value: string): string =>
  runs(value)
    .map((run) => (/^\p{L}/u.test(run) ? 'a' : /^\p{N}/u.test(run) ? 'n' : run))
    .join('');

/**
 * Learns a maker from observed values (repeats count).
 * @param code the value names a record (it is passed to a tool): its digits are an id, never a quantity.
 * @throws Error for an empty list.
 */
export function learnMaker(values: readonly string[], code: boolean): ValueMaker {
  if (values.length === 0) throw new Error('cannot learn how values look from no value');
  const bySignature = new Map<string, string[]>();
  for (const value of values) {
    const key = signature(value);
    bySignature.set(key, [...(bySignature.get(key) ?? []), value]);
  }
  // One shape only: the commonest. Rarer shapes would need another grammar and add nothing to teach.
  const kept = [...bySignature.values()].reduce((a, b) => (b.length > a.length ? b : a));
  const columns = runs(kept[0]!).map((_, i) => kept.map((value) => runs(value)[i]!));
  return columns.map((column) => {
    const distinct = [...new Set(column)];
    if (distinct.length === 1 && !(code && /^\p{N}/u.test(distinct[0]!))) return { words: distinct };
    if (/^\p{N}/u.test(distinct[0]!) && (code || distinct.length > MOST_QUANTITIES)) return alphabets(column);
    return { words: [...distinct].sort(compareNumbersThenText) };
  });
}

/** Alphabets of the commonest length, place by place; a place that saw most digits takes them all. */
function alphabets(column: readonly string[]): ValuePart {
  const lengths = new Map<number, string[]>();
  for (const value of column) lengths.set(value.length, [...(lengths.get(value.length) ?? []), value]);
  const kept = [...lengths.values()].reduce((a, b) => (b.length > a.length ? b : a));
  return {
    alphabets: Array.from({ length: kept[0]!.length }, (_, i) => {
      const seen = [...new Set(kept.map((value) => value[i]!))].sort();
      const digits = '0123456789';
      return seen.length >= 4 && seen.every((c) => digits.includes(c)) ? digits : seen.join('');
    }),
  };
}

function compareNumbersThenText(a: string, b: string): number {
  const difference = Number(a) - Number(b);
  if (!Number.isNaN(difference)) return difference;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Number of values a maker can make (capped at Number.MAX_SAFE_INTEGER). */
export function variety(maker: ValueMaker): number {
  let n = 1;
  for (const part of maker) {
    n *= 'words' in part ? part.words.length : part.alphabets.reduce((p, a) => p * a.length, 1);
    if (n > Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER;
  }
  return n;
}
