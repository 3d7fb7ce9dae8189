import type { RunEvent, StepName } from '../../run/events.js';
import { Board, paceOf } from './board.js';
import type { Colors } from './colors.js';
import { formatDuration, formatRate } from './format.js';
import { finishedLine, messageLine } from './live.js';

/** Seconds between two progress lines of the same task. */
const QUIET_SECONDS = 15;

/** View for logs and pipes: one line for every step's begin and end, progress now and then. */
export class PlainView {
  readonly #board: Board;
  readonly #write: (text: string) => void;
  readonly #colors: Colors;
  readonly #clock: () => number;
  readonly #printedAt = new Map<string, number>();

  constructor(
    steps: readonly StepName[],
    write: (text: string) => void,
    colors: Colors,
    clock = () => performance.now() / 1000,
  ) {
    this.#board = new Board(steps);
    this.#write = write;
    this.#colors = colors;
    this.#clock = clock;
  }

  handle(event: RunEvent): void {
    const now = this.#clock();
    this.#board.apply(event, now);
    if (event.type === 'step:start') {
      this.#write(`▶ ${event.step}: ${event.title}\n`);
    } else if (event.type === 'step:end') {
      const line = this.#board.steps.find((candidate) => candidate.step === event.step);
      if (line) this.#write(`${finishedLine(line, this.#colors)}\n`);
    } else if (event.type === 'message') {
      this.#write(`  ${messageLine(event.level, event.text, this.#colors)}\n`);
    } else if (event.type === 'progress') {
      const key = `${event.step}/${event.task}`;
      const last = this.#printedAt.get(key);
      if (last === undefined) this.#printedAt.set(key, now);
      const finished = event.done >= event.total;
      if (!finished && (last === undefined || now - last < QUIET_SECONDS)) return;
      this.#printedAt.set(key, now);
      const bar = this.#board.steps.find((line) => line.step === event.step)?.bars.get(event.task);
      const pace = bar ? paceOf(bar, now) : null;
      const parts = [`${event.done}/${event.total} ${event.unit}`];
      if (pace) parts.push(formatRate(pace.rate));
      if (pace && !finished) parts.push(`${formatDuration(pace.left)} left`);
      if (event.note) parts.push(event.note);
      this.#write(`  ${event.task}: ${parts.filter(Boolean).join(' · ')}\n`);
    }
  }
}
