import { attemptSheetId } from './attempt-sheet.js';
import type { AttemptView, Cell } from './attempt-view.js';
import { badge, nameOf } from './badge.js';
import { brief } from './cut.js';
import type { DiagnosisView } from './diagnosis-view.js';
import { count, escapeHtml, type Html, html } from './html.js';

/** Attempts drawn; of more, an even selection of both outcomes. */
export const MOST_ATTEMPTS = 500;

/** The attempts that a matrix shows, in its order. */
export interface MatrixOrder {
  readonly failed: readonly AttemptView[];
  readonly passed: readonly AttemptView[];
}

/**
 * Attempts grouped by outcome, then by task. Tasks that lack the same capabilities stand together: those that lack
 * the first most often come first, then the second, and so on; trials of a task follow each other.
 */
export function matrixOrder(attempts: readonly AttemptView[], most = MOST_ATTEMPTS): MatrixOrder {
  const failed = ordered(attempts.filter(({ outcome }) => outcome === 'failed'));
  const passed = ordered(attempts.filter(({ outcome }) => outcome === 'passed'));
  const all = failed.length + passed.length;
  if (all <= most) return { failed, passed };
  const share = Math.round((most * failed.length) / all);
  const kept = Math.min(failed.length, Math.max(failed.length > 0 ? 1 : 0, share));
  return { failed: even(failed, kept), passed: even(passed, Math.min(passed.length, most - kept)) };
}

/** `n` items at even distances. */
function even<T>(items: readonly T[], n: number): T[] {
  return Array.from({ length: n }, (_, i) => items[Math.floor((i * items.length) / n)]!);
}

function ordered(attempts: readonly AttemptView[]): AttemptView[] {
  const tasks = new Map<string, AttemptView[]>();
  for (const attempt of attempts) {
    const known = tasks.get(attempt.task);
    if (known) known.push(attempt);
    else tasks.set(attempt.task, [attempt]);
  }
  const width = attempts[0]?.cells.length ?? 0;
  const groups = [...tasks.values()].map((trials) => ({
    trials: trials.sort((a, b) => a.trial - b.trial || a.index - b.index),
    lacking: Array.from(
      { length: width },
      (_, c) => trials.filter(({ cells }) => cells[c]?.label === 'LACKING').length / trials.length,
    ),
  }));
  groups.sort((a, b) => {
    for (let c = 0; c < width; c++) {
      const difference = b.lacking[c]! - a.lacking[c]!;
      if (difference !== 0) return difference;
    }
    return a.trials[0]!.index - b.trials[0]!.index;
  });
  return groups.flatMap(({ trials }) => trials);
}

const LETTERS = { LACKING: 'L', PRESENT: 'P', NA: 'N' } as const;
const SAID = { LACKING: 'lacks it', PRESENT: 'shows it', NA: 'did not need it' } as const;

/** Bytes that the cells' titles may take together; later ones are short. */
const TITLE_BYTES = 600_000;

/** What a cell says when it is pointed at. */
function cellTitle(attempt: AttemptView, cell: Cell, capability: number): string {
  const where = `task ${brief(attempt.task, 40)}, trial ${attempt.trial}, ${attempt.outcome}`;
  if (cell.label === null) return `${where}: not labelled`;
  const { votes } = cell;
  const total = votes ? votes.lacking + votes.present + votes.na : 0;
  const agreed = cell.agreement === null ? '' : `, ${Math.round(cell.agreement * total)} of ${total} raters`;
  const found = attempt.evidence.find((item) => item.capability === capability);
  return `${where}: ${SAID[cell.label]}${agreed}${found ? ` – ${brief(found.note, 70)}` : ''}`;
}

function cellHtml(attempt: AttemptView, capability: number, newTask: boolean, title: string): Html {
  const cell = attempt.cells[capability]!;
  const tenth = cell.agreement === null ? 10 : Math.max(5, Math.round(10 * cell.agreement));
  const classes = [
    cell.label === null ? '' : LETTERS[cell.label],
    tenth < 10 ? `a${tenth}` : '',
    newTask ? 'n' : '',
  ];
  return html`<button class="${classes.filter(Boolean).join(' ')}" tabindex="-1" popovertarget="${attemptSheetId(attempt)}" title="${title}"></button>`;
}

/** Capabilities by attempts: one line of marks a capability; the same place in every line is the same attempt. */
export function matrixSection(view: DiagnosisView, order: MatrixOrder): Html | null {
  const { file, attempts } = view;
  const { failed, passed } = order;
  if (file.capabilities.length === 0 || attempts.length === 0) return null;
  const shown = failed.length + passed.length;
  // Both groups get width by their number, and enough for a few marks at least.
  const share = Math.min(0.88, Math.max(0.12, failed.length / shown));
  const columns =
    passed.length === 0 || failed.length === 0
      ? 'grid-template-columns:minmax(0,1fr)'
      : `grid-template-columns:minmax(0,${Math.round(1000 * share)}fr) minmax(0,${Math.round(1000 * (1 - share))}fr)`;
  const groups = [failed, passed].filter((group) => group.length > 0);
  const repeats = new Set(attempts.map(({ task }) => task)).size < attempts.length;
  const starts = groups.map((group) =>
    group.map(({ task }, i) => repeats && i > 0 && group[i - 1]!.task !== task),
  );
  let left = TITLE_BYTES;
  const titleOf = (attempt: AttemptView, capability: number) => {
    const cell = attempt.cells[capability]!;
    const title = cellTitle(attempt, cell, capability);
    left -= Buffer.byteLength(escapeHtml(title));
    return left > 0 ? title : cell.label === null ? 'not labelled' : SAID[cell.label];
  };
  return html`<section id="matrix"><h2>Every attempt</h2>
<p class="lead">One mark an attempt, one row a capability; the same place in every row is the same attempt. ${
    repeats ? 'Trials of a task stand together.' : ''
  } Point at a mark to read it; click for the attempt’s evidence.${
    shown < attempts.length &&
    ` ${count(shown)} of ${count(attempts.length)} attempts are drawn, chosen evenly from both outcomes.`
  }</p>
<div class="card mx ${shown <= 45 ? 'few' : shown <= 120 ? 'some' : ''}"><ul class="keys"><li><span><span class="k L"></span>lacks it</span></li><li><span><span class="k P"></span>needed and shown</span></li><li><span><span class="k N"></span>not needed</span></li><li>the paler, the fewer raters say so</li></ul>
<div class="mxhead" style="display:grid;${columns}">${groups.map((group) => html`<span>${count(group.length)} ${group[0]!.outcome}</span>`)}</div>
${file.capabilities.map((capability, c) => {
  const { lackingFailed, lackingPassed } = capability;
  return html`<div class="mxrow"><h4>${badge(file, c)}${nameOf(capability)}<small>lacked by ${lackingFailed} failed, ${lackingPassed} passed</small></h4>
<div style="${columns}">${groups.map(
    (group, g) =>
      html`<div class="cells" role="img" aria-label="${nameOf(capability)}: ${group[0]!.outcome} attempts">${group.map((attempt, i) => cellHtml(attempt, c, starts[g]![i]!, titleOf(attempt, c)))}</div>`,
  )}</div></div>`;
})}</div></section>`;
}
