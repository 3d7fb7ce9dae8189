import { mentions } from './values.js';

/**
 * How a value stands in a tool result: `alternative` beside others of its kind, so that it has to be chosen, or
 * `given` alone in its place, so that it only has to be taken over.
 */
export type Standing = 'alternative' | 'given';

/** Parsed content of a tool result; text that is no JSON stays text. */
export function parseResult(content: string): unknown {
  try {
    return JSON.parse(content) as unknown;
  } catch {
    return content;
  }
}

/** An object whose keys are ids (`{"item-17": …, "item-18": …}`) is a list in disguise. */
function keyedById(value: object): boolean {
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => /\d/.test(key));
}

/**
 * Standings of a value in a parsed result. Members of a list (or of an object keyed by ids) with at least two
 * members are alternatives to each other when the value occurs in one of them and not in all.
 */
export function standings(result: unknown, value: string): Set<Standing> {
  const found = new Set<Standing>();
  const holds = (item: unknown): boolean => {
    if (typeof item === 'string') return mentions(item, value);
    if (typeof item === 'number') return String(item) === value;
    if (Array.isArray(item)) return item.some(holds);
    if (typeof item === 'object' && item !== null)
      return Object.entries(item).some(([key, part]) => key === value || holds(part));
    return false;
  };
  const walk = (item: unknown, among: boolean): void => {
    if (typeof item === 'string' || typeof item === 'number') {
      if (holds(item)) found.add(among ? 'alternative' : 'given');
      return;
    }
    if (typeof item !== 'object' || item === null) return;
    const list = Array.isArray(item) || keyedById(item);
    const members = Object.entries(item);
    const holding = members.filter(([key, part]) => (!Array.isArray(item) && key === value) || holds(part));
    const choice = list && members.length >= 2 && holding.length < members.length;
    for (const [key, part] of holding) {
      if (!Array.isArray(item) && key === value) found.add(choice || among ? 'alternative' : 'given');
      walk(part, among || choice);
    }
  };
  walk(result, false);
  return found;
}
