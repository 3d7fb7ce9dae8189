import type { RunEvent, StepName } from '../../run/events.js';
import { type Bar, Board, paceOf, type StepLine } from './board.js';
import type { Colors } from './colors.js';
import { formatBar, formatDuration, formatRate, padEnd, truncate } from './format.js';

/** Most bars shown at once; finished ones beyond are only counted. */
const MAX_BARS = 6;
const FRAME_MS = 100;

export interface Output {
  write(text: string): void;
  readonly columns: number;
}

/**
 * Live view for a terminal: finished steps scroll away above, the running step with its bars and the steps to come
 * are redrawn below. The cursor is hidden while it runs.
 */
export class LiveView {
  readonly #board: Board;
  readonly #output: Output;
  readonly #colors: Colors;
  readonly #clock: () => number;
  #drawn = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    steps: readonly StepName[],
    output: Output,
    colors: Colors,
    clock = () => performance.now() / 1000,
  ) {
    this.#board = new Board(steps);
    this.#output = output;
    this.#colors = colors;
    this.#clock = clock;
  }

  start(): void {
    this.#output.write('\x1b[?25l');
    this.#timer = setInterval(() => this.#redraw(), FRAME_MS);
    this.#timer.unref();
  }

  handle(event: RunEvent): void {
    this.#board.apply(event, this.#clock());
    if (event.type === 'step:end') {
      this.print(finishedLine(this.#board.steps.find((line) => line.step === event.step)!, this.#colors));
    } else if (event.type === 'message') {
      this.print(messageLine(event.level, event.text, this.#colors));
    }
  }

  /** Writes a line above the bars, to stay. */
  print(text: string): void {
    this.#erase();
    this.#output.write(`${text}\n`);
    this.#draw();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    this.#erase();
    this.#output.write('\x1b[?25h');
  }

  #redraw(): void {
    this.#erase();
    this.#draw();
  }

  #erase(): void {
    if (this.#drawn > 0) this.#output.write(`\x1b[${this.#drawn}A\r\x1b[0J`);
    this.#drawn = 0;
  }

  #draw(): void {
    const lines = boardLines(this.#board, this.#clock(), this.#output.columns, this.#colors);
    if (lines.length > 0) this.#output.write(`${lines.join('\n')}\n`);
    this.#drawn = lines.length;
  }
}

/** The lines of the running step and those to come. */
export function boardLines(board: Board, now: number, columns: number, colors: Colors): string[] {
  const lines: string[] = [];
  const running = board.running;
  if (running) {
    const time = formatDuration(now - running.startedAt);
    lines.push(`${colors.cyan('▶')} ${colors.bold(padEnd(running.step, 11))} ${running.summary}  ${time}`);
    const bars = [...running.bars.values()];
    const unfinished = bars.filter((bar) => bar.done < bar.total);
    const shown = unfinished.slice(-MAX_BARS);
    const finished = bars.filter((bar) => bar.done >= bar.total);
    const room = MAX_BARS - shown.length;
    const recent = room > 0 ? finished.slice(-room) : [];
    if (finished.length > recent.length) {
      lines.push(colors.dim(`    ${finished.length - recent.length} done before these`));
    }
    const longest = Math.max(8, ...[...recent, ...shown].map((bar) => bar.task.length));
    // Rate and time left say more than the end of a long name.
    const layout = {
      name: Math.min(longest, Math.max(16, Math.floor(columns / 3))),
      bar: columns < 100 ? 12 : 24,
    };
    for (const bar of [...recent, ...shown]) lines.push(barLine(bar, now, layout, colors));
  }
  for (const line of board.steps) {
    if (line.state === 'waiting') lines.push(colors.dim(`○ ${line.step}`));
  }
  return lines.map((line) => truncate(line, columns - 1));
}

function barLine(
  bar: Bar,
  now: number,
  layout: { readonly name: number; readonly bar: number },
  colors: Colors,
): string {
  const fraction = bar.total > 0 ? bar.done / bar.total : 0;
  const finished = bar.done >= bar.total;
  const drawn = formatBar(fraction, layout.bar);
  const pace = paceOf(bar, finished ? bar.updatedAt : now);
  const parts = [`${bar.done}/${bar.total} ${bar.unit}`];
  if (pace) parts.push(formatRate(pace.rate));
  if (pace && !finished) parts.push(`${formatDuration(pace.left)} left`);
  if (bar.note) parts.push(bar.note);
  const color = finished ? colors.green : colors.cyan;
  return `    ${padEnd(truncate(bar.task, layout.name), layout.name)} ${color(drawn)} ${parts.filter(Boolean).join(' · ')}`;
}

export function finishedLine(line: StepLine, colors: Colors): string {
  const mark = line.state === 'resumed' ? colors.dim('✔') : colors.green('✔');
  const time = line.state === 'resumed' ? 'done before' : formatDuration(line.seconds);
  return `${mark} ${colors.bold(padEnd(line.step, 11))} ${line.summary}  ${colors.dim(time)}`;
}

export function messageLine(level: 'info' | 'warning' | 'error', text: string, colors: Colors): string {
  if (level === 'error') return `${colors.red('error')} ${text}`;
  if (level === 'warning') return `${colors.yellow('warning')} ${text}`;
  return `${colors.dim('·')} ${text}`;
}
