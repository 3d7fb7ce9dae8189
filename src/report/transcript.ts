import type { Message, Trajectory } from '../trajectory/trajectory.js';
import type { DecisiveStep } from './case-view.js';
import { brief, cutMiddle, MOST } from './cut.js';
import { type Html, html } from './html.js';

/** Messages shown before and after the decisive step. */
const AROUND = 2;
/** Bytes that the folded messages of one attempt may take. */
const FOLD_BYTES = 10_000;
/** A message of more bytes is cut shorter: many characters take several. */
const LINE_BYTES = 2400;
const SHORT_MESSAGE = 200;
const MOST_ARGUMENT = 240;
const MOST_CALLS = 8;

function callBody(
  {
    name,
    arguments: given,
  }: { readonly name: string; readonly arguments: { readonly [key: string]: unknown } },
  differing: readonly string[],
  most: number,
): Html {
  const entries = Object.entries(given).slice(0, 24);
  return html`<div><code><b>${brief(name, MOST.name)}</b>(${entries.map(([key, value], i) => {
    const text = `${brief(key, MOST.name)}: ${cutMiddle(JSON.stringify(value) ?? 'undefined', Math.min(most, MOST_ARGUMENT))}`;
    return html`${i > 0 && ', '}${differing.includes(key) ? html`<mark>${text}</mark>` : text}`;
  })})</code></div>`;
}

function bodyOf(message: Message, differing: readonly string[], most: number): Html {
  if (message.role === 'tool') return html`<code>${cutMiddle(message.content, most)}</code>`;
  if (message.role !== 'assistant') return html`${cutMiddle(message.content, most)}`;
  const calls = message.tool_calls ?? [];
  return html`${message.content && cutMiddle(message.content, most)}${calls
    .slice(0, MOST_CALLS)
    .map((call) => callBody(call.function, differing, most))}${
    calls.length > MOST_CALLS && html`<div class="soft">… ${calls.length - MOST_CALLS} more calls</div>`
  }${message.malformed && html`<div class="bad">${cutMiddle(message.malformed, MOST.note)}</div>`}`;
}

function line(message: Message, index: number, step: DecisiveStep | null): Html {
  const marked = index === step?.message;
  const name = message.role === 'assistant' ? 'agent' : message.role;
  const shown = (most: number) =>
    html`<li class="${message.role}${marked ? ' marked' : ''}"><b>${name}<i>${index}</i></b><div class="body">${bodyOf(message, marked ? step.differing : [], most)}${
      marked && html`<p class="why">${brief(step.why, MOST.note)}</p>`
    }</div></li>`;
  const whole = shown(MOST.message);
  return Buffer.byteLength(whole.text) <= LINE_BYTES ? whole : shown(SHORT_MESSAGE);
}

/**
 * A conversation around its decisive step: the request, the step with what stands beside it, and the end; what lies
 * between is folded, and cut where it is long. The system prompt is left out.
 */
export function transcript({ messages }: Pick<Trajectory, 'messages'>, step: DecisiveStep | null): Html {
  const at = step?.message ?? messages.length - 1;
  const first = messages.findIndex(({ role }) => role === 'user');
  const isOpen = (i: number) =>
    Math.abs(i - at) <= AROUND || i === first || (i === messages.length - 1 && i - at <= AROUND + 2);
  const blocks: Html[] = [];
  let open: Html[] = [];
  let folded: number[] = [];
  let left = FOLD_BYTES;
  const closeOpen = () => {
    if (open.length > 0) blocks.push(html`<ol class="talk">${open}</ol>`);
    open = [];
  };
  const closeFold = () => {
    if (folded.length === 0) return;
    closeOpen();
    const lines: Html[] = [];
    for (const i of folded) {
      const text = line(messages[i]!, i, null);
      const size = Buffer.byteLength(text.text);
      if (size > left) break;
      left -= size;
      lines.push(text);
    }
    const missing = folded.length - lines.length;
    const said = `${folded.length} message${folded.length === 1 ? '' : 's'}`;
    blocks.push(
      lines.length === 0
        ? html`<p class="fold small soft">… ${said} left out</p>`
        : html`<details class="fold"><summary>${said}</summary><ol class="talk">${lines}</ol>${missing > 0 && html`<p class="small soft">… ${missing} more left out</p>`}</details>`,
    );
    folded = [];
  };
  for (const [i, message] of messages.entries()) {
    if (message.role === 'system') continue;
    if (isOpen(i)) {
      closeFold();
      open.push(line(message, i, step));
    } else folded.push(i);
  }
  closeFold();
  closeOpen();
  return html`${blocks}`;
}
