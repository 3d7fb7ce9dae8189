import { stackedBar } from './charts.js';
import type { RoutingFile } from './files.js';
import { type Html, html, words } from './html.js';
import { slotClass } from './style.js';

/** The slot that most layers chose; the lower one of a tie. */
export function majoritySlot(slots: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const slot of slots) counts.set(slot, (counts.get(slot) ?? 0) + 1);
  let best = 0;
  let most = 0;
  for (const [slot, n] of [...counts].sort(([a], [b]) => a - b))
    if (n > most) {
      best = slot;
      most = n;
    }
  return best;
}

/** The routing of one trajectory, token by token, and of many in sum. */
export function routingSection(routing: RoutingFile): Html {
  const names = routing.slots.map((slot, i) => (i === 0 ? 'no adapter' : words(slot)));
  const tones = routing.slots.map((_, i) => slotClass(i));
  const { share, tasks } = routing.usage;
  const outcome = routing.passed
    ? routing.baseFails
      ? 'The mixture passes it, the base model fails it.'
      : 'The mixture passes it.'
    : 'The mixture fails it.';
  return html`<section id="routing"><h2>Which adapter writes which token</h2>
<p class="lead">Every token goes to one adapter, or to none, in every layer. A token’s colour is the choice of most layers; the strip under it shows each layer, first to last. Point at a token to read them.</p>
<div class="legend">${names.map((name, i) => html`<span class="${tones[i]}"><i class="swatch"></i>${name}</span>`)}</div>
<div class="card"><h3>Held-out task <code>${routing.task}</code></h3><p class="soft small">${outcome}</p>
<div class="tokens">${turns(routing.tokens).map(
    ({ role, tokens }) =>
      html`<div class="turn"><b>${role}</b><div>${
        role === 'assistant'
          ? tokens.map((token) => writtenToken(token, names))
          : html`<span class="ctx">${tokens.map((token) => token.text).join('')}</span>`
      }</div></div>`,
  )}</div></div>
<div class="card"><h3>Share of written tokens by layer <small class="soft">${tasks} held-out tasks, greedy</small></h3>
<dl class="kv">${share.map(
    (layer, i) => html`<dt>layer ${i + 1}</dt><dd>${stackedBar(layer, tones, names)}</dd>`,
  )}</dl></div></section>`;
}

type Token = RoutingFile['tokens'][number];

/** Runs of tokens with one role; marks of the template are left out, and blank runs too. */
function turns(tokens: readonly Token[]): { readonly role: string; readonly tokens: readonly Token[] }[] {
  const result: { role: string; tokens: Token[] }[] = [];
  let broken = true;
  for (const token of tokens) {
    if (token.role === 'template') {
      broken = true;
      continue;
    }
    const last = result.at(-1);
    if (last && !broken && last.role === token.role) last.tokens.push(token);
    else if (last && last.role === token.role && token.role !== 'assistant') last.tokens.push(token);
    else result.push({ role: token.role, tokens: [token] });
    broken = false;
  }
  return result.filter((turn) => turn.tokens.some((token) => token.text.trim() !== ''));
}

function writtenToken({ text, slots = [] }: Token, names: readonly string[]): Html {
  const major = majoritySlot(slots);
  const layers = slots.map((slot, i) => `layer ${i + 1}: ${names[slot] ?? slot}`).join('\n');
  const stops = slots.map((slot, i) => {
    const at = (edge: number) => `${Math.round((10_000 * edge) / slots.length) / 100}%`;
    return `var(--c${slotClass(slot).slice(1)}) ${at(i)} ${at(i + 1)}`;
  });
  const strip =
    slots.length > 0 && html`<i style="background:linear-gradient(90deg,${stops.join(',')})"></i>`;
  return html`<span class="tok ${slotClass(major)}" title="${layers}">${text.replaceAll('\n', '⏎')}${strip}</span>`;
}
