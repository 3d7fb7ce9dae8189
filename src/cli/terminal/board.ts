import type { RunEvent, StepName } from '../../run/events.js';

/** One bar: something with a known amount of work. */
export interface Bar {
  readonly task: string;
  done: number;
  total: number;
  unit: string;
  note: string | undefined;
  /** Clock in seconds and `done` when the bar appeared: the rate counts from there. */
  readonly startedAt: number;
  readonly startedWith: number;
  updatedAt: number;
}

export interface StepLine {
  readonly step: StepName;
  state: 'waiting' | 'running' | 'done' | 'resumed';
  summary: string;
  startedAt: number;
  seconds: number;
  readonly bars: Map<string, Bar>;
}

/**
 * What the terminal shows of a run, kept up to date from its events; knows nothing of how it is drawn. Times are
 * handed in, in seconds.
 */
export class Board {
  readonly steps: StepLine[];

  constructor(names: readonly StepName[]) {
    this.steps = names.map((step) => ({
      step,
      state: 'waiting',
      summary: '',
      startedAt: 0,
      seconds: 0,
      bars: new Map(),
    }));
  }

  get running(): StepLine | undefined {
    return this.steps.find((line) => line.state === 'running');
  }

  apply(event: RunEvent, now: number): void {
    const line = this.steps.find((candidate) => candidate.step === event.step);
    if (!line) return;
    if (event.type === 'step:start') {
      line.state = 'running';
      line.startedAt = now;
      line.summary = event.title;
    } else if (event.type === 'step:end') {
      line.seconds = event.resumed ? 0 : now - line.startedAt;
      line.state = event.resumed ? 'resumed' : 'done';
      line.summary = event.summary;
    } else if (event.type === 'progress') {
      const bar = line.bars.get(event.task);
      if (bar) {
        bar.done = event.done;
        bar.total = event.total;
        bar.unit = event.unit;
        bar.note = event.note ?? bar.note;
        bar.updatedAt = now;
      } else {
        // The first event may come when a part is already done (a resumed step): it is not counted as speed.
        line.bars.set(event.task, {
          task: event.task,
          done: event.done,
          total: event.total,
          unit: event.unit,
          note: event.note,
          startedAt: event.done > 0 && line.bars.size === 0 ? line.startedAt : now,
          startedWith: event.done > 1 ? event.done : 0,
          updatedAt: now,
        });
      }
    }
  }
}

/** Units a second since the bar appeared, and seconds left; null where nothing can be said yet. */
export function paceOf(bar: Bar, now: number): { rate: number; left: number } | null {
  const seconds = now - bar.startedAt;
  const worked = bar.done - bar.startedWith;
  if (worked <= 0 || seconds < 0.5) return null;
  const rate = worked / seconds;
  return { rate, left: Math.max(0, (bar.total - bar.done) / rate) };
}
