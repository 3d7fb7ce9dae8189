import { JsonShapeError, jsonPieces } from '../json-pieces.js';
import { readLines } from '../lines.js';
import { guardRecord, InvalidRecordError, type ReadOptions } from '../store.js';
import { kindOf, readHead } from './sample.js';

/** A record of a source, not parsed yet. */
export interface SourceRecord {
  /** From 1: the line of a JSONL file, the place in a list, the row of a table. */
  readonly number: number;
  /** Its JSON, where the source is a text. */
  readonly text?: string;
  /** @throws SyntaxError when it is no JSON. */
  parse(): unknown;
}

export interface RecordOptions extends ReadOptions {
  /** Member arrays of an outer object that hold the records; without any of them the object is one record. */
  readonly open?: readonly string[];
}

class TextRecord implements SourceRecord {
  constructor(
    readonly number: number,
    readonly text: string,
  ) {}
  parse(): unknown {
    return JSON.parse(this.text);
  }
}

/**
 * Records of a file as a stream, whatever holds them: lines of JSONL, elements of a JSON list or of an object's
 * member list, a single object, rows of Parquet.
 * @throws JsonShapeError for a file that is cut off; UnknownFormatError when it holds no records at all.
 */
export async function* readRecords(path: string, options: RecordOptions = {}): AsyncGenerator<SourceRecord> {
  const { kind } = kindOf(path, readHead(path));
  const { onBytes, open = [] } = options;
  switch (kind) {
    case 'zip':
      throw new JsonShapeError('a zip archive holds no records of this format');
    case 'parquet': {
      const { parquetRows } = await import('./parquet.js');
      yield* parquetRows(path, options);
      return;
    }
    case 'lines':
      for await (const { number, text } of readLines(path, onBytes)) yield new TextRecord(number, text);
      return;
    case 'array':
      for await (const piece of jsonPieces(path, onBytes && { onBytes }))
        yield new TextRecord(piece.index! + 1, piece.text);
      return;
    case 'object': {
      const parts: string[] = [];
      let listed = false;
      for await (const piece of jsonPieces(path, { open, ...(onBytes && { onBytes }) })) {
        if (piece.index !== null) {
          listed = true;
          parts.length = 0;
          yield new TextRecord(piece.index + 1, piece.text);
        } else if (!listed && !open.includes(piece.key!)) {
          parts.push(`${JSON.stringify(piece.key)}:${piece.text}`);
        }
      }
      if (!listed) yield new TextRecord(1, `{${parts.join(',')}}`);
    }
  }
}

/**
 * What `make` makes of each record, refused ones left out or thrown as `options.onInvalid` says; null from `make`
 * passes a record over.
 * @throws InvalidRecordError at a bad record unless `onInvalid` is given; JsonShapeError for a cut-off file.
 */
export async function* mapRecords<T>(
  path: string,
  options: RecordOptions,
  make: (value: unknown, number: number) => T | null,
): AsyncGenerator<T> {
  for await (const record of readRecords(path, options)) {
    const made = guardRecord(path, record.number, () => make(record.parse(), record.number), options);
    if (made !== null) yield made;
  }
}

/** Tells a refused record as `guardRecord` does, for readers that find it bad by other means. */
export function refuse(path: string, number: number, reason: string, { onInvalid }: ReadOptions): void {
  const error = new InvalidRecordError(path, number, reason);
  if (!onInvalid) throw error;
  onInvalid(error);
}
