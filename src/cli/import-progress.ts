import type { ReadingProgress } from './reading.js';
import { formatBar, formatDuration, formatPercent, formatRate } from './terminal/format.js';

/** Least time between two lines: on a terminal, where a line replaces the last one, and elsewhere. */
const EVERY_MS = { terminal: 200, log: 10_000 };
const BAR = 24;

/** Progress of reading on stderr: share, attempts, rate, time left. */
export class ImportProgress implements ReadingProgress {
  readonly #stream: NodeJS.WriteStream;
  #total = 0;
  #done = 0;
  #attempts = 0;
  #started = 0;
  #shown = 0;
  #line = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  start(bytes: number): void {
    this.#total = bytes;
    this.#started = performance.now();
    this.#shown = this.#started;
  }

  bytes(count: number): void {
    this.#done += count;
    this.#show();
  }

  attempt(): void {
    this.#attempts++;
    if (this.#attempts % 256 === 0) this.#show();
  }

  #show(): void {
    const now = performance.now();
    const terminal = this.#stream.isTTY === true;
    if (now - this.#shown < (terminal ? EVERY_MS.terminal : EVERY_MS.log)) return;
    this.#shown = now;
    const seconds = (now - this.#started) / 1000;
    const share = this.#total > 0 ? Math.min(1, this.#done / this.#total) : 0;
    const text = [
      `import ${terminal ? `${formatBar(share, BAR)} ` : ''}${formatPercent(share)}`,
      `${this.#attempts} attempts`,
      formatRate(this.#attempts / seconds),
      `${(this.#done / seconds / 1e6).toFixed(0)} MB/s`,
      share > 0.005 ? `${formatDuration((seconds * (1 - share)) / share)} left` : '',
    ];
    const line = text.filter((part) => part !== '').join('  ');
    this.#stream.write(terminal ? `\r\x1b[2K${line}` : `${line}\n`);
    this.#line = terminal;
  }

  /** Takes the line away. */
  end(): void {
    if (this.#line) this.#stream.write('\r\x1b[2K');
    this.#line = false;
  }
}
