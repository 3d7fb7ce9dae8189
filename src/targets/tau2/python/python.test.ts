import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bind } from './call.js';
import { calculate } from './expression.js';
import { dumps, loads } from './json.js';
import { compare, fixed2, multiply, round2, subtract } from './numbers.js';
import { float, int, list, literal, model, optional, string, validate } from './schema.js';
import { equal, Float, floatRepr, iterate, repr } from './value.js';

/** What Python 3.11 (and pydantic 2.13) answers, noted beside each case. */

describe('floats', () => {
  it.each([
    [98, '98.0'],
    [0.1 + 0.2, '0.30000000000000004'],
    [1e16, '1e+16'],
    [123456789012345680, '1.2345678901234568e+17'],
    [1e15, '1000000000000000.0'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [-0, '-0.0'],
    [-2.5e-7, '-2.5e-07'],
    [5e-324, '5e-324'],
    [Number.POSITIVE_INFINITY, 'inf'],
  ])('print as repr does: %d', (value, text) => {
    expect(floatRepr(value)).toBe(text);
  });

  it('print and read back as the same number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Object.is(Number(floatRepr(value)), value)).toBe(true);
      }),
    );
  });

  it.each([
    [0.125, 0.12],
    [0.375, 0.38],
    [2.675, 2.67],
    [-0.125, -0.12],
    [1.005, 1],
    [1e22, 1e22],
  ])('round half to even on the exact value: %d', (value, rounded) => {
    expect(round2(value)).toBe(rounded);
  });

  it('print two places of ties as format does', () => {
    expect([0.125, 0.625, 4, -0.375].map(fixed2)).toEqual(['0.12', '0.62', '4.00', '-0.38']);
  });
});

describe('JSON', () => {
  it('keeps floats apart from ints, and the order of keys that look like numbers', () => {
    const text = '{"10": 1.0, "9": 1, "a": [true, null, -0.5, 1e-05]}';
    expect(dumps(loads(text))).toBe(text);
    expect(dumps(loads(text), true)).toBe('{"10": 1.0, "9": 1, "a": [true, null, -0.5, 1e-05]}');
    expect(dumps(loads('{"b": 1, "a": 2, "B": 3}'), true)).toBe('{"B": 3, "a": 2, "b": 1}');
  });

  it('escapes everything past ~, and sorts by code point', () => {
    expect(dumps('é\u007f"\\\n📶')).toBe('"\\u00e9\\u007f\\"\\\\\\n\\ud83d\\udcf6"');
    expect(
      dumps(
        new Map([
          ['\ud83d\udcf6', 1],
          ['\uffee', 2],
        ]),
        true,
      ),
    ).toBe('{"\\uffee": 2, "\\ud83d\\udcf6": 1}');
  });

  it('reads back what it writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = dumps(loads(JSON.stringify(value)));
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('tells where a text is no JSON', () => {
    expect(() => loads('{"a": }')).toThrow('offset 6');
    expect(() => loads('[1] 2')).toThrow('extra data');
  });
});

describe('calculate', () => {
  it.each([
    ['2**3', '8.0'],
    ['7//2', '3.0'],
    ['-7//2', '-4.0'],
    ['10**16', '1e+16'],
    ['-0.001', '-0.0'],
    ['2*(3 + 4) - 1/3', '13.67'],
    ['- 2**2', '-4.0'],
    ['2**-1**2', '0.5'],
    ['123456789012345678901234567890*1', '1.2345678901234568e+29'],
    ['0.125', '0.12'],
  ])('%s', (expression, result) => {
    expect(calculate(expression)).toBe(result);
  });

  it.each([
    ['1/0', 'division by zero'],
    ['1.0//0', 'float floor division by zero'],
    ['1 2', 'invalid syntax (<string>, line 1)'],
    ['(1 2)', 'invalid syntax. Perhaps you forgot a comma? (<string>, line 1)'],
    ['', 'invalid syntax (<string>, line 0)'],
    ['(1', "'(' was never closed (<string>, line 1)"],
    ['1)', "unmatched ')' (<string>, line 1)"],
    [
      '007',
      'leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers (<string>, line 1)',
    ],
    ['2(3)', "'int' object is not callable"],
    ['()', "float() argument must be a string or a real number, not 'tuple'"],
    ['1e5', 'Invalid characters in expression'],
    ['10.0**400', "(34, 'Numerical result out of range')"],
  ])('fails as eval does: %s', (expression, message) => {
    expect(() => calculate(expression)).toThrow(message);
  });

  it('agrees with plain arithmetic on random sums and products', () => {
    const term = fc.tuple(fc.integer({ min: 1, max: 99 }), fc.constantFrom('+', '-', '*'));
    fc.assert(
      fc.property(fc.array(term, { minLength: 1, maxLength: 6 }), (terms) => {
        const text = terms.map(([n, op], i) => (i === 0 ? `${n}` : ` ${op} ${n}`)).join('');
        // A fold with precedence of its own: products first, then the signed sum.
        const products: number[] = [];
        for (const [i, [n, op]] of terms.entries()) {
          if (i > 0 && op === '*') products[products.length - 1]! *= n;
          else products.push(i > 0 && op === '-' ? -n : n);
        }
        expect(Number(calculate(text))).toBe(products.reduce((sum, n) => sum + n, 0));
      }),
    );
  });
});

describe('calls', () => {
  const parameters = [{ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'd', fallback: null }];
  it.each([
    [{ a: 1, b: 2 }, "Kit.f() missing 1 required positional argument: 'c'"],
    [{ a: 1 }, "Kit.f() missing 2 required positional arguments: 'b' and 'c'"],
    [{}, "Kit.f() missing 3 required positional arguments: 'a', 'b', and 'c'"],
    [{ x: 1 }, "Kit.f() got an unexpected keyword argument 'x'"],
  ])('complain as Python: %j', (args, message) => {
    expect(() => bind('Kit.f', parameters, new Map(Object.entries(args)))).toThrow(message);
  });

  it('fill defaults in', () => {
    const args = new Map(Object.entries({ c: 3, a: 1, b: 2 }));
    expect(bind('Kit.f', parameters, args)).toEqual([1, 2, 3, null]);
  });
});

describe('operators', () => {
  it('name both types where they do not fit', () => {
    expect(() => subtract('3', 1)).toThrow("unsupported operand type(s) for -: 'str' and 'int'");
    expect(() => compare('<=', 'x', 0)).toThrow("'<=' not supported between instances of 'str' and 'int'");
    expect(() => iterate(null)).toThrow("'NoneType' object is not iterable");
    expect(multiply(3, 'ab')).toBe('ababab');
  });

  it('compare across ints, floats and booleans', () => {
    expect(equal(1, new Float(1))).toBe(true);
    expect(equal(true, 1)).toBe(true);
    expect(equal('1', 1)).toBe(false);
    expect(equal(new Map([['a', [1]]]), new Map([['a', [new Float(1)]]]))).toBe(true);
  });

  it('print containers as repr does', () => {
    expect(repr(new Map<string, unknown>([['a', [1, new Float(2), "it's", null, true]]]))).toBe(
      "{'a': [1, 2.0, \"it's\", None, True]}",
    );
  });
});

describe('models', () => {
  const payment = model('Payment', { payment_id: string, amount: int });
  const read = (value: { readonly [key: string]: unknown }) =>
    validate(payment, new Map(Object.entries(value)));

  it('coerce laxly, drop extra keys and keep the order of fields', () => {
    expect(read({ amount: ' 1_0.00 ', payment_id: 'p', more: 1 })).toEqual({ payment_id: 'p', amount: 10 });
    expect(Object.keys(read({ amount: new Float(5), payment_id: 'p' }))).toEqual(['payment_id', 'amount']);
    expect(read({ amount: true, payment_id: 'p' }).amount).toBe(1);
  });

  it('fail in pydantic’s words', () => {
    expect(() => read({ amount: new Float(5.5), payment_id: 'p' })).toThrow(
      '1 validation error for Payment\namount\n' +
        '  Input should be a valid integer, got a number with a fractional part ' +
        '[type=int_from_float, input_value=5.5, input_type=float]\n' +
        '    For further information visit https://errors.pydantic.dev/2.13/v/int_from_float',
    );
    expect(() => read({ payment_id: null })).toThrow(/^2 validation errors for Payment\npayment_id\n/);
    expect(() => read({ amount: 'x'.repeat(60), payment_id: 'p' })).toThrow(
      `input_value='${'x'.repeat(24)}...${'x'.repeat(23)}', input_type=str`,
    );
  });

  it('check nested models and forbid extra keys where asked', () => {
    const trip = model(
      'Trip',
      { cabin: literal('a', 'b', 'c'), payments: list(payment), note: optional(string), price: float },
      'forbid',
    );
    const value = (extra: object) =>
      new Map<string, unknown>(Object.entries({ cabin: 'a', payments: [], price: 1, ...extra }));
    expect(validate(trip, value({}))).toEqual({ cabin: 'a', payments: [], note: null, price: new Float(1) });
    expect(() => validate(trip, value({ cabin: 'd' }))).toThrow("Input should be 'a', 'b' or 'c'");
    expect(() => validate(trip, value({ more: 1 }))).toThrow('Extra inputs are not permitted');
    expect(() => validate(trip, value({ payments: [1] }))).toThrow('payments.0\n');
  });
});
