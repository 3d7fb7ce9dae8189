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
    return {
      title: () => {},
      handle: (event) => process.stdout.write(`${JSON.stringify(event)}\n`),
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
