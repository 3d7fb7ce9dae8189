import type { RunFiles } from './files.js';
import { count, type Html, html, interval, percent, points, pValue, words } from './html.js';
import { slotClass } from './style.js';

/** What is missing, what was trained, and what came of it. */
export function headline(files: RunFiles, missing: readonly string[]): Html {
  const { evaluation, composition, snapshot, adapters } = files;
  const slot = (name: string) => slotClass((composition?.slots.indexOf(name) ?? -1) + 1);
  const rollouts = adapters.reduce((sum, { summary }) => sum + (summary?.rollouts ?? 0), 0);
  return html`<header><h1>TRACE${snapshot && html` · run ${snapshot.run}`}${
    evaluation && html` · ${evaluation.model} on ${evaluation.target}`
  }</h1>
<div class="hero"><div>${evaluation ? jump(evaluation) : html`<p class="lead">This run has not been evaluated yet.</p>`}</div>
<div>${
    missing.length > 0
      ? html`<h3>Missing capabilities</h3><ul class="chips">${missing.map(
          (name) => html`<li class="${slot(name)}">${words(name)}</li>`,
        )}</ul>`
      : html`<h3>No missing capability was found</h3>`
  }
<p>${
    adapters.length > 0 &&
    html`${adapters.length === 1 ? 'One LoRA adapter was' : `${adapters.length} LoRA adapters were`} trained on synthetic environments with ${count(rollouts)} rollouts`
  }${
    composition &&
    html`, and composed by token-level gates of ${count(composition.gateParameters)} parameters; base and adapters stayed frozen`
  }.</p></div></div></header>`;
}

type EvaluationFile = NonNullable<RunFiles['evaluation']>;

function jump(evaluation: EvaluationFile): Html | null {
  const [first] = evaluation.systems;
  if (!first) return null;
  const { split } = first;
  const row = (name: string, decoding: string) =>
    evaluation.systems.find((r) => r.name === name && r.split === split && r.decoding === decoding);
  const decodings = [...new Set(evaluation.systems.map(({ decoding }) => decoding))];
  const [main] = decodings;
  const base = row('base', main!);
  const mixture = row('mixture', main!);
  if (!base || !mixture) return null;
  const gain = evaluation.comparisons.find(
    (c) => c.of === 'mixture' && c.against === 'base' && c.split === split && c.decoding === main,
  );
  const others = decodings.slice(1).flatMap((decoding) => {
    const [b, m] = [row('base', decoding), row('mixture', decoding)];
    return b && m
      ? [
          html`${decodingName(decoding)}: ${percent(b.rate)} → <b>${percent(m.rate)}</b> ${interval(m.interval)}. `,
        ]
      : [];
  });
  return html`<div class="jump"><span class="from">${percent(base.rate)}</span> → <span class="to">${percent(mixture.rate)}</span></div>
<p>base → mixture on ${mixture.n} held-out tasks, ${decodingName(main!)}; 95 % interval of the mixture ${interval(mixture.interval)}.
${gain && html`Difference ${points(gain.difference)} points ${interval(gain.interval)}, p\u00a0${pValue(gain.p).replaceAll('-', '\u2011')}.`}</p>
<p class="soft">${others}</p>`;
}

const decodingName = (decoding: string) => (decoding === 'sample' ? 'sampled at T = 1' : decoding);
