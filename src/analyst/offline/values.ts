/** Comparing and recognising argument values, without knowing any target. */

/** A scalar inside an argument, with the names that lead to it (list positions left out). */
export interface Leaf {
  readonly path: string;
  readonly value: string | number | boolean | null;
}

/** Scalars of an arguments object, depth first: `{flights: [{number: 'A1'}]}` has the leaf `flights.number`. */
export function leaves(value: unknown, path = ''): Leaf[] {
  if (Array.isArray(value)) return value.flatMap((item) => leaves(item, path));
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, item]) => leaves(item, path === '' ? key : `${path}.${key}`));
  if (value === undefined) return [];
  return [{ path, value: value as Leaf['value'] }];
}

/** A scalar as text, so that `5`, `5.0` and `"5"`, `" Yes"` and `"yes"` are the same. */
export function normalise(value: Leaf['value']): string {
  const text = String(value).trim().toLowerCase();
  return text !== '' && Number.isFinite(Number(text)) && text.length < 16 ? String(Number(text)) : text;
}

const DATE = /^\d{4}-\d\d-\d\d/;

/**
 * Whether a value names a thing (an order, a variant, a payment method) rather than says how much, when or in
 * which way: a text with a digit that is no date, no number and no sentence.
 */
export function isIdentifier(value: Leaf['value']): value is string {
  return (
    typeof value === 'string' &&
    /\d/.test(value) &&
    /[^\d.,\s$%+-]|^\d{5,}$/.test(value) &&
    !DATE.test(value) &&
    value.trim().split(/\s+/).length <= 2
  );
}

const WORD = /[\p{L}\p{N}_]/u;

/** Whether a text holds a value as a whole, not as part of a longer word or number; case is ignored. */
export function mentions(text: string, value: string): boolean {
  const where = text.toLowerCase();
  const what = value.toLowerCase();
  if (what === '') return false;
  for (let at = where.indexOf(what); at >= 0; at = where.indexOf(what, at + 1)) {
    const before = where[at - 1];
    const after = where[at + what.length];
    const cleanStart = before === undefined || !WORD.test(before) || !WORD.test(what[0]!);
    const cleanEnd = after === undefined || !WORD.test(after) || !WORD.test(what.at(-1)!);
    if (cleanStart && cleanEnd) return true;
  }
  return false;
}

/** Values that one list holds more often than the other, each as often as it is in excess. */
export function excess(of: readonly string[], over: readonly string[]): string[] {
  const left = [...over];
  return of.filter((value) => {
    const at = left.indexOf(value);
    if (at < 0) return true;
    left.splice(at, 1);
    return false;
  });
}

/** Where a value differs between a golden call and a made one. */
export interface ArgumentDifference {
  readonly path: string;
  /** Golden values that the call lacks, as given. */
  readonly golden: readonly Leaf['value'][];
  /** Values of the call that the golden action does not have, as given. */
  readonly made: readonly Leaf['value'][];
}

export interface CompareOptions {
  /** Order inside lists counts. */
  readonly ordered: boolean;
  /** Only these arguments count. */
  readonly only?: readonly string[] | undefined;
}

/** Differences of two arguments objects, path by path. */
export function differences(golden: object, made: object, options: CompareOptions): ArgumentDifference[] {
  const counted = (leaf: Leaf) =>
    options.only === undefined || options.only.includes(leaf.path.split('.')[0]!);
  const group = (from: object) => {
    const byPath = new Map<string, Leaf['value'][]>();
    for (const leaf of leaves(from))
      if (counted(leaf)) byPath.set(leaf.path, [...(byPath.get(leaf.path) ?? []), leaf.value]);
    return byPath;
  };
  const [right, seen] = [group(golden), group(made)];
  const result: ArgumentDifference[] = [];
  for (const path of new Set([...right.keys(), ...seen.keys()])) {
    const [wanted, got] = [right.get(path) ?? [], seen.get(path) ?? []];
    const [wantedTexts, gotTexts] = [wanted.map(normalise), got.map(normalise)];
    const missing = excess(wantedTexts, gotTexts);
    const surplus = excess(gotTexts, wantedTexts);
    const disordered = options.ordered && wantedTexts.join('\n') !== gotTexts.join('\n');
    if (missing.length + surplus.length === 0 && !disordered) continue;
    const original = (texts: readonly string[], from: readonly Leaf['value'][]) =>
      from.filter((value) => texts.includes(normalise(value)));
    result.push({ path, golden: original(missing, wanted), made: original(surplus, got) });
  }
  return result;
}
