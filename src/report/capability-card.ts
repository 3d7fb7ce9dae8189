import type { DiagnosedCapability } from '../analyst/capabilities-file.js';
import { openAttempt } from './attempt-sheet.js';
import type { AttemptView } from './attempt-view.js';
import { badge, nameOf, sureness } from './badge.js';
import { kappa } from './candidates.js';
import type { CaseView } from './case-view.js';
import { brief, cut, MOST } from './cut.js';
import type { DiagnosisView } from './diagnosis-view.js';
import { type Html, html, interval, percent, points, pValue } from './html.js';
import { transcript } from './transcript.js';
import { shortfall } from './verdict.js';

/** Quotes in sight; the others unfold. */
const QUOTES = 3;
/** Other capabilities named as lacked together with this one. */
const OVERLAPS = 3;

function tiles(c: DiagnosedCapability, resamples: number): Html {
  const tile = (name: string, value: Html | string, note: Html | string) =>
    html`<div><dt>${name}</dt><dd>${value}<small>${note}</small></dd></div>`;
  return html`<dl class="tiles">
${tile('coverage', percent(c.coverage), `95 %: ${interval(c.coverageInterval)}`)}
${tile('gap', `${points(c.gap)} points`, `95 %: ${interval(c.gapInterval)}`)}
${tile('q', pValue(c.q), `p ${pValue(c.p)}`)}
${tile('raters', `${c.ratersPassed} of ${c.raters}`, html`agreement κ ${kappa(c)}`)}
${tile('stability', `${Math.round(100 * c.stability)} %`, `of ${resamples} resamples`)}
${tile('only it explains', String(c.contribution), `of the ${c.lackingFailed} failures, at ${c.lackingTasks} tasks`)}
</dl>`;
}

/** Failed and passed attempts by their labels, as two bars. */
function bars(view: DiagnosisView, c: DiagnosedCapability): Html {
  const { failed, passed } = view.file.trajectories;
  const bar = (name: string, lacking: number, present: number, all: number) => {
    const rest = Math.max(0, all - lacking - present);
    const part = (kind: string, n: number, said: string) =>
      n > 0 &&
      html`<span class="${kind}" style="flex:${n} 1 0" title="${n} ${said}">${n / all > 0.05 && n}</span>`;
    return (
      all > 0 &&
      html`<span>${all} ${name}</span><div class="sbar" role="img" aria-label="${name}: ${lacking} lack it, ${present} show it, ${rest} did not need it">${part('L', lacking, 'lack it')}${part('P', present, 'show it')}${part('N', rest, 'did not need it')}</div>`
    );
  };
  return html`<div class="split">${bar('failed', c.lackingFailed, c.presentFailed, failed)}${bar('passed', c.lackingPassed, c.presentPassed, passed)}
<span class="soft">orange: lack it · blue outline: show it · grey: did not need it</span></div>`;
}

function overlap(view: DiagnosisView, c: DiagnosedCapability): Html | null {
  const shared = view.file.overlaps
    .filter(({ first, second, both }) => both > 0 && (first === c.name || second === c.name))
    .sort((a, b) => b.both - a.both)
    .slice(0, OVERLAPS)
    .map(({ first, second, both }) => `${nameOf({ name: first === c.name ? second : first })} in ${both}`);
  if (c.lackingFailed === 0) return null;
  return html`<p class="small soft">${
    shared.length > 0
      ? `Of its ${c.lackingFailed} failures, these lack another candidate too: ${shared.join(', ')}.`
      : `None of its ${c.lackingFailed} failures lacks another candidate, too.`
  }</p>`;
}

function quotes(c: DiagnosedCapability, byId: ReadonlyMap<string, AttemptView>): Html | null {
  if (c.evidence.length === 0) return null;
  const item = ({ trajectory, quote, note, message }: DiagnosedCapability['evidence'][number]) => {
    const attempt = byId.get(trajectory);
    return html`<li><q>${cut(quote, MOST.quote)}</q><span>${brief(note, MOST.note)} · attempt ${attempt ? openAttempt(attempt) : brief(trajectory, MOST.id)}, message ${message}</span></li>`;
  };
  const [seen, more] = [c.evidence.slice(0, QUOTES), c.evidence.slice(QUOTES)];
  return html`<h4>Evidence</h4><ul class="quotes">${seen.map(item)}</ul>${
    more.length > 0 &&
    html`<details class="more"><summary>${more.length} more quotes</summary><ul class="quotes">${more.map(item)}</ul></details>`
  }`;
}

function caseHtml(item: CaseView, byId: ReadonlyMap<string, AttemptView>): Html {
  const { failed, passed, sameTask, chosen } = item;
  const other = passed && byId.get(passed.trajectory.id);
  const title = passed
    ? sameTask
      ? 'A failed attempt beside a passed one of the same task'
      : 'A failed attempt beside a passed one of the most alike task'
    : 'A failed attempt';
  return html`<h4>${title}</h4><p class="small soft">${chosen} The decisive steps are marked.</p>
<div class="pair"><div class="side"><h5><b class="bad">failed</b> ${openAttempt(failed.attempt)} <span>task ${brief(failed.attempt.task, MOST.id)}</span></h5>${transcript(failed.trajectory, failed.step)}</div>
${passed && html`<div class="side right"><h5><b class="good">passed</b> ${other ? openAttempt(other) : brief(passed.trajectory.id, MOST.id)} <span>task ${brief(passed.trajectory.taskId, MOST.id)}</span></h5>${transcript(passed.trajectory, passed.step)}</div>`}</div>`;
}

/** All about one candidate: definition, numbers, evidence, and a failed attempt beside a passed one. */
export function capabilityCard(
  view: DiagnosisView,
  index: number,
  byId: ReadonlyMap<string, AttemptView>,
): Html {
  const c = view.file.capabilities[index]!;
  const finding = view.verdict.findings.find(({ capability }) => capability === index);
  const short = shortfall(c, view.file.settings);
  return html`<article class="card cap" id="capability-${index + 1}"><header>${badge(view.file, index)}<h3>${nameOf(c)}</h3>${
    finding ? sureness(finding.strength) : html`<span class="sure soft">not retained</span>`
  }</header><p>${cut(c.definition, MOST.definition)}</p>
${finding ? html`<p class="small soft">${finding.because}</p>` : html`<p class="small soft">Not retained: ${short}.</p>`}
${tiles(c, view.file.resamples)}${bars(view, c)}${overlap(view, c)}
${c.cautions.map((caution) => html`<p class="note small">${cut(caution, MOST.definition)}</p>`)}
${quotes(c, byId)}${view.cases.filter(({ capability }) => capability === index).map((item) => caseHtml(item, byId))}</article>`;
}
