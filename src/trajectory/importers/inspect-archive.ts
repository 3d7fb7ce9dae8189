import { statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { decompressZstd } from 'hyparquet-compressors';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { JsonShapeError } from '../json-pieces.js';
import { RecordError } from '../parse.js';

/** One sample is held in memory at a time; this much JSON is more than any real one. */
const LARGEST_ENTRY = 256 * 1024 * 1024;
const MOST_ENTRIES = 200_000;

const STORED = 0;
const DEFLATE = 8;
const ZSTD = 93;

/** A JSON file in the archive. */
export interface ArchiveEntry {
  readonly name: string;
  /** Bytes that it takes in the archive. */
  readonly packed: number;
  /** @throws RecordError when it is too large, packed in an unknown way, or damaged. */
  text(): Promise<string>;
}

const reason = (error: unknown) => (error instanceof Error ? error.message : String(error));

async function collect(stream: Readable, limit: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stream) {
    size += (part as Buffer).length;
    // The library already holds streams to the size that the archive declares; this is the second lock.
    if (size > limit) throw new RecordError('it unpacks to more than it declares');
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts);
}

async function unpack(zip: ZipFile, entry: Entry): Promise<string> {
  const { uncompressedSize, compressedSize, compressionMethod } = entry;
  if (uncompressedSize > LARGEST_ENTRY || compressedSize > LARGEST_ENTRY)
    throw new RecordError(
      `it declares ${uncompressedSize} bytes, more than the ${LARGEST_ENTRY} that are read`,
    );
  if (entry.isEncrypted()) throw new RecordError('it is encrypted');
  const zstd = compressionMethod === ZSTD;
  if (!zstd && compressionMethod !== STORED && compressionMethod !== DEFLATE)
    throw new RecordError(`it is packed by method ${compressionMethod}; known are stored, deflate and zstd`);
  try {
    const stream = await zip.openReadStreamPromise(entry, zstd ? { decodeFileData: false } : {});
    const bytes = await collect(stream, zstd ? compressedSize : uncompressedSize);
    // The output is as long as declared: a frame that claims more cannot make it grow.
    return (zstd ? Buffer.from(decompressZstd(bytes, new Uint8Array(uncompressedSize))) : bytes).toString(
      'utf8',
    );
  } catch (error) {
    throw error instanceof RecordError ? error : new RecordError(`it cannot be unpacked: ${reason(error)}`);
  }
}

/** An open archive. Nothing of it is ever written to disk. */
export class Archive {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip;
    this.#entries = entries;
  }

  /**
   * Opens an archive and reads its directory; only entries whose name is wanted are kept.
   * @throws JsonShapeError for a file that is no whole archive, or one that is built to do harm: names that lead out
   * of it, entries that overlap, the same name twice, too many entries.
   */
  static async open(path: string, wanted: (name: string) => boolean): Promise<Archive> {
    const refuse = (why: string) => new JsonShapeError(`not a whole zip archive: ${why}`);
    let zip: ZipFile;
    try {
      zip = await openPromise(path, { autoClose: false, strictFileNames: true });
    } catch (error) {
      if (error instanceof Error && 'code' in error) throw error;
      throw refuse(reason(error));
    }
    try {
      if (zip.entryCount > MOST_ENTRIES) throw refuse(`${zip.entryCount} entries are too many`);
      const entries = new Map<string, Entry>();
      const names = new Set<string>();
      let packed = 0;
      for await (const entry of zip.eachEntry()) {
        packed += entry.compressedSize;
        if (names.has(entry.fileName)) throw refuse(`it holds ${entry.fileName} twice`);
        names.add(entry.fileName);
        if (wanted(entry.fileName)) entries.set(entry.fileName, entry);
      }
      if (packed > statSync(path).size) throw refuse('its entries overlap');
      return new Archive(zip, entries);
    } catch (error) {
      zip.close();
      throw error instanceof JsonShapeError ? error : refuse(reason(error));
    }
  }

  close(): void {
    this.#zip.close();
  }

  /** The entries whose name is wanted, in the archive's order. */
  *entries(wanted: (name: string) => boolean): Generator<ArchiveEntry> {
    for (const [name, entry] of this.#entries)
      if (wanted(name)) yield { name, packed: entry.compressedSize, text: () => unpack(this.#zip, entry) };
  }
}
