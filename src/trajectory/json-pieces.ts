import { createReadStream } from 'node:fs';

/** One value out of a large JSON file, as text: a member of the outer object or an element of an array. */
export interface JsonPiece {
  /** Member of the outer object; null where the file's outer value is an array. */
  readonly key: string | null;
  /** Position in the array, from 0; null for a whole member. */
  readonly index: number | null;
  readonly text: string;
}

/** Longest record that is read: a string of JavaScript holds at most 512 Mi characters. */
export const LONGEST_RECORD = 1 << 28;

/** The file is not JSON of the expected outer shape. */
export class JsonShapeError extends Error {
  override readonly name = 'JsonShapeError';
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const isOpen = (byte: number) => byte === OPEN_ARRAY || byte === OPEN_OBJECT;
const isClose = (byte: number) => byte === CLOSE_ARRAY || byte === CLOSE_OBJECT;

/**
 * Cuts a JSON text into its outer values without parsing them, so that a file of any size is read with the
 * memory of one record. Works on bytes: all structural characters of JSON are ASCII, and no byte of a longer
 * UTF-8 sequence is.
 */
class Splitter {
  /** Keys of the outer object met so far, those of unfinished members too. */
  readonly keys: string[] = [];
  /** What the outer value is, once it has begun. */
  outer: 'array' | 'object' | null = null;
  readonly #opened: ReadonlySet<string>;
  readonly #skipped: ReadonlySet<string>;
  #outer: 'unknown' | 'array' | 'object' | 'done' = 'unknown';
  /** Inside an opened member array. */
  #inner = false;
  #state: 'separator' | 'key' | 'colon' | 'value' = 'separator';
  #depth = 0;
  #inString = false;
  #escaped = false;
  #parts: Buffer[] = [];
  #kept = 0;
  #keeping = false;
  #key: string | null = null;
  #index = 0;

  constructor(opened: ReadonlySet<string>, skipped: ReadonlySet<string>) {
    this.#opened = opened;
    this.#skipped = skipped;
  }

  get finished(): boolean {
    return this.#outer === 'done';
  }

  feed(chunk: Buffer): JsonPiece[] {
    const pieces: JsonPiece[] = [];
    let start = 0;
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]!;
      if (this.#state === 'value' || this.#state === 'key') {
        if (this.#inString) {
          if (this.#escaped) this.#escaped = false;
          else if (byte === BACKSLASH) this.#escaped = true;
          else if (byte === QUOTE) {
            this.#inString = false;
            if (this.#state === 'key') {
              this.#keep(chunk.subarray(start, i + 1));
              this.#key = keyOf(this.#text());
              this.keys.push(this.#key);
              this.#state = 'colon';
            }
          }
          continue;
        }
        if (byte === QUOTE) this.#inString = true;
        else if (isOpen(byte)) this.#depth++;
        else if (isClose(byte) && this.#depth > 0) this.#depth--;
        else if (this.#depth === 0 && (byte === COMMA || isClose(byte))) {
          if (this.#keeping) this.#keep(chunk.subarray(start, i));
          this.#finishValue(pieces);
          this.#structural(byte);
        }
        continue;
      }
      if (isSpace(byte) || (this.#outer === 'unknown' && (byte === 0xef || byte === 0xbb || byte === 0xbf)))
        continue;
      const begun = this.#begins(byte);
      if (begun !== null) {
        start = i;
        this.#keeping = begun === 'key' || this.#key === null || !this.#skipped.has(this.#key);
        // The first byte belongs to the value: let the state machine above see it.
        if (byte === QUOTE) this.#inString = true;
        else if (isOpen(byte)) this.#depth = 1;
      }
    }
    if ((this.#state === 'value' || this.#state === 'key') && this.#keeping)
      this.#keep(chunk.subarray(start));
    return pieces;
  }

  #keep(part: Buffer): void {
    this.#kept += part.length;
    if (this.#kept > LONGEST_RECORD)
      throw new JsonShapeError(`a value of it is longer than ${LONGEST_RECORD} bytes`);
    this.#parts.push(part);
  }

  /** A byte between values: what it begins, or null when it is structure. */
  #begins(byte: number): 'key' | 'value' | null {
    if (this.#outer === 'done') throw new JsonShapeError('there is text after the end of the JSON value');
    if (this.#outer === 'unknown') {
      if (byte === OPEN_ARRAY) this.#outer = 'array';
      else if (byte === OPEN_OBJECT) this.#outer = 'object';
      else throw new JsonShapeError('it begins with neither [ nor {');
      this.outer = this.#outer;
      return null;
    }
    if (this.#state === 'colon') {
      if (byte !== COLON) throw new JsonShapeError(`no colon after the key ${JSON.stringify(this.#key)}`);
      this.#state = 'separator';
      return null;
    }
    if (byte === COMMA || isClose(byte)) {
      this.#structural(byte);
      return null;
    }
    const inObject = this.#outer === 'object' && !this.#inner;
    if (inObject && this.#key === null) {
      if (byte !== QUOTE) throw new JsonShapeError('a member of the outer object has no quoted key');
      this.#state = 'key';
      return 'key';
    }
    if (inObject && byte === OPEN_ARRAY && this.#opened.has(this.#key!)) {
      this.#inner = true;
      this.#index = 0;
      return null;
    }
    this.#state = 'value';
    this.#depth = 0;
    return 'value';
  }

  #structural(byte: number): void {
    if (byte === COMMA) {
      if (this.#outer === 'object' && !this.#inner) this.#key = null;
      return;
    }
    if (this.#inner) {
      if (byte !== CLOSE_ARRAY)
        throw new JsonShapeError(`the array ${JSON.stringify(this.#key)} ends with }`);
      this.#inner = false;
    } else this.#outer = 'done';
  }

  #finishValue(pieces: JsonPiece[]): void {
    const array = this.#outer === 'array' || this.#inner;
    if (this.#keeping) {
      pieces.push({ key: this.#key, index: array ? this.#index : null, text: this.#text() });
    }
    if (array) this.#index++;
    this.#state = 'separator';
    this.#keeping = false;
  }

  #text(): string {
    const text = Buffer.concat(this.#parts).toString('utf8');
    this.#parts = [];
    this.#kept = 0;
    return text;
  }
}

function keyOf(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    throw new JsonShapeError(`the key ${text.slice(0, 40)} is no JSON`);
  }
}

/** How much of a file is read, and who is told. */
export interface PieceOptions {
  /** Member arrays of the outer object that come element by element. */
  readonly open?: readonly string[];
  /** Members of the outer object that do not come. */
  readonly skip?: readonly string[];
  /** Told how many bytes were read since the last call. */
  readonly onBytes?: (bytes: number) => void;
}

/**
 * Streams the outer values of a JSON file: the elements of an outer array, or the members of an outer object,
 * where member arrays named in `open` come element by element and members named in `skip` not at all.
 * The pieces are not parsed: `JSON.parse` of a piece may still fail.
 * @throws JsonShapeError when the file is not one JSON array or object, or ends early.
 */
export async function* jsonPieces(path: string, options: PieceOptions = {}): AsyncGenerator<JsonPiece> {
  const splitter = new Splitter(new Set(options.open), new Set(options.skip));
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    options.onBytes?.((chunk as Buffer).length);
    yield* splitter.feed(chunk as Buffer);
  }
  if (!splitter.finished) throw new JsonShapeError('it ends before its outer value is closed (cut off?)');
}

/** The beginning of a JSON file. */
export interface JsonHead {
  readonly outer: 'array' | 'object' | null;
  /** Keys of the outer object met so far. */
  readonly keys: readonly string[];
  /** Values that stand in it whole. */
  readonly pieces: readonly JsonPiece[];
  /** The outer value ends within the head. */
  readonly finished: boolean;
}

/**
 * The outer values that stand whole in the first `bytes` of a file, as `jsonPieces` cuts them.
 * @throws JsonShapeError when the head is not of one JSON array or object.
 */
export function jsonHead(bytes: Buffer, open: readonly string[] = []): JsonHead {
  const splitter = new Splitter(new Set(open), new Set());
  const pieces = splitter.feed(bytes);
  return { outer: splitter.outer, keys: splitter.keys, pieces, finished: splitter.finished };
}
