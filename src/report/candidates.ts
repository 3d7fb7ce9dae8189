import type { CapabilitiesFile, DiagnosedCapability } from '../analyst/capabilities-file.js';
import { badge, nameOf } from './badge.js';
import { type Html, html, interval, percent, points, pValue } from './html.js';
import { diagnosisPlane } from './plane.js';
import { shortfall } from './verdict.js';

/** The plane beside the candidates' names, then all their numbers. */
export function planeSection(file: CapabilitiesFile): Html | null {
  const { capabilities, settings } = file;
  if (capabilities.length === 0) return null;
  return html`<section id="plane"><h2>Coverage and gap</h2>
<p class="lead">A candidate is missing when at least ${percent(settings.coverage)} of the failed attempts lack it (coverage) and failed attempts lack it more often than passed ones, by at least ${Math.round(100 * settings.gap)} points (gap), for ${settings.ratersNeeded} of ${settings.raters} raters.</p>
<div class="card planebox"><div class="planearea">${diagnosisPlane(file)}</div><ol class="names">${capabilities.map(
    (capability, i) =>
      html`<li>${badge(file, i)}<div>${nameOf(capability)}<small>${shortfall(capability, settings) ?? `missing, for ${capability.ratersPassed} of ${capability.raters} raters`}</small></div></li>`,
  )}</ol></div>
<div class="card"><table class="stack cands"><thead><tr><th>candidate</th><th>coverage %</th><th>gap, points</th><th>raters</th><th>p</th><th>q</th><th>κ</th><th>stability</th><th>only it</th></tr></thead>
<tbody>${capabilities.map((capability, i) => row(file, capability, i))}</tbody></table>
<p class="small soft">${footnote(file)}</p></div></section>`;
}

function row(file: CapabilitiesFile, c: DiagnosedCapability, index: number): Html {
  const cell = (label: string, content: Html | string) => html`<td data-label="${label}">${content}</td>`;
  return html`<tr class="${c.retained ? 'own' : ''}"><td><span>${badge(file, index)}${nameOf(c)}</span></td>
${cell('coverage', html`<span>${(100 * c.coverage).toFixed(1)} <span class="soft">${interval(c.coverageInterval)}</span></span>`)}
${cell('gap', html`<span>${points(c.gap)} <span class="soft">${interval(c.gapInterval)}</span></span>`)}
${cell('raters', `${c.ratersPassed}/${c.raters}`)}
${cell('p', pValue(c.p))}${cell('q', pValue(c.q))}
${cell('κ', kappa(c))}${cell('stability', `${Math.round(100 * c.stability)} %`)}${cell('only it', String(c.contribution))}</tr>`;
}

/** Fleiss' kappa, flagged when low. */
export function kappa({ kappa: value, kappaLow }: DiagnosedCapability): Html {
  if (value === null) return html`<span class="soft">–</span>`;
  return kappaLow
    ? html`<span class="flag" title="below 0.4: raters disagree">${value.toFixed(2)} ⚑</span>`
    : html`${value.toFixed(2)}`;
}

/** How the intervals and tests came about. */
function footnote({ capabilities, resamples }: CapabilitiesFile): string {
  const byTask = capabilities.some((c) => c.coverageMethod === 'by-task' || c.gapMethod === 'by-task');
  const intervals = byTask
    ? 'by a bootstrap over whole tasks, since trials repeat, and never narrower than Wilson’s (coverage) and Newcombe’s (gap)'
    : 'by Wilson (coverage) and Newcombe (gap)';
  return `Coverage and gap are those of the majority labels, with 95 % intervals ${intervals}; what is missing is decided rater by rater. p: Fisher’s exact test, q: after Benjamini and Hochberg over the candidates. κ: Fleiss’ agreement of the raters, flagged ⚑ under 0.4. Stability: share of ${resamples} resamples of the tasks in which it is retained. Only it: failures that lack this one and no other missing capability.`;
}
