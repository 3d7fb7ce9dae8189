/**
 * Dimensions of a graph: a number, or the name of a size that is known only when the graph runs.
 * Products of named sizes are written `2*length*rows`: the coefficient first, the names sorted, so that equal
 * products are equal strings and shapes can be compared when the graph is built.
 */
export type Dim = number | string;
export type Shape = readonly Dim[];

/** Product of dimensions in canonical form; the empty product is 1. */
export function product(...dims: readonly Dim[]): Dim {
  let coefficient = 1;
  const names: string[] = [];
  for (const dim of dims) {
    for (const factor of typeof dim === 'number' ? [String(dim)] : dim.split('*')) {
      const value = Number(factor);
      if (Number.isInteger(value)) coefficient *= value;
      else names.push(factor);
    }
  }
  if (names.length === 0 || coefficient === 0) return coefficient;
  names.sort();
  return (coefficient === 1 ? names : [String(coefficient), ...names]).join('*');
}

/** Sum of dimensions; with a named size the sum is a name of its own, such as `(1+past)`. */
export function sum(...dims: readonly Dim[]): Dim {
  if (dims.every((dim) => typeof dim === 'number'))
    return dims.reduce<number>((a, b) => a + (b as number), 0);
  return `(${dims.map(String).sort().join('+')})`;
}

export function sameShape(a: Shape, b: Shape): boolean {
  return a.length === b.length && a.every((dim, i) => dim === b[i]);
}

/** Shape of an elementwise result by NumPy's rule, or null when the shapes do not broadcast. */
export function broadcast(a: Shape, b: Shape): Shape | null {
  const rank = Math.max(a.length, b.length);
  const result: Dim[] = [];
  for (let i = 0; i < rank; i++) {
    const x = a[a.length - rank + i] ?? 1;
    const y = b[b.length - rank + i] ?? 1;
    if (x !== y && x !== 1 && y !== 1) return null;
    result.push(x === 1 ? y : x);
  }
  return result;
}

export function formatShape(shape: Shape): string {
  return `[${shape.join(', ')}]`;
}
