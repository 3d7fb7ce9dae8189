import { addInPlace, subtract } from '../python/numbers.js';
import {
  attributeError,
  equal,
  Float,
  iterate,
  len,
  str,
  typeError,
  typeName,
  valueError,
} from '../python/value.js';
import type { Order, Variant } from './models.js';
import type { RetailTools } from './toolkit.js';

/** What the tools that replace items of an order have in common. */

/** `list.count` or `str.count` of the argument itself, whatever it is. */
function count(items: unknown, item: unknown): number {
  if (Array.isArray(items)) return items.filter((other) => equal(other, item)).length;
  if (typeof items !== 'string') throw attributeError(typeName(items), 'count');
  // Only characters of the same string are looked for.
  return items.split(item as string).length - 1;
}

/** @throws PythonError with `message(id)` for the first id that is named more often than the order has it. */
export function checkItems(order: Order, ids: unknown, message: (id: string) => string): void {
  const owned = order.items.map((item) => item.item_id as unknown);
  for (const id of iterate(ids)) if (count(ids, id) > count(owned, id)) throw valueError(message(str(id)));
}

export interface Replacement {
  readonly pairs: readonly (readonly [old: unknown, next: unknown])[];
  /** Sum of the price differences, unrounded: an int only where nothing is replaced. */
  readonly difference: number | Float;
  /** The variant of the last pair. */
  readonly last: Variant | undefined;
}

/** Looks up what replaces what, pair by pair. @throws PythonError for an item that cannot be replaced. */
export function replacement(
  kit: RetailTools,
  order: Order,
  oldIds: unknown,
  newIds: unknown,
  mayBeSame: boolean,
): Replacement {
  const next = iterate(newIds);
  const pairs = iterate(oldIds).map((old, i) => [old, next[i]] as const);
  let difference: number | Float = 0;
  let last: Variant | undefined;
  for (const [oldId, newId] of pairs) {
    if (!mayBeSame && equal(oldId, newId))
      throw valueError('The new item id should be different from the old item id');
    const item = order.items.find(({ item_id }) => item_id === oldId);
    if (!item) throw valueError(`Item ${str(oldId)} not found`);
    last = kit.variant(item.product_id, newId);
    if (!last.available) throw valueError(`New item ${str(newId)} not found or available`);
    difference = addInPlace(difference, subtract(last.price, item.price));
  }
  return { pairs, difference, last };
}

/** @throws PythonError with `message` where the two lists differ in length. */
export function checkLengths(oldIds: unknown, newIds: unknown, message: string): void {
  if (len(oldIds) !== len(newIds)) throw valueError(message);
}

/** `sorted(ids)`. */
export function sorted(ids: unknown): string[] {
  const items = [...iterate(ids)];
  const odd = items.find((item) => typeof item !== 'string');
  if (odd !== undefined && items.length > 1) {
    const other = items.find((item) => typeName(item) !== typeName(odd));
    if (other !== undefined)
      throw typeError(
        `'<' not supported between instances of '${typeName(items[1])}' and '${typeName(items[0])}'`,
      );
  }
  const value = (item: unknown) => (item instanceof Float ? item.value : (item as string | number));
  return items.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0)) as string[];
}
