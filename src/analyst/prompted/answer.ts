import { z } from 'zod';
import type { JsonSchema } from '../../trajectory/trajectory.js';

/** The JSON value in an answer, or what is wrong with it. */
export type ReadAnswer = { readonly value: unknown } | { readonly problem: string };

const THINKING = /^\s*<think(?:ing)?>[\s\S]*?<\/think(?:ing)?>/i;
const FENCE = /```(?:json|JSON)?[ \t]*\r?\n([\s\S]*?)\r?\n?[ \t]*```/g;

/**
 * Reads the JSON object of an answer: bare, in a code fence, after thinking in tags, or between words. Nothing is
 * mended: text that is no JSON is a problem to be named.
 */
export function readAnswer(text: string): ReadAnswer {
  const words = text.replace(THINKING, '').trim();
  if (words === '') return { problem: 'the answer is empty' };
  const whole = parse(words);
  if (whole) return whole;
  const fences = [...words.matchAll(FENCE)]
    .map((match) => parse(match[1]!.trim()))
    .filter((found) => found !== null);
  // The last fence is the answer where earlier ones hold drafts.
  if (fences.length > 0) return fences.at(-1)!;
  const inside = firstObject(words);
  if (inside) return inside;
  return {
    problem: words.includes('{')
      ? 'the answer is no valid JSON (cut off, or a quote, comma or bracket is wrong)'
      : `the answer holds no JSON object; it begins with ${JSON.stringify(words.slice(0, 80))}`,
  };
}

function parse(text: string): { value: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { value } : null;
  } catch {
    return null;
  }
}

/** The first balanced `{…}` of a text that is JSON. */
function firstObject(text: string): { value: unknown } | null {
  let from = text.indexOf('{');
  for (let tries = 0; from >= 0 && tries < 20; tries++) {
    const end = endOfObject(text, from);
    if (end === null) return null;
    const found = parse(text.slice(from, end));
    if (found) return found;
    from = text.indexOf('{', from + 1);
  }
  return null;
}

function endOfObject(text: string, from: number): number | null {
  let depth = 0;
  let inText = false;
  for (let i = from; i < text.length; i++) {
    const character = text[i];
    if (inText) {
      if (character === '\\') i++;
      else if (character === '"') inText = false;
    } else if (character === '"') inText = true;
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return i + 1;
  }
  return null;
}

const MOST_PROBLEMS = 8;

/** Violations of a JSON Schema, each with its place. */
export function schemaProblems(schema: JsonSchema, value: unknown): string[] {
  const parsed = z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema).safeParse(value);
  if (parsed.success) return [];
  const problems = parsed.error.issues.flatMap((issue) => wordsFor(issue, []));
  return problems.slice(0, MOST_PROBLEMS);
}

function wordsFor(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): string[] {
  // What is said beyond the schema does no harm, and is not worth another request.
  if (issue.code === 'unrecognized_keys') return [];
  const path = [...above, ...issue.path];
  if (issue.code === 'invalid_union') {
    // Of `object or null` the branch that came nearest tells the most.
    const best = [...issue.errors].sort((a, b) => (b[0]?.path.length ?? 0) - (a[0]?.path.length ?? 0))[0];
    if (best && best.length > 0) return best.flatMap((inner) => wordsFor(inner, path));
  }
  const place = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  return [`${place.replace(/^\./, '') || 'the answer'}: ${issue.message}`];
}
