import { countElements, type Parameters, type Tensor } from '../model/parameters.js';

/** Where a tensor lies in a flat array. */
export interface Segment {
  readonly name: string;
  readonly shape: readonly number[];
  readonly offset: number;
  readonly size: number;
}

/** Tensors one after the other in one flat array, so that threads can share and split them. */
export function layOut(shapes: Iterable<readonly [string, readonly number[]]>): Segment[] {
  const segments: Segment[] = [];
  let offset = 0;
  for (const [name, shape] of shapes) {
    const size = countElements(shape);
    segments.push({ name, shape, offset, size });
    offset += size;
  }
  return segments;
}

export function flatLength(segments: readonly Segment[]): number {
  const last = segments.at(-1);
  return last ? last.offset + last.size : 0;
}

/** Memory that threads share. */
export function sharedFloats(length: number): Float32Array {
  return new Float32Array(new SharedArrayBuffer(length * Float32Array.BYTES_PER_ELEMENT));
}

/** Copies parameters into a flat array. @throws Error naming the tensor that is missing or has another shape. */
export function fill(target: Float32Array, segments: readonly Segment[], parameters: Parameters): void {
  for (const { name, shape, offset } of segments) {
    const tensor = parameters[name];
    if (!tensor) throw new Error(`parameter ${name} is missing`);
    if (tensor.shape.join() !== shape.join())
      throw new Error(`parameter ${name} has shape [${tensor.shape}], expected [${shape}]`);
    target.set(tensor.data, offset);
  }
}

/** Views of the flat array by name; they change as it does. */
export function views(flat: Float32Array, segments: readonly Segment[]): Record<string, Tensor> {
  return Object.fromEntries(
    segments.map(({ name, shape, offset, size }) => [
      name,
      { shape, data: flat.subarray(offset, offset + size) },
    ]),
  );
}
