import type { CapabilitiesFile } from '../../analyst/capabilities-file.js';
import { planeScale } from '../../report/plane.js';
import type { Colors } from './colors.js';

const WIDTH = 58;
const HEIGHT = 15;
const MARGIN = 6;

/** The mark of a candidate in plane and matrix: 1 to 9, then letters. */
export const markOf = (index: number) => (index + 1).toString(36);

/**
 * The coverage–gap plane in characters: both thresholds as dotted lines, candidates by their marks, the intervals of
 * the retained ones as lines.
 */
export function planeText(file: CapabilitiesFile, colors: Colors): string[] {
  const { capabilities, settings } = file;
  const { coverage: across, gap: up } = planeScale(file);
  const column = (share: number) => Math.round(Math.min(1, Math.max(0, share / across.high)) * (WIDTH - 1));
  const row = (gap: number) =>
    Math.round((1 - Math.min(1, Math.max(0, (gap - up.low) / (up.high - up.low)))) * (HEIGHT - 1));
  const cells = Array.from({ length: HEIGHT }, () => Array.from({ length: WIDTH }, () => ' '));
  const put = (r: number, c: number, text: string) => {
    cells[r]![c] = text;
  };
  for (let r = 0; r < HEIGHT; r++) put(r, column(settings.coverage), colors.dim('┊'));
  for (let c = 0; c < WIDTH; c++) put(row(settings.gap), c, colors.dim('┈'));
  for (const { retained, coverage, gap, coverageInterval, gapInterval } of capabilities) {
    if (!retained) continue;
    for (let c = column(coverageInterval[0]); c <= column(coverageInterval[1]); c++)
      put(row(gap), c, colors.dim('─'));
    for (let r = row(gapInterval[1]); r <= row(gapInterval[0]); r++)
      put(r, column(coverage), colors.dim('│'));
  }
  const taken = new Set<number>();
  for (const [i, { retained, coverage, gap }] of capabilities.entries()) {
    const r = row(gap);
    let c = column(coverage);
    while (taken.has(r * WIDTH + c) && c < WIDTH - 1) c++;
    taken.add(r * WIDTH + c);
    put(r, c, retained ? colors.bold(colors.green(markOf(i))) : markOf(i));
  }
  const tick = (value: number) => String(Math.round(100 * value)).padStart(MARGIN - 2);
  const lines = cells.map((line, r) => {
    const label =
      r === 0
        ? tick(up.high)
        : r === HEIGHT - 1
          ? tick(up.low)
          : r === row(settings.gap)
            ? tick(settings.gap)
            : ''.padStart(MARGIN - 2);
    return `${colors.dim(`${label} │`)}${line.join('')}`;
  });
  const floor = `${'0'.padEnd(column(settings.coverage))}${Math.round(100 * settings.coverage)}`;
  const axis = `${floor.padEnd(WIDTH - 3)}${Math.round(100 * across.high)}`;
  return [
    colors.dim('  gap, points'),
    ...lines,
    colors.dim(`${''.padStart(MARGIN - 2)} └${'─'.repeat(WIDTH)}`),
    colors.dim(`${''.padStart(MARGIN)}${axis}  coverage, %`),
  ];
}
