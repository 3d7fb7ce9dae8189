import { createReadStream } from 'node:fs';

/** A line of a file with its number from 1. */
export interface Line {
  readonly number: number;
  readonly text: string;
}

const NEWLINE = 0x0a;

/**
 * Lines of a UTF-8 file as a stream; only line feeds part them. `node:readline` would also break at U+2028,
 * which JSON allows unescaped inside strings. Empty lines are passed over, a byte-order mark is dropped.
 * @throws the file system's own error.
 */
export async function* readLines(path: string): AsyncGenerator<Line> {
  let pending: Buffer[] = [];
  let number = 0;
  const take = (): Line | null => {
    number++;
    let text = (pending.length === 1 ? pending[0]! : Buffer.concat(pending)).toString('utf8');
    pending = [];
    if (number === 1 && text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    text = text.trim();
    return text === '' ? null : { number, text };
  };
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 18 })) {
    const chunk = piece as Buffer;
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
      pending.push(chunk.subarray(start, at));
      start = at + 1;
      const line = take();
      if (line) yield line;
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
  }
  if (pending.length > 0) {
    const line = take();
    if (line) yield line;
  }
}
