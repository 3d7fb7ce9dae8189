import { round2 } from './numbers.js';
import { floatRepr, iterate, PythonError, typeError, typeName, valueError } from './value.js';

/** What an expression of digits, operators, points and parentheses can evaluate to. */
type Result = bigint | { readonly float: number } | 'tuple' | 'ellipsis' | 'complex';

const syntaxError = (message: string, line = 1): PythonError =>
  new PythonError('SyntaxError', `${message} (<string>, line ${line})`);
const zeroDivision = (message: string): PythonError => new PythonError('ZeroDivisionError', message);
const overflow = (message: string): PythonError => new PythonError('OverflowError', message);

interface Token {
  readonly text: string;
  /** Parentheses open after it. */
  readonly level: number;
}

const TOKEN = /\s*(\.\.\.|\d+\.\d*|\.\d+|\d+|\*\*|\/\/|[-+*/().])/y;

/** Python's tokens; its complaints about the text go before those about the grammar. */
function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let level = 0;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
    const token = match[1] as string;
    if (/^0+[1-9]\d*$|^0[0-9]*[1-9]\d*$/.test(token))
      throw syntaxError(
        'leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers',
      );
    if (token === '(') level++;
    if (token === ')' && level-- === 0) throw syntaxError("unmatched ')'");
    tokens.push({ text: token, level });
  }
  return tokens;
}

class SyntaxFailure extends Error {}

/** Recursive descent over Python's precedence: sums, products, signs, powers, calls, atoms. */
class Parser {
  at = 0;
  /** The farthest token looked at; at the end of the text an open parenthesis is what is wrong. */
  farthest = 0;
  constructor(
    readonly tokens: readonly Token[],
    /** Off while only the grammar is asked about. */
    readonly evaluate = true,
  ) {}

  peek(): string | undefined {
    this.farthest = Math.max(this.farthest, this.at);
    return this.tokens[this.at]?.text;
  }

  sum(): Result {
    let left = this.product();
    for (let op = this.peek(); op === '+' || op === '-'; op = this.peek()) {
      this.at++;
      const right = this.product();
      if (this.evaluate) left = binary(op, left, right);
    }
    return left;
  }

  product(): Result {
    let left = this.sign();
    for (let op = this.peek(); op === '*' || op === '/' || op === '//'; op = this.peek()) {
      this.at++;
      const right = this.sign();
      if (this.evaluate) left = binary(op, left, right);
    }
    return left;
  }

  sign(): Result {
    const op = this.peek();
    if (op !== '+' && op !== '-') return this.power();
    this.at++;
    const operand = this.sign();
    return this.evaluate ? unary(op, operand) : operand;
  }

  power(): Result {
    const base = this.call();
    if (this.peek() !== '**') return base;
    this.at++;
    const exponent = this.sign();
    return this.evaluate ? binary('**', base, exponent) : base;
  }

  call(): Result {
    const value = this.atom();
    while (this.peek() === '(') {
      this.at++;
      if (this.peek() !== ')') this.sum();
      if (this.peek() !== ')') throw new SyntaxFailure();
      this.at++;
      if (this.evaluate) throw typeError(`'${nameOf(value)}' object is not callable`);
    }
    return value;
  }

  atom(): Result {
    const token = this.peek();
    if (token === undefined) throw new SyntaxFailure();
    this.at++;
    if (token === '...') return 'ellipsis';
    if (/^\d+$/.test(token)) return BigInt(token);
    if (/\d/.test(token)) return { float: Number(token) };
    if (token !== '(') throw new SyntaxFailure();
    if (this.peek() === ')') {
      this.at++;
      return 'tuple';
    }
    const value = this.sum();
    if (this.peek() !== ')') throw new SyntaxFailure();
    this.at++;
    return value;
  }
}

const nameOf = (value: Result): string =>
  typeof value === 'bigint' ? 'int' : typeof value === 'string' ? value : 'float';

/** Ints past this many bits are not computed; Python's own take minutes there. */
const MOST_BITS = 100_000;

function toFloat(value: bigint | { readonly float: number }): number {
  if (typeof value !== 'bigint') return value.float;
  const float = Number(value);
  if (!Number.isFinite(float)) throw overflow('int too large to convert to float');
  return float;
}

function unary(op: string, value: Result): Result {
  if (typeof value === 'bigint') return op === '-' ? -value : value;
  if (value === 'complex') return value;
  if (typeof value === 'string') throw typeError(`bad operand type for unary ${op}: '${value}'`);
  return { float: op === '-' ? -value.float : value.float };
}

function binary(op: string, a: Result, b: Result): Result {
  const isNumber = (value: Result) => value !== 'tuple' && value !== 'ellipsis';
  if (a === 'tuple' && b === 'tuple' && op === '+') return 'tuple';
  if (op === '*' && ((a === 'tuple' && typeof b === 'bigint') || (b === 'tuple' && typeof a === 'bigint')))
    return 'tuple';
  if (!isNumber(a) || !isNumber(b)) {
    if (a === 'tuple' && op === '+')
      throw typeError(`can only concatenate tuple (not "${nameOf(b)}") to tuple`);
    if (op === '*' && (a === 'tuple' || b === 'tuple')) {
      const other = a === 'tuple' ? b : a;
      throw typeError(`can't multiply sequence by non-int of type '${nameOf(other)}'`);
    }
    const shown = op === '**' ? '** or pow()' : op;
    throw typeError(`unsupported operand type(s) for ${shown}: '${nameOf(a)}' and '${nameOf(b)}'`);
  }
  if (a === 'complex' || b === 'complex') {
    if (op === '//') throw typeError(`unsupported operand type(s) for //: '${nameOf(a)}' and '${nameOf(b)}'`);
    return 'complex';
  }
  type Num = bigint | { readonly float: number };
  if (typeof a === 'bigint' && typeof b === 'bigint') return integers(op, a, b);
  return floats(op, toFloat(a as Num), toFloat(b as Num));
}

function integers(op: string, a: bigint, b: bigint): Result {
  switch (op) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      if (b === 0n) throw zeroDivision('division by zero');
      return { float: quotient(a, b) };
    case '//':
      if (b === 0n) throw zeroDivision('integer division or modulo by zero');
      return a / b - (a % b !== 0n && a < 0n !== b < 0n ? 1n : 0n);
    default: {
      if (b < 0n) return floats('**', toFloat(a), toFloat(b));
      const size = BigInt(a.toString(2).length);
      if (size * b > MOST_BITS && a !== 0n && a !== 1n && a !== -1n)
        throw overflow('int too large to convert to float');
      return a ** b;
    }
  }
}

/** True division: of ints that floats hold exactly, a plain one. */
function quotient(a: bigint, b: bigint): number {
  const [x, y] = [Number(a), Number(b)];
  if (Number.isFinite(x) && Number.isFinite(y)) return x / y;
  const scaled = Number((a * 10n ** 20n) / b) / 1e20;
  if (!Number.isFinite(scaled)) throw overflow('integer division result too large for a float');
  return scaled;
}

function floats(op: string, x: number, y: number): Result {
  switch (op) {
    case '+':
      return { float: x + y };
    case '-':
      return { float: x - y };
    case '*':
      return { float: x * y };
    case '/':
      if (y === 0) throw zeroDivision('float division by zero');
      return { float: x / y };
    case '//':
      if (y === 0) throw zeroDivision('float floor division by zero');
      return { float: floorDivide(x, y) };
    default: {
      if (x === 0 && y < 0) throw zeroDivision('0.0 cannot be raised to a negative power');
      if (x < 0 && Number.isFinite(y) && !Number.isInteger(y)) return 'complex';
      const power = x === 1 ? 1 : x ** y;
      if (!Number.isFinite(power) && Number.isFinite(x) && Number.isFinite(y))
        throw overflow("(34, 'Numerical result out of range')");
      return { float: power };
    }
  }
}

/** C Python's floor division, by way of the remainder. */
function floorDivide(x: number, y: number): number {
  let remainder = x % y;
  let quotient = (x - remainder) / y;
  if (remainder !== 0 && y < 0 !== remainder < 0) {
    remainder += y;
    quotient -= 1;
  }
  if (quotient === 0) return x / y < 0 ? -0 : 0;
  const floor = Math.floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

/** End of the expression that begins at a token; null where none does. */
function expressionEnd(tokens: readonly Token[], from: number): number | null {
  const parser = new Parser(tokens, false);
  parser.at = from;
  try {
    parser.sum();
    return parser.at;
  } catch {
    return null;
  }
}

/** Python's hint for two expressions side by side inside parentheses. */
function lacksComma(tokens: readonly Token[]): boolean {
  for (let start = 0; start < tokens.length; start++) {
    const middle = expressionEnd(tokens, start);
    if (middle === null) continue;
    const end = expressionEnd(tokens, middle);
    if (end !== null && (tokens[end - 1] as Token).level > 0) return true;
  }
  return false;
}

function evaluate(text: string): Result {
  const tokens = tokenize(text);
  if (tokens.length === 0) throw syntaxError('invalid syntax', 0);
  // The grammar first: Python compiles the whole text before it computes anything.
  const check = new Parser(tokens, false);
  let complete = false;
  try {
    check.sum();
    complete = check.at === tokens.length;
  } catch (error) {
    if (!(error instanceof SyntaxFailure)) throw error;
  }
  if (!complete) {
    if (lacksComma(tokens)) throw syntaxError('invalid syntax. Perhaps you forgot a comma?');
    const open = (tokens.at(-1) as Token).level > 0 && check.farthest >= tokens.length;
    throw syntaxError(open ? "'(' was never closed" : 'invalid syntax');
  }
  return new Parser(tokens).sum();
}

/**
 * The benchmark's `calculate`: Python's `eval` of digits, operators, parentheses and blanks, as a float rounded to two places.
 * @throws PythonError in Python's words.
 */
export function calculate(expression: unknown): string {
  for (const char of iterate(expression)) {
    if (typeof char !== 'string')
      throw typeError(`'in <string>' requires string as left operand, not ${typeName(char)}`);
    if (!'0123456789+-*/(). '.includes(char)) throw valueError('Invalid characters in expression');
  }
  if (typeof expression !== 'string') throw typeError('eval() arg 1 must be a string, bytes or code object');
  const result = evaluate(expression);
  if (typeof result === 'string')
    throw typeError(`float() argument must be a string or a real number, not '${result}'`);
  return floatRepr(round2(toFloat(result)));
}
