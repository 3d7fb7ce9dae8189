import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where a trace's items lie: in memory, or in pieces of the spill file. */
interface Held<T> {
  items: T[];
  /** Offset and length of each piece, in turn. */
  readonly spilled: number[];
}

/** Characters of text in the items that stay in memory; as objects they take about three times as many bytes. */
const HELD = 1 << 24;

/**
 * Gathers items by a key while they arrive in any order, in bounded memory: about 50 MB of items, beyond that they
 * wait in a temporary file, where 16 bytes for each piece and the key stay in memory. Handed out key by key, in the
 * order in which the keys were first seen; one key's items at a time are in memory then.
 */
export class Groups<T> {
  readonly #held = new Map<string, Held<T>>();
  readonly #most: number;
  #size = 0;
  #folder: string | null = null;
  #file = -1;
  #end = 0;

  /** @param most size of the items that stay in memory, in the unit of `add`. */
  constructor(most = HELD) {
    this.#most = most;
  }

  /** @param size characters of text in the item, about. */
  add(key: string, item: T, size: number): void {
    let held = this.#held.get(key);
    if (!held) {
      held = { items: [], spilled: [] };
      this.#held.set(key, held);
    }
    held.items.push(item);
    this.#size += size;
    if (this.#size > this.#most) this.#spill();
  }

  get keys(): number {
    return this.#held.size;
  }

  #spill(): void {
    if (this.#file < 0) {
      this.#folder = mkdtempSync(join(tmpdir(), 'trace-spans-'));
      this.#file = openSync(join(this.#folder, 'spans'), 'w+');
      this.#forget();
    }
    for (const held of this.#held.values()) {
      if (held.items.length === 0) continue;
      const bytes = Buffer.from(JSON.stringify(held.items), 'utf8');
      for (let offset = 0; offset < bytes.length; )
        offset += writeSync(this.#file, bytes, offset, bytes.length - offset, this.#end + offset);
      held.spilled.push(this.#end, bytes.length);
      this.#end += bytes.length;
      held.items = [];
    }
    this.#size = 0;
  }

  #read(offset: number, length: number): T[] {
    const bytes = Buffer.alloc(length);
    for (let filled = 0; filled < length; ) {
      const count = readSync(this.#file, bytes, filled, length - filled, offset + filled);
      if (count === 0) throw new Error('the temporary file of spans was cut off while it was used');
      filled += count;
    }
    return JSON.parse(bytes.toString('utf8')) as T[];
  }

  /** Each key once with its items in the order in which they came; what was handed out is forgotten. */
  *take(): Generator<{ readonly key: string; readonly items: T[] }> {
    for (const [key, held] of this.#held) {
      const items: T[] = [];
      for (let i = 0; i < held.spilled.length; i += 2)
        for (const item of this.#read(held.spilled[i]!, held.spilled[i + 1]!)) items.push(item);
      for (const item of held.items) items.push(item);
      this.#held.delete(key);
      yield { key, items };
    }
  }

  /** Takes the file's name away while it is open, so that nothing stays behind when the process is killed. */
  #forget(): void {
    try {
      rmSync(this.#folder!, { recursive: true, force: true });
      this.#folder = null;
    } catch {
      // Not every system takes away an open file: `close` does it then.
    }
  }

  /** Ends the use of the temporary file. To be called whatever happens. */
  close(): void {
    if (this.#file >= 0) closeSync(this.#file);
    this.#file = -1;
    if (this.#folder !== null) this.#forget();
  }
}
