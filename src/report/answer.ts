import { badge, capabilityTone, nameOf, sureness } from './badge.js';
import { cut, MOST } from './cut.js';
import type { DiagnosisView } from './diagnosis-view.js';
import type { FailurePart } from './failure-shares.js';
import { type Html, html } from './html.js';
import type { NextStep } from './next-steps.js';

/** Steps shown on the first screen; all of them stand at the end of the page. */
const FIRST_STEPS = 3;
/** Up to so many findings their definitions have room there, too. */
const FEW_FINDINGS = 2;

function partName({ file }: DiagnosisView, { capability, kind }: FailurePart): string {
  if (kind === 'several') return 'several at once';
  if (kind === 'unexplained') return 'unexplained';
  return nameOf(file.capabilities[capability!]!);
}

const partTone = ({ file }: DiagnosisView, { capability, kind }: FailurePart) =>
  kind === 'one' ? capabilityTone(file, capability!) : kind;

/** The failed attempts as one bar, by what explains them. */
function failureBar(view: DiagnosisView): Html | null {
  const { parts } = view;
  const failures = parts.reduce((sum, part) => sum + part.failures, 0);
  if (failures === 0 || !parts.some(({ kind }) => kind !== 'unexplained')) return null;
  const said = parts.map((part) => `${partName(view, part)} ${part.failures}`).join(', ');
  return html`<div class="parts" role="img" aria-label="Failed attempts by what they lack: ${said}">${parts.map(
    (part) =>
      html`<span class="${partTone(view, part)}" style="flex:${part.failures} 1 0" title="${partName(view, part)}: ${part.failures}">${
        part.failures / failures > 0.03 && part.failures
      }</span>`,
  )}</div>
<ul class="keys">${parts.map(
    (part) =>
      html`<li><i class="${partTone(view, part)}"></i>${part.kind === 'one' && 'only '}${partName(view, part)} (${part.failures})</li>`,
  )}</ul>`;
}

/** Things to do, numbered, with their commands. */
export function stepList(steps: readonly NextStep[]): Html {
  return html`<ol class="steps">${steps.map(
    ({ title, text, commands }) =>
      html`<li><b>${title}</b><p>${text}</p>${commands.map((command) => html`<code class="cmd">${command}</code>`)}</li>`,
  )}</ol>`;
}

/** The first screen: what is missing, how sure that is, what to do. */
export function answerSection(view: DiagnosisView): Html {
  const { file, verdict, next } = view;
  return html`<div class="first"><div><p class="verdict">${verdict.headline}</p>
<p class="account">${verdict.account}</p>
${failureBar(view)}
${
  verdict.findings.length > 0
    ? verdict.findings.map(
        ({ capability, strength, contrast, because }) =>
          html`<div class="finding">${badge(file, capability)}<h3><a href="#capability-${capability + 1}">${nameOf(file.capabilities[capability]!)}</a></h3>${sureness(strength)}${verdict.findings.length <= FEW_FINDINGS && html`<p>${cut(file.capabilities[capability]!.definition, MOST.quote)}</p>`}<p>${contrast}</p><p class="soft">${because}</p></div>`,
      )
    : file.warnings.length > 0
      ? warnings(file.warnings)
      : html`<p>Candidates were found, but none passes both thresholds for enough raters; the plane shows how far each is.</p>`
}</div>
<div class="card todo"><h2>What to do</h2>${stepList(next.slice(0, FIRST_STEPS))}</div></div>`;
}

/** Remarks, each on a line of its own. */
export function warnings(texts: readonly string[]): Html {
  return html`<ul class="limits">${texts.map((text) => html`<li>${cut(text, MOST.definition)}</li>`)}</ul>`;
}
