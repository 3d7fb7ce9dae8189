import type { Budget } from '../run/budget.js';
import type { RunFiles } from './files.js';
import { count, type Html, html, words } from './html.js';

/** Rollouts spent, the baselines' settings, and the whole configuration. */
export function settingsSection(files: RunFiles, budget: Budget): Html {
  const rows: (readonly [string, number])[] = [
    ['diagnosis: base model on the training tasks', budget.rollout],
    ...Object.entries(budget.calibration).map(([name, n]) => [`calibration: ${words(name)}`, n] as const),
    ...Object.entries(budget.training).map(([name, n]) => [`training: ${words(name)}`, n] as const),
    ['composition: episodes for the gates', budget.composition],
  ];
  const { snapshot, baselines } = files;
  return html`<section id="settings"><h2>Rollouts spent and settings</h2><div class="grid">
<div class="card scroll"><h3>Rollouts</h3><table><tbody>${rows
    .filter(([, n]) => n > 0)
    .map(([name, n]) => html`<tr><td class="wide">${name}</td><td>${count(n)}</td></tr>`)}
<tr class="own"><td>mixture in all</td><td>${count(budget.total)}</td></tr>
${Object.entries(budget.baselines).map(
  ([name, n]) => html`<tr><td>baseline: ${words(name)}</td><td>${count(n)}</td></tr>`,
)}</tbody></table></div>
<div class="card"><h3>Baselines</h3><p class="soft small">Trained by the same loop as the adapters; checkpoints chosen on the validation slice, never on the tests.</p>
${baselines.map(
  ({ name, summary }) =>
    summary &&
    html`<details><summary>${words(name)}</summary><pre>${JSON.stringify(summary.settings, null, 2)}</pre></details>`,
)}
${
  snapshot &&
  html`<h3>Run</h3><dl class="kv"><dt>run</dt><dd>${snapshot.run}</dd><dt>seed</dt><dd>${snapshot.seed}</dd><dt>TRACE</dt><dd>${snapshot.version}</dd></dl>
<details><summary>Configuration</summary><pre>${JSON.stringify(snapshot.config, null, 2)}</pre></details>`
}</div></div></section>`;
}
