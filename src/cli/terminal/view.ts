import type { RunEvent, StepName } from '../../run/events.js';
import { colorsFor } from './colors.js';
import { LiveView } from './live.js';
import { PlainView } from './plain.js';

/** Whoever shows a run while it works. */
export interface View {
  /** One line that says what runs. */
  title(text: string): void;
  handle(event: RunEvent): void;
  /** Something to tell outside of the run's events, such as a stop that was asked for. */
  note(text: string): void;
  close(): void;
}

/**
 * `--json`: events on stdout, one a line. Otherwise people: live bars on stderr where it is a terminal, plain lines
 * where it is not, so that stdout holds the result alone.
 */
export function openView(steps: readonly StepName[], json: boolean): View {
  if (json) {
    const isDue = throttle(() => performance.now());
    return {
      title: () => {},
      handle: (event) => {
        if (isDue(event)) process.stdout.write(`${JSON.stringify(event)}\n`);
      },
      note: (text) => process.stderr.write(`${text}\n`),
      close: () => {},
    };
  }
  const { stderr } = process;
  const colors = colorsFor(stderr);
  if (stderr.isTTY && process.env.TERM !== 'dumb') {
    const live = new LiveView(steps, stderr, colors);
    return {
      title: (text) => {
        stderr.write(`${colors.bold(text)}\n\n`);
        live.start();
      },
      handle: (event) => live.handle(event),
      note: (text) => live.print(colors.yellow(text)),
      close: () => live.stop(),
    };
  }
  const plain = new PlainView(steps, (text) => stderr.write(text), colors);
  return {
    title: (text) => stderr.write(`${text}\n`),
    handle: (event) => plain.handle(event),
    note: (text) => stderr.write(`${text}\n`),
    close: () => {},
  };
}

/** Milliseconds between two progress events of the same task. */
const PROGRESS_MS = 200;

/**
 * Says which events to pass on: all but progress that follows the last one of its task too soon. The first and the
 * finishing one always pass.
 */
export function throttle(clock: () => number): (event: RunEvent) => boolean {
  const passedAt = new Map<string, number>();
  return (event) => {
    if (event.type !== 'progress') return true;
    const key = `${event.step}/${event.task}`;
    const last = passedAt.get(key);
    const now = clock();
    if (last !== undefined && now - last < PROGRESS_MS && event.done < event.total) return false;
    passedAt.set(key, now);
    return true;
  };
}
