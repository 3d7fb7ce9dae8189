import { RecordError } from './parse.js';

/**
 * JSON with the keys of every object in code-unit order, so that equal values have equal texts.
 * @throws RecordError for a value nested deeper than the stack allows.
 */
export function stableJson(value: unknown): string {
  try {
    return JSON.stringify(value, (_, member: unknown) => {
      if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
      const entries = Object.entries(member);
      return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
    });
  } catch (error) {
    if (error instanceof RangeError) throw new RecordError('a value is nested too deeply');
    throw error;
  }
}
