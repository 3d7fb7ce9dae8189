import { dotAndWhisker } from './charts.js';
import type { EvaluationFile } from './files.js';
import { count, type Html, html, interval, percent, points, pValue, words } from './html.js';

const SPLITS: { readonly [split: string]: string } = {
  test: 'Held-out tasks',
  shift: 'Held-out tasks, harder distribution',
};
const DECODINGS: { readonly [decoding: string]: string } = { sample: 'T = 1', greedy: 'greedy' };

/** A system's name for people. */
export function systemLabel(name: string): string {
  const [kind, rest] = name.split(':');
  if (kind === 'adapter') return `adapter ${words(rest ?? '')}`;
  if (kind === 'merge') return `merge, ${rest}`;
  if (name === 'direct-grpo') return 'direct GRPO';
  if (name === 'mixed-lora') return 'one LoRA, mixed';
  return name;
}

const tone = (name: string) =>
  name === 'mixture' || name === 'base'
    ? name
    : name === 'direct-grpo' || name === 'mixed-lora'
      ? 'baseline'
      : 'other';

interface Cell {
  readonly split: string;
  readonly decoding: string;
}
const cellTitle = ({ split, decoding }: Cell) =>
  `${SPLITS[split] ?? split}, ${DECODINGS[decoding] ?? decoding}`;
const shortTitle = ({ split, decoding }: Cell) => `${split}, ${DECODINGS[decoding] ?? decoding}`;
const same = (a: Cell, b: Cell) => a.split === b.split && a.decoding === b.decoding;

/** Cells in the order of the file. */
export function cellsOf(evaluation: EvaluationFile): Cell[] {
  const cells: Cell[] = [];
  for (const { split, decoding } of evaluation.systems)
    if (!cells.some((cell) => same(cell, { split, decoding }))) cells.push({ split, decoding });
  return cells;
}

/** Charts, tables, gains and errors of `evaluation.json`. */
export function evaluationSection(evaluation: EvaluationFile): Html {
  const cells = cellsOf(evaluation);
  const names = [...new Set(evaluation.systems.map(({ name }) => name))];
  return html`<section id="evaluation"><h2>Evaluation on held-out tasks</h2>
<p class="lead">Pass rate in percent with Wilson’s 95 % interval. All systems met the same tasks; none of them was used for training, selection or tuning.</p>
<div class="grid">${cells.map((cell) => {
    const rows = evaluation.systems.filter((row) => same(row, cell));
    return html`<div class="card"><h3>${cellTitle(cell)} <small class="soft">n = ${rows[0]?.n}</small></h3>
${dotAndWhisker(
  cellTitle(cell),
  rows.map((row) => ({
    label: systemLabel(row.name).replace(/^adapter /, ''),
    tone: tone(row.name),
    value: row.rate,
    interval: row.interval,
  })),
)}</div>`;
  })}</div>
${rateTable(evaluation, names, cells)}
${comparisonTable(evaluation, cells)}
${gainTable(evaluation, cells)}
${errorTables(evaluation)}
</section>`;
}

function rateTable(evaluation: EvaluationFile, names: readonly string[], cells: readonly Cell[]): Html {
  return html`<div class="card scroll"><table><thead><tr><th>System</th><th>rollouts spent</th>${cells.map(
    (cell) => html`<th>${shortTitle(cell)}</th>`,
  )}</tr></thead><tbody>${names.map((name) => {
    const rows = evaluation.systems.filter((row) => row.name === name);
    return html`<tr class="${name === 'mixture' ? 'own' : ''}"><td>${systemLabel(name)}</td><td>${count(
      rows[0]?.rollouts ?? 0,
    )}</td>${cells.map((cell) => {
      const row = rows.find((candidate) => same(candidate, cell));
      return html`<td>${row && html`${percent(row.rate)} <span class="soft">${interval(row.interval)}</span>`}</td>`;
    })}</tr>`;
  })}</tbody></table></div>`;
}

function comparisonTable(evaluation: EvaluationFile, cells: readonly Cell[]): Html | null {
  const own = evaluation.comparisons.filter(({ of }) => of === 'mixture');
  if (own.length === 0) return null;
  const names = [...new Set(own.map(({ against }) => against))];
  return html`<div class="card scroll"><h3>Mixture minus each other system</h3>
<p class="soft small">Difference in points, paired by task, with its 95 % interval (Bonett–Price) and McNemar’s exact two-sided p, not adjusted for the number of comparisons.</p>
<table><thead><tr><th>Against</th>${cells.map((cell) => html`<th>${shortTitle(cell)}</th>`)}</tr></thead>
<tbody>${names.map(
    (name) =>
      html`<tr><td>${systemLabel(name)}</td>${cells.map((cell) => {
        const row = own.find((candidate) => candidate.against === name && same(candidate, cell));
        return html`<td>${row && difference(row)}</td>`;
      })}</tr>`,
  )}</tbody></table></div>`;
}

/** Coloured only where the interval leaves zero out. */
function difference(row: {
  readonly difference: number;
  readonly interval: readonly [number, number];
  readonly p: number;
}): Html {
  const [low, high] = row.interval;
  const verdict = low > 0 ? 'good' : high < 0 ? 'bad' : '';
  return html`<span class="${verdict}">${points(row.difference)}</span> <span class="soft under">${interval(
    row.interval,
  )} p ${pValue(row.p)}</span>`;
}

function gainTable(evaluation: EvaluationFile, cells: readonly Cell[]): Html | null {
  if (evaluation.gains.length === 0) return null;
  const label = ({ capability, needed }: EvaluationFile['gains'][number]) =>
    capability === null ? `tasks that need ${needed}` : words(capability);
  const labels = [...new Set(evaluation.gains.map(label))];
  return html`<div class="card scroll"><h3>Where the gain is: base → mixture</h3>
<p class="soft small">Tasks by the capabilities that they need, as the target itself tells; a task that needs several counts in each.</p>
<table><thead><tr><th>Needed</th>${cells.map((cell) => html`<th>${shortTitle(cell)}</th>`)}</tr></thead>
<tbody>${labels.map(
    (name) =>
      html`<tr><td>${name}</td>${cells.map((cell) => {
        const row = evaluation.gains.find((gain) => label(gain) === name && same(gain, cell));
        if (!row || row.n === 0) return html`<td class="soft">none</td>`;
        return html`<td>${percent(row.base / row.n)} → ${percent(row.mixture / row.n)} <span class="soft under">n ${row.n}, ${points(
          row.difference,
        )} ${interval(row.interval)}</span></td>`;
      })}</tr>`,
  )}</tbody></table></div>`;
}

function errorTables(evaluation: EvaluationFile): Html | null {
  const tables = evaluation.errors.filter(
    ({ name, split, failed }) => name === 'mixture' && split === 'test' && failed > 0,
  );
  if (tables.length === 0) return null;
  return html`<div class="grid">${tables.map((table) => {
    const others = evaluation.errors.filter((other) => other.name !== 'mixture' && same(other, table));
    const of = (other: (typeof others)[number], kind: string) =>
      other.kinds.find((candidate) => candidate.kind === kind)?.attempts ?? 0;
    return html`<div class="card scroll"><h3>What the mixture still gets wrong <small class="soft">${shortTitle(
      table,
    )}, ${table.failed} failed</small></h3>
<table><thead><tr><th>Lacking, check or ending</th><th>mixture</th>${others.map(
      (other) => html`<th>${systemLabel(other.name)}</th>`,
    )}</tr></thead><tbody>${table.kinds
      .slice(0, 12)
      .map(
        ({ kind, attempts }) =>
          html`<tr><td class="wide">${words(kind)}</td><td>${attempts}</td>${others.map(
            (other) => html`<td>${of(other, kind)}</td>`,
          )}</tr>`,
      )}</tbody></table></div>`;
  })}</div>`;
}
