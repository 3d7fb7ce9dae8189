import { type Database, hashOf } from './database.js';
import { bind, type Parameter } from './python/call.js';
import { type Args, attributeError, type Dict, valueError } from './python/value.js';

/** What the benchmark says a tool is; only `write` changes the state. */
export type ToolType = 'read' | 'write' | 'generic';

/** One function of a toolkit: a tool, or (without `type`) one that only tasks call. */
export interface ToolFunction<T> {
  readonly type?: ToolType;
  readonly parameters: readonly Parameter[];
  /** @throws PythonError with the benchmark's message. */
  run(kit: T, ...values: unknown[]): unknown;
}

/** Parameter names, `name=None` where there is a default of None. */
export const parameters = (...names: string[]): readonly Parameter[] =>
  names.map((name) => (name.endsWith('=None') ? { name: name.slice(0, -5), fallback: null } : { name }));

export type Functions<T> = { readonly [name: string]: ToolFunction<T> };

/**
 * The functions of one side of a domain, over its database. `name` is the benchmark's class, which stands in
 * the error texts of wrong calls.
 */
export abstract class Toolkit {
  abstract readonly name: string;
  abstract readonly functions: Functions<never>;
  protected db: Database<object>;

  constructor(db: Database<object>) {
    this.db = db;
  }

  get database(): Database<object> {
    return this.db;
  }

  /** Puts another database in its place; the benchmark does so when a task brings initial data. */
  replaceDatabase(db: Database<object>): void {
    this.db = db;
  }

  update(data: Dict): void {
    this.db = this.db.merge(data);
  }

  hash(): string {
    return hashOf(this.db.data);
  }

  /** A part of the database; absent parts (of a database that is not this kit's own) raise as in Python. */
  protected part<T>(name: string): T {
    const data = this.db.data as { readonly [name: string]: unknown };
    if (!(name in data)) throw attributeError(this.db.name, name);
    return data[name] as T;
  }

  has(name: string): boolean {
    return (
      Object.hasOwn(this.functions, name) && (this.functions as Functions<unknown>)[name]?.type !== undefined
    );
  }

  toolTypes(): Map<string, ToolType> {
    return new Map(
      Object.entries(this.functions as Functions<unknown>).flatMap(([name, { type }]) =>
        type ? [[name, type] as const] : [],
      ),
    );
  }

  /** @throws PythonError as the tool, or for a tool that does not exist. */
  use(name: string, args: Args): unknown {
    if (!this.has(name)) throw valueError(`Tool '${name}' not found.`);
    return this.call(name, args);
  }

  /** Any function, tools and others: what tasks' initialization and assertions call. */
  call(name: string, args: Args): unknown {
    const fn = Object.hasOwn(this.functions, name) ? (this.functions as Functions<unknown>)[name] : undefined;
    if (!fn) throw attributeError(this.name, name);
    return fn.run(this, ...bind(`${this.name}.${name}`, fn.parameters, args));
  }
}
