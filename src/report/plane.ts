import type { CapabilitiesFile, DiagnosedCapability } from '../analyst/capabilities-file.js';
import { capabilityTone, nameOf } from './badge.js';
import { type Html, html, interval, percent, points } from './html.js';

/** Ends of the axes of a plane, and the distance of its ticks. */
export interface PlaneScale {
  readonly coverage: { readonly high: number; readonly tick: number };
  readonly gap: { readonly low: number; readonly high: number; readonly tick: number };
}

/**
 * Axes that hold all candidates, the gaps' intervals of the retained ones, and both thresholds. A few attempts give
 * a candidate an interval over everything; those of the others may run over the edge.
 */
export function planeScale({
  capabilities,
  settings,
}: Pick<CapabilitiesFile, 'capabilities' | 'settings'>): PlaneScale {
  const widest = Math.max(2 * settings.coverage, 0.1, ...capabilities.map((c) => c.coverageInterval[1]));
  const tick = widest > 0.5 ? 0.2 : widest > 0.2 ? 0.1 : 0.05;
  const ends = capabilities.flatMap((c) => (c.retained ? [c.gap, ...c.gapInterval] : [c.gap]));
  const highest = Math.max(settings.gap + 0.2, ...ends);
  const lowest = Math.min(0, ...ends);
  const up = (value: number, by: number) => Math.ceil(value / by - 1e-9) * by;
  return {
    coverage: { high: Math.min(1, up(widest, tick)), tick },
    gap: { low: Math.max(-1, -up(-lowest, 0.2)), high: Math.min(1, up(highest, 0.2)), tick: 0.2 },
  };
}

/** A place in pixels. */
interface Place {
  readonly x: number;
  readonly y: number;
}

/** The drawing area on a wide screen and on a phone: labels have to keep apart on both. */
const BOXES = [
  { width: 560, height: 370 },
  { width: 280, height: 290 },
] as const;
const TAG = 9;
/** Where a tag may stand from its point, nearest first. */
const OFFSETS: readonly Place[] = [20, 34, 48, 62].flatMap((far) =>
  [315, 45, 225, 135, 0, 180, 270, 90].map((angle) => ({
    x: Math.round(far * Math.cos((angle * Math.PI) / 180)),
    y: Math.round(far * Math.sin((angle * Math.PI) / 180)),
  })),
);

/**
 * Offsets of numbered tags from their points, so that no tag lies on another or on a point, whatever the width.
 * @param at the points as shares of the drawing area, x to the right and y downwards.
 */
export function placeTags(at: readonly Place[]): Place[] {
  const placed: Place[] = [];
  for (const [i, point] of at.entries()) {
    const cost = (offset: Place, order: number) => {
      let sum = order / 100;
      for (const { width, height } of BOXES) {
        const tag = { x: point.x * width + offset.x, y: point.y * height + offset.y };
        if (tag.x < TAG || tag.x > width - TAG || tag.y < TAG || tag.y > height - TAG) sum += 30;
        for (const [j, other] of at.entries()) {
          const dot = { x: other.x * width, y: other.y * height };
          const near = (place: Place, least: number) =>
            Math.max(0, least - Math.hypot(tag.x - place.x, tag.y - place.y));
          if (j !== i) sum += near(dot, TAG + 6);
          const its = placed[j];
          if (j < i && its) sum += 3 * near({ x: dot.x + its.x, y: dot.y + its.y }, 2 * TAG + 2);
        }
      }
      return sum;
    };
    const costs = OFFSETS.map(cost);
    placed.push(OFFSETS[costs.indexOf(Math.min(...costs))]!);
  }
  return placed;
}

const fixed = (value: number) => Math.round(100 * value) / 100;
const range = (from: number, to: number, by: number) =>
  Array.from({ length: Math.round((to - from) / by) + 1 }, (_, i) => from + i * by);

/**
 * The diagnosis plane: coverage to the right, contrastive gap upwards, both thresholds as lines, each candidate a
 * numbered point with its 95 % intervals. Places are percentages, so that texts keep their size on any screen.
 */
export function diagnosisPlane(file: CapabilitiesFile): Html {
  const { capabilities, settings } = file;
  const scale = planeScale(file);
  const right = (share: number) => Math.min(1, Math.max(0, share / scale.coverage.high));
  const down = (gap: number) =>
    Math.min(1, Math.max(0, 1 - (gap - scale.gap.low) / (scale.gap.high - scale.gap.low)));
  const x = (share: number) => `${fixed(100 * right(share))}%`;
  const y = (gap: number) => `${fixed(100 * down(gap))}%`;
  const tags = placeTags(capabilities.map((c) => ({ x: right(c.coverage), y: down(c.gap) })));
  // Retained ones last, so that they lie on top.
  const order = capabilities.map((_, i) => i).reverse();
  return html`<svg class="plane" role="img" aria-label="Coverage and contrastive gap of each candidate, with 95 % intervals and both thresholds">
<rect class="region" x="${x(settings.coverage)}" y="0" width="${fixed(100 * (1 - right(settings.coverage)))}%" height="${y(settings.gap)}"/>
${range(0, scale.coverage.high, scale.coverage.tick).map(
  (tick) => html`<line class="axis" x1="${x(tick)}" x2="${x(tick)}" y1="0" y2="100%"/>
<text class="soft" x="${x(tick)}" y="100%" dy="17" text-anchor="middle">${Math.round(100 * tick)}</text>`,
)}
${range(scale.gap.low, scale.gap.high, scale.gap.tick).map(
  (tick) => html`<line class="axis" x1="0" x2="100%" y1="${y(tick)}" y2="${y(tick)}"/>
<text class="soft" x="0" dx="-8" y="${y(tick)}" dy="4" text-anchor="end">${tickText(tick)}</text>`,
)}
<text class="soft" x="50%" y="100%" dy="36" text-anchor="middle">coverage: % of failed attempts that lack it</text>
<text class="soft" x="0" dx="-42" y="0" dy="-12">gap in points: error rate of failed − passed</text>
${order.map((i) => point(file, i, x, y, tags[i]!))}
<line class="threshold" x1="${x(settings.coverage)}" x2="${x(settings.coverage)}" y1="0" y2="100%"/>
<line class="threshold" x1="0" x2="100%" y1="${y(settings.gap)}" y2="${y(settings.gap)}"/>
<text class="limit" x="100%" dx="-6" y="0" dy="16" text-anchor="end">missing</text>
<text class="limit" x="${x(settings.coverage)}" dx="5" y="100%" dy="-6">≥ ${tickText(settings.coverage)} %</text>
<text class="limit" x="100%" dx="-6" y="${y(settings.gap)}" dy="15" text-anchor="end">≥ ${tickText(settings.gap)} points</text>
</svg>`;
}

function tickText(share: number): string {
  const value = Math.round(1000 * share) / 10;
  return value < 0 ? `−${-value}` : String(value);
}

function titleOf(capability: DiagnosedCapability): string {
  const { coverage, coverageInterval, gap, gapInterval } = capability;
  return `${nameOf(capability)}: coverage ${percent(coverage)} ${interval(coverageInterval)}, gap ${points(gap)} points ${interval(gapInterval)}`;
}

function point(
  file: CapabilitiesFile,
  index: number,
  x: (share: number) => string,
  y: (gap: number) => string,
  tag: Place,
): Html {
  const capability = file.capabilities[index]!;
  const { coverage, gap, coverageInterval, gapInterval, retained } = capability;
  const [cx, cy] = [x(coverage), y(gap)];
  return html`<g class="${capabilityTone(file, index)}"><title>${titleOf(capability)}</title>
<line class="whisker" x1="${x(coverageInterval[0])}" x2="${x(coverageInterval[1])}" y1="${cy}" y2="${cy}"/>
<line class="whisker" x1="${cx}" x2="${cx}" y1="${y(gapInterval[0])}" y2="${y(gapInterval[1])}"/>
<circle class="mark" cx="${cx}" cy="${cy}" r="${retained ? 5 : 4}"/>
<svg x="${cx}" y="${cy}"><line class="leader" x1="0" y1="0" x2="${tag.x}" y2="${tag.y}"/><circle class="tag" cx="${tag.x}" cy="${tag.y}" r="${TAG}"/><text class="tagno" x="${tag.x}" y="${tag.y + 4}" text-anchor="middle">${index + 1}</text></svg></g>`;
}
