import type { CapabilitiesFile, PassRate } from '../analyst/capabilities-file.js';
import { warnings } from './answer.js';
import { openAttempt } from './attempt-sheet.js';
import type { AttemptView } from './attempt-view.js';
import { nameOf } from './badge.js';
import { brief, MOST } from './cut.js';
import type { DiagnosisView } from './diagnosis-view.js';
import { type Html, html, interval } from './html.js';

/** Unexplained failures listed; capabilities.json has all. */
const MOST_LISTED = 200;

/** Failed attempts that lack none of the missing capabilities. */
export function unexplainedSection(
  { file }: DiagnosisView,
  byId: ReadonlyMap<string, AttemptView>,
): Html | null {
  const { unexplained, trajectories, explained } = file;
  if (trajectories.failed === 0) return null;
  const cell = (label: string, content: Html | string) => html`<td data-label="${label}">${content}</td>`;
  const rows = unexplained.slice(0, MOST_LISTED).map(({ id, task, termination, lacking }) => {
    const attempt = byId.get(id);
    return html`<tr><td>${attempt ? openAttempt(attempt) : brief(id, MOST.id)}</td>${cell('task', brief(task, MOST.id))}${cell('ended', brief(termination ?? '', 60))}${cell('lacks, though not retained', lacking.map((name) => nameOf({ name })).join(', ') || '–')}</tr>`;
  });
  return html`<section id="unexplained"><h2>Unexplained failures</h2>
<p class="lead">${explained.failures} of ${explained.of} failed attempts lack at least one of the missing capabilities; ${unexplained.length} do not.</p>
${
  unexplained.length > 0 &&
  html`<div class="card"><details class="more"><summary>The ${unexplained.length} without a cause</summary><table class="stack list"><thead><tr><th>attempt</th><th>task</th><th>ended</th><th>lacks, though not retained</th></tr></thead><tbody>${rows}</tbody></table>${
    unexplained.length > MOST_LISTED &&
    html`<p class="soft">${unexplained.length - MOST_LISTED} more are in <code>diagnosis/capabilities.json</code>.</p>`
  }</details></div>`
}</section>`;
}

/** What the data cannot tell, and, where trials repeat, how steadily tasks pass. */
export function limitsSection({ file }: DiagnosisView): Html {
  const { warnings: texts, capabilities, passRates } = file;
  const cautions = capabilities.flatMap((capability) =>
    capability.retained ? capability.cautions.map((caution) => `${nameOf(capability)}: ${caution}`) : [],
  );
  const all = [...texts, ...cautions];
  return html`<section id="limits"><h2>What the data cannot tell</h2>
${all.length > 0 ? warnings(all) : html`<p>Nothing in the make-up of the data stands against the numbers above. The raters’ labels remain theirs: see the evidence.</p>`}
${passRates && rates(file, passRates)}</section>`;
}

function rates(
  file: CapabilitiesFile,
  { passHat, passAt }: NonNullable<CapabilitiesFile['passRates']>,
): Html {
  const text = (rate: PassRate | undefined) =>
    rate
      ? html`<span>${(100 * rate.rate).toFixed(1)} <span class="soft">${interval(rate.interval)}</span></span>`
      : html`–`;
  const ks = [...new Set([...passHat, ...passAt].map(({ k }) => k))].sort((a, b) => a - b);
  return html`<h3>How steadily tasks pass</h3><p class="soft">${file.tasks.total} tasks, ${file.tasks.repeated} of them tried more than once, ${file.tasks.mixed} both passed and failed.</p>
<div class="card rates"><table><thead><tr><th>trials k</th><th>all pass (pass^k), %</th><th>one passes (pass@k), %</th></tr></thead><tbody>${ks.map(
    (k) =>
      html`<tr><td>${k}</td><td>${text(passHat.find((rate) => rate.k === k))}</td><td>${text(passAt.find((rate) => rate.k === k))}</td></tr>`,
  )}</tbody></table></div>`;
}
