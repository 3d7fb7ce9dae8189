import type { CapabilityView, DiagnosisFileView } from './diagnosis-view.js';
import { type Html, html, interval, percent, words } from './html.js';

const WIDTH = 760;
const HEIGHT = 430;
const BOX = { left: 56, right: WIDTH - 190, top: 14, bottom: HEIGHT - 46 };
const LABEL_HEIGHT = 17;

const fixed = (value: number) => Math.round(value * 100) / 100;

/** Label heights pushed apart so that none covers another; same order as given, which is by falling gap. */
export function spread(heights: readonly number[], apart: number, lowest: number): number[] {
  const placed: number[] = [];
  for (const height of heights) placed.push(Math.max(height, (placed.at(-1) ?? -Infinity) + apart));
  // Pushed out below: back up from the bottom.
  let limit = lowest;
  for (let i = placed.length - 1; i >= 0; i--) {
    placed[i] = Math.min(placed[i]!, limit);
    limit = placed[i]! - apart;
  }
  return placed;
}

/**
 * The diagnosis plane: coverage to the right, contrastive gap upwards, both thresholds as lines, each candidate a
 * point with its 95 % intervals. What is retained lies in the upper right.
 */
export function diagnosisPlane(file: Pick<DiagnosisFileView, 'capabilities' | 'settings'>): Html {
  const { capabilities, settings } = file;
  const widest = Math.max(
    settings.coverage * 2,
    ...capabilities.map((c) => Math.max(c.coverage, c.coverageInterval[1])),
  );
  const step = widest > 0.5 ? 0.2 : 0.1;
  const right = Math.min(1, Math.ceil(widest / step) * step);
  const lowest = Math.max(
    -1,
    Math.floor(Math.min(0, ...capabilities.map((c) => Math.min(c.gap, c.gapInterval[0]))) / 0.2) * 0.2,
  );
  const x = (share: number) => fixed(BOX.left + (Math.min(share, right) / right) * (BOX.right - BOX.left));
  const y = (gap: number) => fixed(BOX.bottom - ((gap - lowest) / (1 - lowest)) * (BOX.bottom - BOX.top));
  const ticks = (from: number, to: number, by: number) =>
    Array.from({ length: Math.round((to - from) / by) + 1 }, (_, i) => from + i * by);
  const sorted = [...capabilities].sort((a, b) => b.gap - a.gap);
  const labels = spread(
    sorted.map((c) => y(c.gap)),
    LABEL_HEIGHT,
    BOX.bottom,
  );
  return html`<svg class="plane" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Coverage and contrastive gap of each candidate">
<rect class="region" x="${x(settings.coverage)}" y="${y(1)}" width="${fixed(BOX.right - x(settings.coverage))}" height="${fixed(y(settings.gap) - y(1))}"/>
${ticks(0, right, step).map(
  (tick) => html`<line class="axis" x1="${x(tick)}" x2="${x(tick)}" y1="${BOX.top}" y2="${BOX.bottom}"/>
<text class="soft" x="${x(tick)}" y="${BOX.bottom + 17}" text-anchor="middle">${Math.round(tick * 100)}</text>`,
)}
${ticks(lowest, 1, 0.2).map(
  (tick) => html`<line class="axis" x1="${BOX.left}" x2="${BOX.right}" y1="${y(tick)}" y2="${y(tick)}"/>
<text class="soft" x="${BOX.left - 8}" y="${y(tick) + 4}" text-anchor="end">${Math.round(tick * 100) / 100}</text>`,
)}
<line class="threshold" x1="${x(settings.coverage)}" x2="${x(settings.coverage)}" y1="${BOX.top}" y2="${BOX.bottom}"/>
<line class="threshold" x1="${BOX.left}" x2="${BOX.right}" y1="${y(settings.gap)}" y2="${y(settings.gap)}"/>
<text class="soft" x="${fixed((BOX.left + BOX.right) / 2)}" y="${HEIGHT - 8}" text-anchor="middle">coverage: share of failed attempts that lack it, %</text>
<text class="soft" transform="translate(14 ${fixed((BOX.top + BOX.bottom) / 2)}) rotate(-90)" text-anchor="middle">gap: error rate failed − passed</text>
${sorted.map((capability, i) => point(capability, x, y, labels[i]!))}
</svg>`;
}

function point(
  capability: CapabilityView,
  x: (share: number) => number,
  y: (gap: number) => number,
  label: number,
): Html {
  const { coverage, gap, coverageInterval, gapInterval, retained, name } = capability;
  const [cx, cy] = [x(coverage), y(gap)];
  const title = `${words(name)}: coverage ${percent(coverage)} ${interval(coverageInterval)}, gap ${gap.toFixed(2)} ${interval(gapInterval)}`;
  return html`<g class="${retained ? 'kept' : 'left'}"><title>${title}</title>
<line class="whisker" x1="${x(coverageInterval[0])}" x2="${x(coverageInterval[1])}" y1="${cy}" y2="${cy}"/>
<line class="whisker" x1="${cx}" x2="${cx}" y1="${y(gapInterval[0])}" y2="${y(gapInterval[1])}"/>
<circle class="mark" cx="${cx}" cy="${cy}" r="${retained ? 6 : 4.5}"/>
<polyline class="leader" points="${cx},${cy} ${BOX.right + 8},${fixed(label)}"/>
<text x="${BOX.right + 12}" y="${fixed(label + 4)}">${words(name)}</text></g>`;
}
