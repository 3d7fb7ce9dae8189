import type { ModelConfig } from '../model/config.js';

/**
 * Keys and values of a batch of rows, updated in place. A key stands at the slot of its position:
 * `keys[layer]` is [rows, kvHeads, headDim, capacity] (transposed, so that a query's scores are a plain
 * vector–matrix product), `values[layer]` is [rows, kvHeads, capacity, headDim]. Any range of rows is one
 * contiguous view. Slots that were never written hold zeros or old numbers, always finite.
 */
export class KvCache {
  keys: Float32Array[] = [];
  values: Float32Array[] = [];
  rows = 0;
  capacity = 0;
  readonly #layers: number;
  readonly #kvHeads: number;
  readonly #headDim: number;

  constructor(config: Pick<ModelConfig, 'layers' | 'kvHeads' | 'headDim'>) {
    this.#layers = config.layers;
    this.#kvHeads = config.kvHeads;
    this.#headDim = config.headDim;
  }

  /** Numbers of one row in one layer, keys or values. */
  get rowSize(): number {
    return this.#kvHeads * this.#headDim * this.capacity;
  }

  get bytes(): number {
    return 8 * this.#layers * this.rows * this.rowSize;
  }

  /** Changes the size; what fits of the old content is kept. */
  resize(rows: number, capacity: number): void {
    if (rows === this.rows && capacity === this.capacity) return;
    const kept = Math.min(rows, this.rows);
    const length = Math.min(capacity, this.capacity);
    const heads = this.#kvHeads;
    const size = this.#headDim;
    const old = { keys: this.keys, values: this.values, capacity: this.capacity };
    const total = rows * heads * size * capacity;
    for (let layer = 0; layer < this.#layers; layer++) {
      const keys = new Float32Array(total);
      const values = new Float32Array(total);
      const oldKeys = old.keys[layer];
      const oldValues = old.values[layer];
      if (oldKeys && oldValues && capacity === old.capacity) {
        const same = kept * heads * size * capacity;
        keys.set(oldKeys.subarray(0, same));
        values.set(oldValues.subarray(0, same));
      } else if (oldKeys && oldValues) {
        for (let i = 0; i < kept * heads * size; i++) {
          keys.set(oldKeys.subarray(i * old.capacity, i * old.capacity + length), i * capacity);
        }
        for (let i = 0; i < kept * heads; i++) {
          const from = i * old.capacity * size;
          values.set(oldValues.subarray(from, from + length * size), i * capacity * size);
        }
      }
      // Layer by layer, so that old and new never lie side by side whole.
      this.keys[layer] = keys;
      this.values[layer] = values;
    }
    this.rows = rows;
    this.capacity = capacity;
  }

  /** Stores the key and value of one token; `source` is its index in `keys` and `values` [tokens, kvHeads·headDim]. */
  write(
    layer: number,
    row: number,
    position: number,
    source: number,
    newKeys: Float32Array,
    newValues: Float32Array,
  ): void {
    const keys = this.keys[layer] as Float32Array;
    const values = this.values[layer] as Float32Array;
    const { capacity } = this;
    const size = this.#headDim;
    let from = source * this.#kvHeads * size;
    for (let head = 0; head < this.#kvHeads; head++) {
      const block = (row * this.#kvHeads + head) * size * capacity;
      let key = block + position;
      let value = block + position * size;
      for (let i = 0; i < size; i++, from++, key += capacity, value++) {
        keys[key] = newKeys[from] as number;
        values[value] = newValues[from] as number;
      }
    }
  }

  /** Copies the first `length` positions of a row. */
  copyRow(from: number, to: number, length: number): void {
    const size = this.#headDim;
    const { capacity } = this;
    const stride = this.rowSize;
    for (let layer = 0; layer < this.#layers; layer++) {
      const keys = this.keys[layer] as Float32Array;
      const values = this.values[layer] as Float32Array;
      for (let i = 0; i < this.#kvHeads * size; i++) {
        const start = from * stride + i * capacity;
        keys.copyWithin(to * stride + i * capacity, start, start + length);
      }
      for (let head = 0; head < this.#kvHeads; head++) {
        const start = from * stride + head * capacity * size;
        values.copyWithin(to * stride + head * capacity * size, start, start + length * size);
      }
    }
  }

  swapRows(a: number, b: number): void {
    const stride = this.rowSize;
    for (const layers of [this.keys, this.values]) {
      for (const data of layers) {
        const kept = data.slice(a * stride, (a + 1) * stride);
        data.copyWithin(a * stride, b * stride, (b + 1) * stride);
        data.set(kept, b * stride);
      }
    }
  }
}
