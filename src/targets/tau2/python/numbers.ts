import { Float, numeric, typeError, typeName } from './value.js';

/** Python's arithmetic on ints, floats and bools: a float on either side makes a float. */
function arithmetic(operator: string, a: unknown, b: unknown, compute: (x: number, y: number) => number) {
  const x = numeric(a);
  const y = numeric(b);
  if (x === null || y === null)
    throw typeError(`unsupported operand type(s) for ${operator}: '${typeName(a)}' and '${typeName(b)}'`);
  const result = compute(x, y);
  return a instanceof Float || b instanceof Float ? new Float(result) : result;
}

export const add = (a: unknown, b: unknown): number | Float => arithmetic('+', a, b, (x, y) => x + y);
/** `a += b`: as `add`, with the operator's own name in the error. */
export const addInPlace = (a: unknown, b: unknown): number | Float => arithmetic('+=', a, b, (x, y) => x + y);
export const subtract = (a: unknown, b: unknown): number | Float => arithmetic('-', a, b, (x, y) => x - y);
/** `a * b` of numbers; a string or list times an int repeats it. */
export function multiply(a: unknown, b: unknown): unknown {
  const repeated = typeof b === 'string' || Array.isArray(b) ? [b, a] : [a, b];
  const [sequence, count] = repeated as [unknown, unknown];
  if (typeof sequence === 'string' || Array.isArray(sequence)) {
    if (typeof count !== 'number' && typeof count !== 'boolean')
      throw typeError(`can't multiply sequence by non-int of type '${typeName(count)}'`);
    const times = Math.max(0, Number(count));
    return typeof sequence === 'string'
      ? sequence.repeat(times)
      : Array.from({ length: times }, () => sequence).flat();
  }
  const product = arithmetic('*', a, b, (x, y) => x * y);
  // An int's zero has no sign.
  return product instanceof Float ? product : product + 0;
}
export const negate = (a: unknown): number | Float => {
  const value = numeric(a);
  if (value === null) throw typeError(`bad operand type for unary -: '${typeName(a)}'`);
  return a instanceof Float ? new Float(-value) : 0 - value;
};
export const absolute = (a: number | Float): number | Float =>
  a instanceof Float ? new Float(Math.abs(a.value)) : Math.abs(a);

/** `a < b` and its kin on numbers and strings. */
export function compare(operator: '<' | '<=' | '>' | '>=', a: unknown, b: unknown): boolean {
  const x = numeric(a) ?? (typeof a === 'string' ? a : null);
  const y = numeric(b) ?? (typeof b === 'string' ? b : null);
  if (x === null || y === null || typeof x !== typeof y)
    throw typeError(`'${operator}' not supported between instances of '${typeName(a)}' and '${typeName(b)}'`);
  switch (operator) {
    case '<':
      return x < y;
    case '<=':
      return x <= y;
    case '>':
      return x > y;
    case '>=':
      return x >= y;
  }
}

/** Whether `value` lies exactly between two numbers of two decimals; only odd eighths do. */
const isTie = (value: number): boolean => {
  const eighths = value * 8;
  return Number.isInteger(eighths) && Math.abs(eighths % 2) === 1 && Math.abs(value) < 1e13;
};

/** The two decimals of `round(value, 2)` as text: to nearest on the exact binary value, ties to even. */
export function fixed2(value: number): string {
  if (!isTie(value)) return value.toFixed(2);
  const lower = Math.floor(value * 100);
  const hundredths = lower % 2 === 0 ? lower : lower + 1;
  return (hundredths / 100).toFixed(2);
}

/** `round(value, 2)` of a float. */
export const round2 = (value: number): number =>
  Math.abs(value) >= 1e21 || !Number.isFinite(value) ? value : Number(fixed2(value));
