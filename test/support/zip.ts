import { deflateRawSync } from 'node:zlib';

/** An entry to be packed; `packed`, `method` and `declared` override what would be right. */
export interface ZipEntry {
  readonly name: string;
  readonly data?: string | Uint8Array;
  /** The bytes as they stand in the archive. */
  readonly packed?: Uint8Array;
  /** 0 stored, 8 deflate (the default), 93 zstd. */
  readonly method?: number;
  /** The size that the archive claims. */
  readonly declared?: number;
  /** General purpose flags; bit 0 says encrypted. */
  readonly flags?: number;
  /** Claims the data of the first entry instead of its own. */
  readonly overlaps?: boolean;
}

const EMPTY = new Uint8Array();

/** A zip archive made by hand, so that it can also be wrong. Checksums are left 0. */
export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  let first: Buffer | null = null;
  for (const entry of entries) {
    const data = Buffer.from(entry.data ?? EMPTY);
    const method = entry.method ?? 8;
    const own = entry.packed ? Buffer.from(entry.packed) : method === 8 ? deflateRawSync(data) : data;
    const packed: Buffer = entry.overlaps && first ? first : own;
    first ??= packed;
    const name = Buffer.from(entry.name, 'utf8');
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x800 | (entry.flags ?? 0), 2);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(entry.declared ?? data.length, 18);
    common.writeUInt16LE(name.length, 22);
    const at = entry.overlaps ? 0 : offset;
    if (!entry.overlaps) {
      const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, name, packed]);
      parts.push(local);
      offset += local.length;
    }
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(at, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, rest, name]));
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, listed, Buffer.from('PK\x05\x06', 'latin1'), end]);
}
