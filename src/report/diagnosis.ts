import type { CapabilityView, CaseView, DiagnosisView } from './diagnosis-view.js';
import { type Html, html, interval, percent, pValue, raw, words } from './html.js';
import { diagnosisPlane } from './plane.js';
import { STYLE } from './style.js';
import { transcript } from './transcript.js';

/** What the section needs beyond the page's style. */
const DIAGNOSIS_STYLE = `
.plane .region{fill:var(--good);opacity:.07}.plane .threshold{stroke:var(--soft);stroke-dasharray:5 4}
.plane .kept{--c:var(--good)}.plane .left{--c:var(--soft)}.plane .left text{fill:var(--soft)}
.plane .whisker{stroke-width:1.4;opacity:.45}.plane .leader{fill:none;stroke:var(--c);opacity:.3}
.evidence{list-style:none;padding:0;margin:8px 0}.evidence li{border-left:3px solid var(--line);padding:2px 12px;margin:8px 0}
.evidence q{quotes:none;font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.84rem;overflow-wrap:anywhere}
.evidence span{display:block;color:var(--soft);font-size:.85rem}
.talk{list-style:none;margin:0;padding:0;max-height:560px;overflow:auto;border:1px solid var(--line);border-radius:8px;font-size:.86rem}
.talk li{display:grid;grid-template-columns:84px minmax(0,1fr);gap:10px;padding:6px 10px;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
.talk li>b{color:var(--soft);font-weight:500;font-size:.8rem}.talk li>b i{float:right;opacity:.6;font-style:normal}
.talk li.tool{background:color-mix(in srgb,var(--line) 35%,transparent)}
.talk li.marked{background:color-mix(in srgb,var(--c2) 16%,transparent);box-shadow:inset 3px 0 var(--c2)}
.right .talk li.marked{background:color-mix(in srgb,var(--good) 14%,transparent);box-shadow:inset 3px 0 var(--good)}
.talk .why{margin:6px 0 0;color:var(--c2);font-weight:600}.talk div{white-space:pre-wrap}
@media print{.talk{max-height:none}}
`;

function numbers(capability: CapabilityView): Html {
  const c = capability;
  const failedNeeding = c.lackingFailed + c.presentFailed;
  const passedNeeding = c.lackingPassed + c.presentPassed;
  return html`<dl class="kv">
<dt>coverage</dt><dd>${percent(c.coverage)} <span class="soft">${interval(c.coverageInterval)}</span></dd>
<dt>gap</dt><dd>${(100 * c.gap).toFixed(1)} points <span class="soft">${interval(c.gapInterval)}</span></dd>
<dt>lack it</dt><dd>${c.lackingFailed} of ${failedNeeding} failed and ${c.lackingPassed} of ${passedNeeding} passed attempts that need it</dd>
<dt>raters</dt><dd>${c.ratersPassed} of ${c.raters}${c.kappa !== null && html`, agreement κ ${c.kappa.toFixed(2)}`}</dd>
<dt>adjusted p</dt><dd>${pValue(c.q)}</dd></dl>`;
}

function evidenceList(capability: CapabilityView): Html | null {
  if (capability.evidence.length === 0) return null;
  return html`<ul class="evidence">${capability.evidence.map(
    (item) =>
      html`<li><q>${item.quote}</q><span>${item.note} · attempt ${item.trajectory}, message ${item.message}</span></li>`,
  )}</ul>`;
}

/** The step of the passed attempt to look at: its call of the tool that the failed one got wrong, or its end. */
function decisiveStep({ failed, passed, evidence }: CaseView): number | null {
  if (!passed) return null;
  const wrong = failed.messages[evidence.message];
  const tool = wrong?.role === 'assistant' ? wrong.tool_calls?.[0]?.function.name : undefined;
  const calls = (name: string) =>
    passed.messages.findLastIndex(
      (message) =>
        message.role === 'assistant' && message.tool_calls?.some((call) => call.function.name === name),
    );
  const at = tool === undefined ? -1 : calls(tool);
  return at >= 0 ? at : passed.messages.findLastIndex((message) => message.role === 'assistant');
}

function caseHtml(item: CaseView): Html {
  const { failed, passed, evidence, sameTask } = item;
  return html`<details><summary>A failed attempt${passed && (sameTask ? ' beside a passed one of the same task' : ' beside a passed one of the most alike task')}</summary>
<div class="grid"><div><h4 class="bad">failed: ${failed.id}</h4>${transcript(failed, evidence.message, evidence.note)}</div>
${passed && html`<div class="right"><h4 class="good">passed: ${passed.id}</h4>${transcript(passed, decisiveStep(item), null)}</div>`}
</div></details>`;
}

function capabilityCard(capability: CapabilityView, cases: readonly CaseView[]): Html {
  return html`<article class="card"><h3>${words(capability.name)}</h3><p>${capability.definition}</p>
${numbers(capability)}${evidenceList(capability)}${cases.map(caseHtml)}</article>`;
}

function table(capabilities: readonly CapabilityView[]): Html {
  return html`<div class="scroll"><table><thead><tr><th>candidate</th><th>coverage</th><th>gap</th><th>raters</th><th>adjusted p</th><th>κ</th></tr></thead>
<tbody>${capabilities.map(
    (c) => html`<tr class="${c.retained ? 'own' : ''}"><td>${words(c.name)}</td>
<td>${percent(c.coverage)} <span class="soft">${interval(c.coverageInterval)}</span></td>
<td>${(100 * c.gap).toFixed(1)} <span class="soft">${interval(c.gapInterval)}</span></td>
<td>${c.ratersPassed}/${c.raters}</td><td>${pValue(c.q)}</td><td>${c.kappa === null ? '' : c.kappa.toFixed(2)}</td></tr>`,
  )}</tbody></table></div>`;
}

/** Step 1 as a section of a report: the plane, each missing capability with its evidence, what stays unexplained. */
export function diagnosisSection(view: DiagnosisView): Html {
  const { trajectories, settings, capabilities, unexplained, warnings, cases } = view;
  const retained = capabilities.filter((capability) => capability.retained);
  const explained = trajectories.failed - unexplained.length;
  return html`<style>${raw(DIAGNOSIS_STYLE)}</style><h2>Missing capabilities</h2>
<p class="lead">${trajectories.failed} failed and ${trajectories.passed} passed attempts${trajectories.excluded > 0 && html`, ${trajectories.excluded} left out (broken or without a verdict)`}.
A capability is missing when at least ${percent(settings.coverage)} of the failed attempts lack it and failed attempts lack it more often than passed ones by at least ${Math.round(settings.gap * 100)} points, for ${settings.ratersNeeded} of ${settings.raters} raters.</p>
${warnings.map((warning) => html`<p class="note">${warning}</p>`)}
${retained.length === 0 ? html`<p><b>Nothing found that is missing.</b></p>` : html`<ul class="chips">${retained.map((c) => html`<li>${words(c.name)}</li>`)}</ul>`}
${
  capabilities.length > 0 &&
  html`<div class="card">${diagnosisPlane(view)}</div>${table(capabilities)}
<p class="small soft">Points and numbers are means over the raters; intervals (95 %) are of the majority labels: Wilson for the coverage, Newcombe for the gap. The adjusted p is Fisher's exact test with Benjamini and Hochberg's correction over the candidates; κ is Fleiss' agreement of the raters.</p>`
}
${retained.map((capability) =>
  capabilityCard(
    capability,
    cases.filter((item) => item.capability === capability.name),
  ),
)}
${
  trajectories.failed > 0 &&
  html`<h3>Unexplained failures</h3><p>${explained} of ${trajectories.failed} failed attempts lack at least one of the missing capabilities; ${unexplained.length} do not.</p>
${
  unexplained.length > 0 &&
  html`<details><summary>The ${unexplained.length} others</summary><div class="scroll"><table><thead><tr><th>attempt</th><th>task</th><th>ended</th><th class="wide">lacks, though not retained</th></tr></thead>
<tbody>${unexplained.map((item) => html`<tr><td>${item.id}</td><td>${item.task}</td><td>${item.termination ?? ''}</td><td class="wide">${item.lacking.map(words).join(', ')}</td></tr>`)}</tbody></table></div></details>`
}`
}`;
}

/** The diagnosis alone as one self-contained page: no script, nothing fetched. */
export function diagnosisPage(view: DiagnosisView, title: string): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>TRACE diagnosis: ${title}</title>
<style>${raw(STYLE)}</style></head><body><main><h1>TRACE diagnosis: ${title}</h1>
<section id="diagnosis">${diagnosisSection(view)}</section>
<h3>What next</h3><p>Read the evidence of each capability against the conversations before you build on it. In a project, <code>trace run</code> synthesizes one environment per missing capability and trains an adapter on it.</p>
</main></body></html>
`.text;
}
