import { type Html, html, interval, percent } from './html.js';

/** A point with an interval, in a row of its own. All values are shares in [0, 1]. */
export interface Whisker {
  readonly label: string;
  /** Class that sets the colour. */
  readonly tone: string;
  readonly value: number;
  readonly interval: readonly [number, number];
}

const WIDTH = 540;
const LABEL = 208;
const VALUE = 66;
const ROW = 25;
const TOP = 8;

/**
 * Dot-and-whisker chart: one row a system, the interval as a line, the value as a dot and in words.
 * @param title what is measured; read aloud by screen readers.
 */
export function dotAndWhisker(title: string, rows: readonly Whisker[]): Html {
  const highest = Math.max(0.1, ...rows.map((row) => row.interval[1]));
  const step = highest > 0.5 ? 0.2 : highest > 0.25 ? 0.1 : 0.05;
  const top = Math.min(1, Math.ceil(highest / step) * step);
  const right = WIDTH - VALUE;
  const x = (share: number) => fixed(LABEL + (share / top) * (right - LABEL));
  const bottom = TOP + rows.length * ROW;
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step);
  return html`<svg viewBox="0 0 ${WIDTH} ${bottom + 22}" role="img" aria-label="${title}">
${ticks.map(
  (tick) => html`<line class="axis" x1="${x(tick)}" x2="${x(tick)}" y1="${TOP - 4}" y2="${bottom}"/>
<text class="soft" x="${x(tick)}" y="${bottom + 15}" text-anchor="middle">${Math.round(tick * 100)}</text>`,
)}
${rows.map((row, i) => {
  const y = TOP + i * ROW + ROW / 2;
  return html`<g class="${row.tone}"><title>${row.label}: ${percent(row.value)} ${interval(row.interval)}</title>
<text x="${LABEL - 10}" y="${y + 4}" text-anchor="end">${shorten(row.label, 30)}</text>
<line class="whisker" x1="${x(row.interval[0])}" x2="${x(row.interval[1])}" y1="${y}" y2="${y}"/>
<circle class="mark" cx="${x(row.value)}" cy="${y}" r="5"/>
<text x="${WIDTH}" y="${y + 4}" text-anchor="end">${percent(row.value)}</text></g>`;
})}
</svg>`;
}

/** A curve of shares in [0, 1] over counts. */
export interface Curve {
  readonly points: readonly { readonly x: number; readonly y: number }[];
  readonly kind: 'line' | 'faint' | 'dots';
}

/** Small line chart: y from 0 to 100 %, x from 0 to the largest count. */
export function lineChart(title: string, tone: string, curves: readonly Curve[], unit: string): Html {
  const width = 340;
  const height = 170;
  const box = { left: 38, right: width - 10, top: 8, bottom: height - 26 };
  const most = Math.max(1, ...curves.flatMap((curve) => curve.points.map((point) => point.x)));
  const x = (value: number) => fixed(box.left + (value / most) * (box.right - box.left));
  const y = (value: number) => fixed(box.bottom - value * (box.bottom - box.top));
  return html`<svg class="${tone}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">
${[0, 0.25, 0.5, 0.75, 1].map(
  (tick) => html`<line class="axis" x1="${box.left}" x2="${box.right}" y1="${y(tick)}" y2="${y(tick)}"/>
<text class="soft" x="${box.left - 6}" y="${y(tick) + 4}" text-anchor="end">${tick * 100}</text>`,
)}
<text class="soft" x="${box.left}" y="${height - 8}">0</text>
<text class="soft" x="${box.right}" y="${height - 8}" text-anchor="end">${most} ${unit}</text>
${curves.map(({ points, kind }) =>
  kind === 'dots'
    ? points.map(
        (p) =>
          html`<circle class="mark" cx="${x(p.x)}" cy="${y(p.y)}" r="3.5"><title>${percent(p.y)} at ${p.x}</title></circle>`,
      )
    : html`<polyline class="${kind}" points="${points.map((p) => `${x(p.x)},${y(p.y)}`).join(' ')}"/>`,
)}
</svg>`;
}

/** Shares that sum to 1 as one bar; `tones[i]` colours share i, `labels[i]` names it. */
export function stackedBar(
  shares: readonly number[],
  tones: readonly string[],
  labels: readonly string[],
): Html {
  return html`<div class="bar">${shares.map(
    (share, i) =>
      share > 0 &&
      html`<span class="${tones[i]}" style="width:${fixed(share * 100)}%" title="${labels[i]}: ${percent(share)}"></span>`,
  )}</div>`;
}

/** Two decimals are enough for a picture, and keep equal runs' files equal. */
const fixed = (value: number) => Math.round(value * 100) / 100;

const shorten = (text: string, length: number) =>
  text.length <= length ? text : `${text.slice(0, length - 1)}…`;
