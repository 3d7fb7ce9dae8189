import type { AttemptView } from './attempt-view.js';
import { badge, nameOf } from './badge.js';
import { brief, cut, MOST } from './cut.js';
import type { DiagnosisView } from './diagnosis-view.js';
import { type Html, html } from './html.js';

/** Pieces of evidence an attempt's sheet shows. */
const MOST_EVIDENCE = 6;
/** Bytes that all sheets together may take; those that come later are short. */
const SHEET_BYTES = 1_000_000;

export const attemptSheetId = ({ index }: AttemptView) => `attempt-${index}`;

/** What opens an attempt's sheet. */
export function openAttempt(attempt: AttemptView): Html {
  return html`<button class="go" popovertarget="${attemptSheetId(attempt)}">${brief(attempt.id, MOST.id)}</button>`;
}

/** The sheets that open over the page, one for each attempt shown: its labels, votes and evidence. */
export function attemptSheets(view: DiagnosisView, attempts: readonly AttemptView[]): Html {
  let bytes = 0;
  return html`${attempts.map((attempt) => {
    const whole = sheet(view, attempt, true);
    const size = Buffer.byteLength(whole.text);
    if (bytes + size > SHEET_BYTES) return sheet(view, attempt, false);
    bytes += size;
    return whole;
  })}`;
}

function labelRow(view: DiagnosisView, attempt: AttemptView, capability: number): Html {
  const { label, votes } = attempt.cells[capability]!;
  const said = { LACKING: ['L', 'lacks it'], PRESENT: ['P', 'shows it'], NA: ['N', 'not needed'] } as const;
  const [letter, text] = label === null ? ['', 'not labelled'] : said[label];
  const total = votes ? votes.lacking + votes.present + votes.na : 0;
  const mine = votes && label ? { LACKING: votes.lacking, PRESENT: votes.present, NA: votes.na }[label] : 0;
  return html`<li>${badge(view.file, capability)} <span class="k ${letter}"></span>${nameOf(view.file.capabilities[capability]!)}: ${text}${
    total > 0 && html`<small>${mine} of ${total} raters</small>`
  }</li>`;
}

function sheet(view: DiagnosisView, attempt: AttemptView, whole: boolean): Html {
  const { conversation, evidence, cells } = attempt;
  const id = attemptSheetId(attempt);
  // What an attempt needs says most; the rest is told in one line.
  const told = cells.flatMap(({ label }, i) => (label === 'LACKING' || label === 'PRESENT' ? [i] : []));
  told.sort((a, b) => Number(cells[b]!.label === 'LACKING') - Number(cells[a]!.label === 'LACKING') || a - b);
  const rest = cells.length - told.length;
  return html`<div class="sheet" popover="auto" id="${id}"><button class="close" popovertarget="${id}" popovertargetaction="hide" aria-label="close">×</button>
<h3>Attempt ${brief(attempt.id, MOST.id)}</h3><p class="soft">task ${brief(attempt.task, MOST.id)}, trial ${attempt.trial} · <b class="${attempt.outcome === 'failed' ? 'bad' : 'good'}">${attempt.outcome}</b>${
    conversation &&
    html` · ${conversation.messages} messages${conversation.termination !== null && `, ended: ${brief(conversation.termination, 60)}`}`
  }</p>
${whole && conversation && conversation.request.trim() !== '' && html`<p>“${brief(conversation.request, 220)}”</p>`}
${
  whole
    ? html`<ul>${told.map((capability) => labelRow(view, attempt, capability))}${rest > 0 && html`<li class="soft">${rest} not needed or not labelled</li>`}</ul>`
    : html`<p>Lacks ${cells.flatMap(({ label }, i) => (label === 'LACKING' ? [i + 1] : [])).join(', ') || 'none'}.</p>`
}
${
  whole
    ? html`${evidence
        .slice(0, MOST_EVIDENCE)
        .map(
          (item) =>
            html`<p>${badge(view.file, item.capability)} <b>${brief(item.note, 160)}</b><br><q>${cut(item.quote, 260)}</q><br><span class="soft small">message ${item.message}</span></p>`,
        )}${evidence.length > MOST_EVIDENCE && html`<p class="soft">${evidence.length - MOST_EVIDENCE} more pieces of evidence are in <code>diagnosis/raters</code>.</p>`}`
    : evidence.length > 0 &&
      html`<p class="soft">To keep the page small, its evidence is left to <code>diagnosis/raters</code>.</p>`
}
${whole && conversation && conversation.path !== '' && html`<p class="small soft">Calls: ${conversation.path}</p>`}</div>`;
}
