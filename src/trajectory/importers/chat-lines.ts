import { RecordError } from '../parse.js';
import { reasonOf } from '../store.js';
import type { Outcome } from '../trajectory.js';
import { type ChatDraft, type DraftContext, draftChat } from './chat-record.js';

/** One line made into an attempt and printed, or refused. */
export type PreparedLine =
  | { readonly line: number; readonly refused: string }
  | ({
      /** From 1 within the batch. */
      readonly line: number;
      readonly refused?: undefined;
      readonly outcome: Outcome;
      /** Why it is excluded. */
      readonly reason: string | null;
      /** Where its JSON stands in `bytes`. */
      readonly start: number;
      readonly end: number;
    } & Pick<ChatDraft, 'own' | 'taskId' | 'numbered'>);

/** A batch of lines, prepared. */
export interface PreparedBatch {
  readonly bytes: ArrayBuffer;
  readonly made: readonly PreparedLine[];
  /** Lines in the batch, empty ones too. */
  readonly lines: number;
}

const NEWLINE = 0x0a;

/** Room for what is printed; grows where it has to. */
class Printer {
  #bytes: Buffer<ArrayBuffer>;
  filled = 0;

  /** @param room used first, whatever it holds. */
  constructor(room: ArrayBuffer) {
    this.#bytes = Buffer.from(room);
  }

  print(text: string): void {
    // A UTF-16 code unit takes three bytes of UTF-8 at most.
    this.#room(text.length * 3);
    this.filled += this.#bytes.write(text, this.filled, 'utf8');
  }

  #room(size: number): void {
    const most = this.filled + size;
    if (most <= this.#bytes.length) return;
    const larger = Buffer.from(new ArrayBuffer(Math.max(most, this.#bytes.length * 2)));
    this.#bytes.copy(larger, 0, 0, this.filled);
    this.#bytes = larger;
  }

  get bytes(): ArrayBuffer {
    return this.#bytes.buffer;
  }
}

/**
 * Makes every line of a batch an attempt and prints it. Needs nothing of the lines before it, so that batches may be
 * prepared in any thread.
 * @param first the batch begins the file: a byte-order mark is dropped.
 * @param room memory to print into; more is taken where it is too small.
 */
export function prepareLines(
  batch: Uint8Array,
  first: boolean,
  context: DraftContext,
  room: ArrayBuffer = new ArrayBuffer(batch.length + (batch.length >> 1) + 4096),
): PreparedBatch {
  const bytes = Buffer.from(batch.buffer, batch.byteOffset, batch.length);
  const printer = new Printer(room);
  const made: PreparedLine[] = [];
  let lines = 0;
  for (let start = 0; start < bytes.length; ) {
    const at = bytes.indexOf(NEWLINE, start);
    let line = bytes.subarray(start, at < 0 ? bytes.length : at);
    start += line.length + 1;
    lines++;
    if (first && lines === 1 && line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf)
      line = line.subarray(3);
    const text = line.toString('utf8').trim();
    if (text !== '') made.push(prepareLine(text, lines, context, printer));
  }
  return { bytes: printer.bytes, made, lines };
}

function prepareLine(text: string, line: number, context: DraftContext, printer: Printer): PreparedLine {
  try {
    const { own, taskId, numbered, rest } = draftChat(JSON.parse(text), context);
    const printed = JSON.stringify(rest).slice(1);
    const start = printer.filled;
    printer.print(printed);
    const { outcome, metadata } = rest;
    const reason = outcome === 'excluded' ? String(metadata.excluded) : null;
    return { line, own, taskId, numbered, outcome, reason, start, end: printer.filled };
  } catch (error) {
    if (!(error instanceof RecordError || error instanceof SyntaxError || error instanceof RangeError))
      throw error;
    return { line, refused: reasonOf(error) };
  }
}
