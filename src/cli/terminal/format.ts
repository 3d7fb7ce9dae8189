/** Texts of the terminal: durations, rates, bars. Pure functions. */

/** `0:07`, `12:03`, `1:02:03`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (n: number) => String(n).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** Three significant digits: `812/s`, `12.5/s`, `0.40/s`; slow work as `3.1/min`. */
export function formatRate(perSecond: number): string {
  if (!Number.isFinite(perSecond) || perSecond <= 0) return '';
  if (perSecond < 0.2) return `${digits(perSecond * 60)}/min`;
  return `${digits(perSecond)}/s`;
}

function digits(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}

/** A bar of `width` cells, filled in half cells. */
export function formatBar(fraction: number, width: number): string {
  const halves = Math.round(Math.min(1, Math.max(0, fraction)) * width * 2);
  const full = Math.floor(halves / 2);
  const half = halves % 2 === 1 ? '╸' : '';
  return `${'━'.repeat(full)}${half}`.padEnd(width, '─');
}

/** `12.3 %` of a share. */
export function formatPercent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

const ANSI = /\x1b\[[0-9;]*m/g;

/** Number of cells a text takes, colours left out. */
export function visibleWidth(text: string): number {
  return [...text.replace(ANSI, '')].length;
}

/** Cuts a text to a number of cells, with an ellipsis, keeping its colour codes. */
export function truncate(text: string, width: number): string {
  if (visibleWidth(text) <= width) return text;
  let cells = 0;
  let result = '';
  for (const piece of text.split(/(\x1b\[[0-9;]*m)/)) {
    if (piece.startsWith('\x1b[')) {
      result += piece;
      continue;
    }
    for (const character of piece) {
      if (cells < width - 1) result += character;
      else if (cells === width - 1) result += '…';
      cells++;
    }
  }
  return result;
}

/** Pads to a number of visible cells. */
export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - visibleWidth(text)));
}
