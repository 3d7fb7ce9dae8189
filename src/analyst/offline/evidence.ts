import type { Message } from '../../trajectory/trajectory.js';
import type { Evidence } from '../contract.js';
import type { Act } from './acts.js';

const LONGEST_QUOTE = 160;

/**
 * The words of a message that a quote is taken from: what was said, or the calls as compact JSON, the way they
 * stand in a trajectory file.
 */
export function messageText(message: Message): string {
  const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
  return [message.content ?? '', ...calls.map((call) => JSON.stringify(call.function))]
    .filter((text) => text !== '')
    .join('\n');
}

/** A piece of text as a quote: its first line that says something, cut where a word ends. */
export function quoteOf(text: string, from = 0): string {
  const line =
    text
      .slice(from)
      .split('\n')
      .map((part) => part.trim())
      .find((part) => part !== '') ?? '';
  if (line.length <= LONGEST_QUOTE) return line;
  const cut = line.slice(0, LONGEST_QUOTE);
  const space = cut.lastIndexOf(' ');
  return (space > LONGEST_QUOTE / 2 ? cut.slice(0, space) : cut).trimEnd();
}

/** The call itself as evidence; long arguments are quoted in part, around `value` where one is given. */
export function callEvidence(act: Act, note: string, value?: string): Evidence {
  const whole = act.json;
  if (whole.length <= LONGEST_QUOTE) return { message: act.message, quote: whole, note };
  const at = value === undefined ? -1 : whole.indexOf(value);
  const start = at < 0 ? 0 : Math.max(0, Math.min(at - LONGEST_QUOTE / 2, whole.length - LONGEST_QUOTE));
  return { message: act.message, quote: quoteOf(whole, start), note };
}

/**
 * Evidence for something that is not there: the last words of the agent at or before a message.
 * Null when the agent never said or called anything.
 */
export function lastWords(
  messages: readonly Message[],
  note: string,
  before = messages.length,
): Evidence | null {
  for (let i = Math.min(before, messages.length) - 1; i >= 0; i--) {
    const message = messages[i]!;
    if (message.role !== 'assistant') continue;
    const quote = quoteOf(messageText(message));
    if (quote !== '') return { message: i, quote, note };
  }
  return null;
}
