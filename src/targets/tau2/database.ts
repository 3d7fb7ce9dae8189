import { createHash } from 'node:crypto';
import { dumps } from './python/json.js';
import { type Model, validate } from './python/schema.js';
import { type Dict, deepCopy, isDict } from './python/value.js';
import { Table } from './table.js';

/** A domain's database: the models' data and how the benchmark calls its class. */
export interface Database<T extends object> {
  /** Python's class name, for error texts. */
  readonly name: string;
  readonly data: T;
  /** The database after a recursive merge of `update` (tasks' `initialization_data`), validated anew. */
  merge(update: Dict): Database<T>;
}

/** sha256 of the sorted JSON, as the benchmark hashes a database. */
export const hashOf = (data: object): string => createHash('sha256').update(dumps(data, true)).digest('hex');

/** Dicts merge, everything else is replaced. */
export function mergeDicts(base: Dict, update: Dict): Dict {
  for (const [key, value] of update) {
    const old = base.get(key);
    base.set(key, isDict(old) && isDict(value) ? mergeDicts(old, value) : deepCopy(value));
  }
  return base;
}

/** Models as dicts, as `model_dump` gives them. */
export function toDicts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toDicts);
  if (value instanceof Table)
    return new Map(value.keys().map((key): [string, unknown] => [key, toDicts(value.peek(key))]));
  if (value instanceof Map)
    return new Map([...value].map(([key, item]): [unknown, unknown] => [key, toDicts(item)]));
  if (value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype)
    return new Map(Object.entries(value).map(([key, item]) => [key, toDicts(item)]));
  return value;
}

/** A database over data that `build` makes from dicts. */
export function database<T extends object>(name: string, data: T, build: (dicts: Dict) => T): Database<T> {
  return {
    name,
    data,
    merge: (update) => database(name, build(mergeDicts(toDicts(data) as Dict, update)), build),
  };
}

/** A small database that is one model and is copied for every episode. */
export const modelDatabase = <T extends object>(schema: Model<T>, data: T): Database<T> =>
  database(schema.name, deepCopy(data), (dicts) => validate(schema, dicts));
