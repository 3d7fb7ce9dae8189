import { type Args, typeError } from './value.js';

/** A parameter of a Python function; `fallback` is its default. */
export interface Parameter {
  readonly name: string;
  readonly fallback?: unknown;
}

const listed = (names: readonly string[]): string => {
  const quoted = names.map((name) => `'${name}'`);
  if (quoted.length < 3) return quoted.join(' and ');
  return `${quoted.slice(0, -1).join(', ')}, and ${quoted.at(-1) as string}`;
};

/**
 * Binds keyword arguments to parameters as Python's call does.
 * @throws PythonError (TypeError) in Python's words for an unknown or missing argument.
 */
export function bind(qualifiedName: string, parameters: readonly Parameter[], args: Args): unknown[] {
  const known = new Set(parameters.map((parameter) => parameter.name));
  for (const name of args.keys()) {
    if (name === 'self') throw typeError(`${qualifiedName}() got multiple values for argument 'self'`);
    if (!known.has(name)) throw typeError(`${qualifiedName}() got an unexpected keyword argument '${name}'`);
  }
  const missing = parameters.filter(({ name, fallback }) => !args.has(name) && fallback === undefined);
  if (missing.length > 0)
    throw typeError(
      `${qualifiedName}() missing ${missing.length} required positional ` +
        `argument${missing.length === 1 ? '' : 's'}: ${listed(missing.map((parameter) => parameter.name))}`,
    );
  return parameters.map(({ name, fallback }) => (args.has(name) ? args.get(name) : fallback));
}
