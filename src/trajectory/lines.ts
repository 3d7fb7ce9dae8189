import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { JsonShapeError, LONGEST_RECORD } from './json-pieces.js';

/** A line of a file with its number from 1. */
export interface Line {
  readonly number: number;
  readonly text: string;
}

const NEWLINE = 0x0a;

/**
 * Lines of a UTF-8 file as a stream; only line feeds part them. `node:readline` would also break at U+2028,
 * which JSON allows unescaped inside strings. Empty lines are passed over, a byte-order mark is dropped.
 * @param onBytes told how many bytes were read since the last call.
 * @throws the file system's own error; JsonShapeError for a line that no string can hold, or that is not UTF-8: read
 * with replacement characters it would be another text, and nobody would know.
 */
export async function* readLines(path: string, onBytes?: (bytes: number) => void): AsyncGenerator<Line> {
  let pendingBytes = 0;
  let pending: Buffer[] = [];
  let number = 0;
  const take = (): Line | null => {
    number++;
    const bytes = pending.length === 1 ? pending[0]! : Buffer.concat(pending);
    if (!isUtf8(bytes))
      throw new JsonShapeError(`line ${number} is not UTF-8 text: save the file as UTF-8 (iconv -t UTF-8)`);
    let text = bytes.toString('utf8');
    pending = [];
    pendingBytes = 0;
    if (number === 1 && text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    text = text.trim();
    return text === '' ? null : { number, text };
  };
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) {
    const chunk = piece as Buffer;
    onBytes?.(chunk.length);
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
      pending.push(chunk.subarray(start, at));
      start = at + 1;
      const line = take();
      if (line) yield line;
    }
    if (start < chunk.length) {
      pending.push(chunk.subarray(start));
      pendingBytes += chunk.length - start;
      if (pendingBytes > LONGEST_RECORD)
        throw new JsonShapeError(`line ${number + 1} is longer than ${LONGEST_RECORD} bytes`);
    }
  }
  if (pending.length > 0) {
    const line = take();
    if (line) yield line;
  }
}
