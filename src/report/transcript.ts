import type { Message, Trajectory } from '../trajectory/trajectory.js';
import { type Html, html } from './html.js';

/** Longest tool result shown whole; the middle of longer ones is left out. */
const LONGEST_RESULT = 700;

function shorten(text: string): string {
  if (text.length <= LONGEST_RESULT) return text;
  const half = LONGEST_RESULT / 2;
  return `${text.slice(0, half)} … ${text.length - LONGEST_RESULT} characters … ${text.slice(-half)}`;
}

function bodyOf(message: Message): Html {
  if (message.role === 'tool') return html`<code>${shorten(message.content)}</code>`;
  if (message.role !== 'assistant') return html`${message.content}`;
  const calls = (message.tool_calls ?? []).map(
    ({ function: called }) =>
      html`<div><code><b>${called.name}</b>(${Object.entries(called.arguments)
        .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
        .join(', ')})</code></div>`,
  );
  return html`${message.content}${calls}${message.malformed && html`<div class="bad">${message.malformed}</div>`}`;
}

/**
 * A conversation, message by message, without the system prompt; the message at index `marked` stands out.
 * @param note what is to be seen there.
 */
export function transcript(
  { messages }: Pick<Trajectory, 'messages'>,
  marked: number | null,
  note: string | null,
): Html {
  return html`<ol class="talk">${messages.map(
    (message, i) =>
      message.role !== 'system' &&
      html`<li class="${message.role}${i === marked ? ' marked' : ''}"><b>${message.role}<i>${i}</i></b><div>${bodyOf(message)}${
        i === marked && note && html`<p class="why">${note}</p>`
      }</div></li>`,
  )}</ol>`;
}
