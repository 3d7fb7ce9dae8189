import { lineChart } from './charts.js';
import type { CompositionFile, TrainingFile } from './files.js';
import { count, type Html, html, percent, words } from './html.js';
import { slotClass } from './style.js';

/** Training curves of the adapters, in the colours of their slots, and of the baselines. */
export function trainingSection(
  adapters: readonly TrainingFile[],
  baselines: readonly TrainingFile[],
  slots: readonly string[],
): Html | null {
  if (adapters.length + baselines.length === 0) return null;
  const charts = (files: readonly TrainingFile[], tone: (name: string) => string) =>
    html`<div class="grid three">${files.map((file) => trainingCard(file, tone(file.name)))}</div>`;
  return html`<section id="training"><h2>Training curves</h2>
<p class="lead">Success rate in percent over rollouts: thin line, the attempts trained on; dots, held-out scenarios.</p>
${charts(adapters, (name) => slotClass(slots.indexOf(name) + 1))}
${baselines.length > 0 && html`<h3>Baselines, at the mixture’s total rollouts</h3>${charts(baselines, () => 'baseline')}`}</section>`;
}

function trainingCard({ name, lines, summary }: TrainingFile, tone: string): Html {
  const heldOut = lines.flatMap((line) =>
    line.heldOut ? [{ x: line.rollouts, y: line.heldOut.success }] : [],
  );
  const best = summary?.best;
  const facts = [
    summary && `${count(summary.rollouts)} rollouts`,
    best && `kept iteration ${best.iteration}, held-out success ${percent(best.success)}`,
    summary?.stoppedEarly && 'stopped early',
  ].filter((fact) => typeof fact === 'string');
  return html`<div class="card"><h3>${words(name)}</h3>
${lineChart(
  `success of ${words(name)} in training`,
  tone,
  [
    { kind: 'faint', points: lines.map((line) => ({ x: line.rollouts, y: line.success })) },
    { kind: 'line', points: heldOut },
    { kind: 'dots', points: heldOut },
  ],
  'rollouts',
)}
<p class="soft small">${facts.join('; ')}</p>
${summary?.warnings.map((warning) => html`<p class="note small">${warning}</p>`)}</div>`;
}

/** How the gates were fitted, and how the mixture does in environments of two capabilities. */
export function compositionSection(composition: CompositionFile): Html {
  const of = (player: string) => composition.sources.filter((source) => source.player === player);
  const rows = (player: string) =>
    of(player).map(
      ({ environment, attempts, passed }) =>
        html`<tr><td>${environment.split('+').map(words).join(' + ')}</td><td>${passed} of ${attempts}</td><td>${
          attempts > 0 && percent(passed / attempts)
        }</td></tr>`,
    );
  const table = (title: string, note: string, player: string) =>
    of(player).length > 0 &&
    html`<div class="card scroll"><h3>${title}</h3><p class="soft small">${note}</p>
<table><thead><tr><th>Environment</th><th>passed</th><th>rate</th></tr></thead><tbody>${rows(player)}</tbody></table></div>`;
  return html`<section id="composition"><h2>Composition</h2>
<p class="lead">Gates are fitted to passed episodes alone; no task and no label of the target is read.</p>
<div class="grid">${table('Each adapter at home', 'Episodes that the gates are first fitted to.', 'adapter')}
${table(
  'The mixture, two capabilities at once',
  'A low rate points at a hole in one of the two environments.',
  'mixture',
)}</div>
<p class="soft small">${composition.fits.map(
    (fit, i) =>
      html`Fit ${i + 1}: ${fit.examples} episodes, ${fit.steps} steps, loss by epoch ${fit.epochLoss
        .map((loss) => loss.toFixed(3))
        .join(' → ')}. `,
  )}</p></section>`;
}
