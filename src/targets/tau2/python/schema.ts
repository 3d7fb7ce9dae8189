import { type Dict, Float, isDict, numeric, PythonError, repr, typeName } from './value.js';

/**
 * A small pydantic: the lax validation that turns JSON into models, with field order, defaults, ignored or
 * forbidden extra keys, and the library's error text. The benchmark validates databases when it loads them and
 * the models that a few tools build; assignments to fields are never validated.
 */
export interface Schema<T> {
  check(value: unknown, path: readonly (string | number)[], issues: Issue[]): T | Invalid;
  /** Value of a field that is missing; absent where the field is required. */
  readonly fallback?: () => T;
}
export type Infer<S> = S extends Schema<infer T> ? T : never;

interface Issue {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly type: string;
  readonly input: unknown;
}

const INVALID = Symbol('invalid');
type Invalid = typeof INVALID;

/** The version whose documentation address stands in the error texts. */
const PYDANTIC = '2.13';

function fail(
  issues: Issue[],
  path: readonly (string | number)[],
  type: string,
  message: string,
  input: unknown,
): Invalid {
  issues.push({ path, type, message, input });
  return INVALID;
}

function shortRepr(value: unknown): string {
  const text = repr(value);
  return text.length > 50 ? `${text.slice(0, 25)}...${text.slice(-24)}` : text;
}

/** `str(ValidationError)`. */
function errorText(title: string, issues: readonly Issue[]): string {
  const lines = issues.map(
    ({ path, message, type, input }) =>
      `${path.join('.')}\n  ${message} [type=${type}, input_value=${shortRepr(input)}, ` +
      `input_type=${typeName(input)}]\n    For further information visit ` +
      `https://errors.pydantic.dev/${PYDANTIC}/v/${type}`,
  );
  const count = `${issues.length} validation error${issues.length === 1 ? '' : 's'}`;
  return `${count} for ${title}\n${lines.join('\n')}`;
}

export const string: Schema<string> = {
  check: (value, path, issues) =>
    typeof value === 'string'
      ? value
      : fail(issues, path, 'string_type', 'Input should be a valid string', value),
};

const INT_TEXT = /^\s*[+-]?\d+(?:_\d+)*(?:\.0+)?\s*$/;

export const int: Schema<number> = {
  check(value, path, issues) {
    if (typeof value === 'boolean') return value ? 1 : 0;
    if (typeof value === 'number') return value;
    if (typeof value === 'bigint') return Number(value);
    if (value instanceof Float) {
      if (!Number.isFinite(value.value))
        return fail(issues, path, 'finite_number', 'Input should be a finite number', value);
      if (Number.isInteger(value.value)) return value.value + 0;
      const message = 'Input should be a valid integer, got a number with a fractional part';
      return fail(issues, path, 'int_from_float', message, value);
    }
    if (typeof value === 'string') {
      if (INT_TEXT.test(value)) return Number(value.replaceAll('_', '')) + 0;
      const message = 'Input should be a valid integer, unable to parse string as an integer';
      return fail(issues, path, 'int_parsing', message, value);
    }
    return fail(issues, path, 'int_type', 'Input should be a valid integer', value);
  },
};

const FLOAT_TEXT = /^\s*[+-]?(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/;
const FLOAT_WORD = /^\s*[+-]?(?:inf(?:inity)?|nan)\s*$/i;

export const float: Schema<Float> = {
  check(value, path, issues) {
    if (value instanceof Float) return value;
    const number = numeric(value);
    if (number !== null) return new Float(number);
    if (typeof value !== 'string')
      return fail(issues, path, 'float_type', 'Input should be a valid number', value);
    if (FLOAT_TEXT.test(value)) return new Float(Number(value.replaceAll('_', '')));
    if (FLOAT_WORD.test(value)) {
      const size = /nan/i.test(value) ? Number.NaN : Number.POSITIVE_INFINITY;
      return new Float(value.trim().startsWith('-') ? -size : size);
    }
    const message = 'Input should be a valid number, unable to parse string as a number';
    return fail(issues, path, 'float_parsing', message, value);
  },
};

const TRUE = new Set(['1', 'true', 't', 'yes', 'y', 'on']);
const FALSE = new Set(['0', 'false', 'f', 'no', 'n', 'off']);

export const bool: Schema<boolean> = {
  check(value, path, issues) {
    if (typeof value === 'boolean') return value;
    const number = numeric(value);
    if (number === 0 || number === 1) return number === 1;
    if (typeof value === 'string' && TRUE.has(value.toLowerCase())) return true;
    if (typeof value === 'string' && FALSE.has(value.toLowerCase())) return false;
    if (typeof value === 'string' || typeof value === 'number') {
      const message = 'Input should be a valid boolean, unable to interpret input';
      return fail(issues, path, 'bool_parsing', message, value);
    }
    return fail(issues, path, 'bool_type', 'Input should be a valid boolean', value);
  },
};

function oneOf<T extends string>(type: string, values: readonly T[]): Schema<T> {
  const quoted = values.map((value) => repr(value));
  const listed =
    quoted.length > 1 ? `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1) as string}` : quoted[0];
  return {
    check: (value, path, issues) =>
      values.includes(value as T)
        ? (value as T)
        : fail(issues, path, type, `Input should be ${listed}`, value),
  };
}

/** `Literal[...]` of strings. */
export const literal = <const T extends string>(...values: T[]): Schema<T> => oneOf('literal_error', values);
/** A `str` enum, held as its value. */
export const enumeration = <const T extends string>(...values: T[]): Schema<T> => oneOf('enum', values);

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATETIME = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2})?)?$/;

/** A date, held as its text (`YYYY-MM-DD`), which prints and compares as the date does. */
export const date: Schema<string> = {
  check: (value, path, issues) =>
    typeof value === 'string' && DATE.test(value)
      ? value
      : fail(issues, path, 'date_from_datetime_parsing', 'Input should be a valid date', value),
};

/** A datetime, held as `str(datetime)` prints it. */
export const datetime: Schema<string> = {
  check(value, path, issues) {
    const match = typeof value === 'string' ? DATETIME.exec(value) : null;
    if (!match) return fail(issues, path, 'datetime_parsing', 'Input should be a valid datetime', value);
    return `${match[1]} ${match[2] ?? '00:00'}${match[3] ?? ':00'}`;
  },
};

/** `Optional[...] = None`. */
export const optional = <T>(schema: Schema<T>): Schema<T | null> => ({
  fallback: () => null,
  check: (value, path, issues) =>
    value === null || value === undefined ? null : schema.check(value, path, issues),
});

/** A field that may be missing. */
export const withDefault = <T>(schema: Schema<T>, fallback: () => T): Schema<T> => ({
  ...schema,
  fallback,
});

export const list = <T>(schema: Schema<T>): Schema<T[]> => ({
  check(value, path, issues) {
    if (!Array.isArray(value)) return fail(issues, path, 'list_type', 'Input should be a valid list', value);
    const before = issues.length;
    const items = value.map((item, i) => schema.check(item, [...path, i], issues));
    return issues.length > before ? INVALID : (items as T[]);
  },
});

export const dict = <T>(schema: Schema<T>): Schema<Map<string, T>> => ({
  check(value, path, issues) {
    if (!isDict(value)) return fail(issues, path, 'dict_type', 'Input should be a valid dictionary', value);
    const before = issues.length;
    const entries = [...value].map(
      ([key, item]) => [key, schema.check(item, [...path, key], issues)] as const,
    );
    return issues.length > before ? INVALID : new Map(entries as [string, T][]);
  },
});

type Fields = { readonly [name: string]: Schema<unknown> };

export interface Model<T> extends Schema<T> {
  readonly name: string;
}

/**
 * A model. `extra: forbid` rejects unknown keys, otherwise they are dropped. A plain object counts as an
 * instance already and passes as it is.
 */
export function model<F extends Fields>(
  name: string,
  fields: F,
  extra: 'ignore' | 'forbid' = 'ignore',
): Model<{ -readonly [K in keyof F]: Infer<F[K]> }> {
  type T = { -readonly [K in keyof F]: Infer<F[K]> };
  const entries = Object.entries(fields);
  return {
    name,
    check(value, path, issues) {
      if (!isDict(value)) {
        if (typeName(value) === 'object') return value as T;
        const message = `Input should be a valid dictionary or instance of ${name}`;
        return fail(issues, path, 'model_type', message, value);
      }
      const before = issues.length;
      const result: { [key: string]: unknown } = {};
      for (const [key, schema] of entries) {
        if (value.has(key)) result[key] = schema.check(value.get(key), [...path, key], issues);
        else if (schema.fallback) result[key] = schema.fallback();
        else fail(issues, [...path, key], 'missing', 'Field required', value);
      }
      if (extra === 'forbid')
        for (const [key, item] of value)
          if (!(key in fields))
            fail(issues, [...path, key], 'extra_forbidden', 'Extra inputs are not permitted', item);
      return issues.length > before ? INVALID : (result as T);
    },
  };
}

/** A union of models told apart by a literal field. */
export function tagged<T>(tag: string, models: { readonly [value: string]: Model<T> }): Schema<T> {
  return {
    check(value, path, issues) {
      const chosen = isDict(value) ? models[String(value.get(tag))] : undefined;
      if (chosen) return chosen.check(value, path, issues);
      const message = `Input should have ${tag} ${Object.keys(models).join(' or ')}`;
      return typeName(value) === 'object'
        ? (value as T)
        : fail(issues, path, 'union_tag_invalid', message, value);
    },
  };
}

/**
 * `Model(**value)` or `Model.model_validate(value)`.
 * @throws PythonError with pydantic's text.
 */
export function validate<T>(schema: Model<T>, value: Dict | object): T {
  const issues: Issue[] = [];
  const result = schema.check(value, [], issues);
  if (result === INVALID) throw new PythonError('ValidationError', errorText(schema.name, issues));
  return result;
}
