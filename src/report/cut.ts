import { count } from './html.js';

/** Longest texts that the report shows whole, in characters; what is cut off is always counted in sight. */
export const MOST = {
  name: 60,
  id: 100,
  note: 240,
  quote: 400,
  definition: 800,
  /** A message of a conversation; longer ones lose their middle. */
  message: 700,
} as const;

/** The beginning of a text, and how much is left out. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most)} … [${count(text.length - most)} characters left out]`;
}

/** Beginning and end of a text, and how much of the middle is left out. */
export function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  return `${text.slice(0, half)} … [${count(text.length - 2 * half)} characters left out] … ${text.slice(-half)}`;
}

/** The beginning of a text on one line, for places where a remark on what is left out would be in the way. */
export function brief(text: string, most: number): string {
  const line = text
    .slice(0, 4 * most)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}
