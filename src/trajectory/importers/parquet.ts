import { type AsyncBuffer, asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { JsonShapeError } from '../json-pieces.js';
import type { RecordOptions, SourceRecord } from './records.js';
import { UnknownFormatError } from './sample.js';

/** Rows decoded at a time where the group is larger. */
const ROWS_AT_ONCE = 256;

/**
 * A cell as JSON would hold it: whole numbers beyond 2^53 as text, dates in ISO form, bytes as text. Members that
 * are null in a nested column are left out: there, null is what rows without the member are filled up with.
 */
export function plainCell(value: unknown): unknown {
  if (typeof value === 'bigint')
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
      ? Number(value)
      : String(value);
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (ArrayBuffer.isView(value)) return [...(value as unknown as Iterable<unknown>)].map(plainCell);
  if (Array.isArray(value)) return value.map(plainCell);
  const object: { [key: string]: unknown } = Object.create(null);
  for (const [key, member] of Object.entries(value))
    if (member !== null && member !== undefined) object[key] = plainCell(member);
  return { ...object };
}

/** A row: cells made plain, columns of JSON text parsed. */
function plainRow(row: Record<string, unknown>): unknown {
  const plain: { [key: string]: unknown } = Object.create(null);
  for (const [key, cell] of Object.entries(row)) {
    const value = plainCell(cell);
    plain[key] = typeof value === 'string' ? jsonCell(value) : value;
  }
  return { ...plain };
}

/** A text that is a JSON object or list, parsed; any other text as it is. */
function jsonCell(text: string): unknown {
  if (!/^\s*(\{[\s\S]*\}|\[[\s\S]*\])\s*$/.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

async function open(path: string) {
  const file: AsyncBuffer = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  return { file, metadata };
}

const broken = (error: unknown) =>
  `a Parquet file that cannot be read: ${error instanceof Error ? error.message : String(error)}`;

/** Bytes of a range. @throws RangeError for one that is not in the file: a damaged header may name any. */
async function sliceWithin(file: AsyncBuffer, start: number, end = file.byteLength): Promise<ArrayBuffer> {
  const from = start < 0 ? file.byteLength + start : start;
  if (
    !(
      Number.isSafeInteger(from) &&
      Number.isSafeInteger(end) &&
      from >= 0 &&
      from <= end &&
      end <= file.byteLength
    )
  )
    throw new RangeError(`bytes ${start} to ${end} of a file of ${file.byteLength}`);
  return from === end ? new ArrayBuffer(0) : file.slice(from, end);
}

/**
 * Rows of a range. The library begins to fetch and decode columns before it waits for any: in a damaged file it may
 * give up on one and leave the others' promises to nobody, and the rejection of one of them would end the process.
 * Bytes are therefore handed out in a later turn of the event loop and never once the reading has failed, and a range
 * that cannot be read fails the reading, not the fetch.
 */
async function readRange(
  { file, metadata }: Awaited<ReturnType<typeof open>>,
  rowStart: number,
  rowEnd: number,
): Promise<Record<string, unknown>[]> {
  let failed = false;
  let fail: (reason: unknown) => void = () => undefined;
  const failure = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const patient: AsyncBuffer = {
    byteLength: file.byteLength,
    async slice(start, end) {
      const [read] = await Promise.allSettled([sliceWithin(file, start, end)]);
      if (read.status === 'rejected') fail(read.reason);
      await new Promise((resolve) => setImmediate(resolve));
      return failed || read.status === 'rejected' ? new Promise<never>(() => undefined) : read.value;
    },
  };
  try {
    const rows = parquetReadObjects({ file: patient, metadata, compressors, rowStart, rowEnd });
    return await Promise.race([rows, failure]);
  } catch (error) {
    failed = true;
    throw error;
  }
}

/** The first rows, for detection. @throws UnknownFormatError for a damaged file. */
export async function firstRows(path: string, count: number): Promise<unknown[]> {
  try {
    const opened = await open(path);
    const rowEnd = Math.min(count, Number(opened.metadata.num_rows));
    if (rowEnd === 0) return [];
    return (await readRange(opened, 0, rowEnd)).map(plainRow);
  } catch (error) {
    throw new UnknownFormatError(`${path}: ${broken(error)}`, { cause: error });
  }
}

/**
 * Rows as records, row group by row group. Memory holds one group's compressed columns and a few hundred rows.
 * @throws JsonShapeError for a damaged file.
 */
export async function* parquetRows(path: string, { onBytes }: RecordOptions): AsyncGenerator<SourceRecord> {
  let number = 0;
  try {
    const opened = await open(path);
    for (const group of opened.metadata.row_groups) {
      const groupStart = number;
      const groupEnd = groupStart + Number(group.num_rows);
      for (let rowStart = groupStart; rowStart < groupEnd; rowStart += ROWS_AT_ONCE) {
        const rowEnd = Math.min(groupEnd, rowStart + ROWS_AT_ONCE);
        const rows = await readRange(opened, rowStart, rowEnd);
        for (const row of rows) {
          number++;
          yield { number, parse: () => plainRow(row) };
        }
      }
      onBytes?.(Number(group.total_compressed_size ?? group.total_byte_size ?? 0));
    }
  } catch (error) {
    if (
      error instanceof Error &&
      error.name !== 'Error' &&
      error.name !== 'RangeError' &&
      error.name !== 'TypeError'
    )
      throw error;
    throw new JsonShapeError(broken(error), { cause: error });
  }
}
