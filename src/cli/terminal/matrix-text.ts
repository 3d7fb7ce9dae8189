import type { AttemptView, Cell } from '../../report/attempt-view.js';
import type { DiagnosisView } from '../../report/diagnosis-view.js';
import { matrixOrder } from '../../report/matrix.js';
import type { Colors } from './colors.js';
import { markOf } from './plane-text.js';

/** Lines of attempts; the page has more. */
const MOST_BANDS = 3;
/** Share of the raters from which a label counts as agreed. */
const AGREED = 0.8;

function sign({ label, agreement }: Cell, colors: Colors): string {
  if (label === 'LACKING') return (agreement ?? 1) >= AGREED ? colors.yellow('█') : colors.yellow('▒');
  if (label === 'PRESENT') return colors.cyan('○');
  return label === 'NA' ? colors.dim('·') : ' ';
}

/**
 * Capabilities by attempts in characters, failed attempts before passed ones, trials of a task side by side; broken
 * into bands of at most `width` cells.
 */
export function matrixText(view: DiagnosisView, colors: Colors, width: number): string[] {
  const { file, attempts } = view;
  const perBand = Math.max(20, width - 4);
  // The outcomes' border takes a place.
  const { failed, passed } = matrixOrder(attempts, MOST_BANDS * perBand - 1);
  const all: (AttemptView | null)[] =
    failed.length > 0 && passed.length > 0 ? [...failed, null, ...passed] : [...failed, ...passed];
  if (all.length === 0 || file.capabilities.length === 0) return [];
  const lines = [
    `${colors.yellow('█')} lacks it  ${colors.yellow('▒')} fewer than ${Math.round(100 * AGREED)} % of the raters say so  ${colors.cyan('○')} shows it  ${colors.dim('·')} not needed   ${colors.dim('failed │ passed')}`,
  ];
  for (let from = 0; from < all.length; from += perBand) {
    const band = all.slice(from, from + perBand);
    if (from > 0) lines.push('');
    for (const [c, { retained }] of file.capabilities.entries()) {
      const signs = band.map((attempt) => (attempt ? sign(attempt.cells[c]!, colors) : colors.dim('│')));
      const mark = markOf(c).padStart(2);
      lines.push(`${retained ? colors.bold(colors.green(mark)) : mark}  ${signs.join('')}`);
    }
  }
  const drawn = failed.length + passed.length;
  if (drawn < attempts.length)
    lines.push(colors.dim(`${drawn} of ${attempts.length} attempts, chosen evenly; the page draws more`));
  return lines;
}
