import { answerSection, stepList } from './answer.js';
import { attemptSheets } from './attempt-sheet.js';
import { planeSection } from './candidates.js';
import { capabilityCard } from './capability-card.js';
import { brief } from './cut.js';
import { DIAGNOSIS_STYLE } from './diagnosis-style.js';
import type { DiagnosisView } from './diagnosis-view.js';
import { type Html, html, raw } from './html.js';
import { limitsSection, unexplainedSection } from './limits.js';
import { matrixOrder, matrixSection } from './matrix.js';
import { STYLE } from './style.js';

/** Candidates that were not retained and are shown with all their evidence. */
const MOST_OTHERS = 10;

/**
 * Step 1 as a section of a report: the answer first, then the plane, every attempt, each capability with its
 * evidence, what stays unexplained, what the data cannot tell, what to do next.
 */
export function diagnosisSection(view: DiagnosisView): Html {
  const { file, next, verdict } = view;
  const order = matrixOrder(view.attempts);
  const drawn = [...order.failed, ...order.passed];
  const byId = new Map(drawn.map((attempt) => [attempt.id, attempt]));
  const indices = file.capabilities.map((_, i) => i);
  // In the order of the answer: the surest first.
  const retained = verdict.findings.map(({ capability }) => capability);
  const others = indices.filter((i) => !file.capabilities[i]!.retained).slice(0, MOST_OTHERS);
  const sections: (readonly [id: string, title: string, content: Html | null])[] = [
    ['plane', 'Coverage and gap', planeSection(file)],
    ['matrix', 'Every attempt', matrixSection(view, order)],
    [
      'capabilities',
      'Capabilities',
      indices.length > 0
        ? html`<section id="capabilities"><h2>Each capability</h2>${retained.map((i) => capabilityCard(view, i, byId))}${
            others.length > 0 &&
            html`<details><summary>${others.length} candidates that were not retained</summary>${others.map((i) => capabilityCard(view, i, byId))}</details>`
          }</section>`
        : null,
    ],
    ['unexplained', 'Unexplained', unexplainedSection(view, byId)],
    ['limits', 'Limits', limitsSection(view)],
    [
      'next',
      'What next',
      html`<section id="next" class="todo"><h2>What to do next</h2>${stepList(next)}</section>`,
    ],
  ];
  const present = sections.filter(([, , content]) => content !== null);
  return html`<style>${raw(DIAGNOSIS_STYLE)}</style><div class="diag">${answerSection(view)}
<p class="jumps">${present.map(([id, title]) => html`<a href="#${id}">${title}</a>`)}</p>
${present.map(([, , content]) => content)}
${attemptSheets(view, drawn)}</div>`;
}

/** The diagnosis alone as one self-contained page: no script, nothing fetched. */
export function diagnosisPage(view: DiagnosisView): string {
  const title = brief(view.origin.title, 120);
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>TRACE diagnosis: ${title}</title>
<style>${raw(STYLE)}</style></head><body><main><h1>TRACE diagnosis · ${title}</h1>
<section id="diagnosis">${diagnosisSection(view)}</section>
<p class="small soft">Raters: ${brief(view.file.settings.analyst, 80)}, seed ${view.file.settings.seed}. Made by <code>${brief(view.origin.command, 300)}</code>.</p>
</main></body></html>
`.text;
}
