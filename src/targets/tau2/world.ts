import { dumps, loads } from './python/json.js';
import { type Args, equal, Float, PythonError, str, typeError, valueError } from './python/value.js';
import type { EnvAssertion, EnvFunctionCall, InitialState, RecordedCall, Requestor } from './task.js';
import type { Toolkit, ToolType } from './toolkit.js';

/** What a tool answered, as the conversation keeps it. */
export interface ToolResponse {
  readonly content: string;
  readonly error: boolean;
}

/** A tool's value as the benchmark prints it: strings as they are, numbers in plain containers as strings. */
export function responseText(value: unknown): string {
  return typeof value === 'string' ? value : dumps(printable(value));
}

function printable(value: unknown): unknown {
  if (value === null || value === undefined || typeof value === 'string') return value ?? null;
  if (typeof value === 'number' || typeof value === 'boolean' || value instanceof Float) return str(value);
  if (Array.isArray(value)) return value.map(printable);
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, printable(item)]));
  return value;
}

/** A replayed call that answers otherwise than the record. */
export class ReplayError extends Error {
  override readonly name = 'ReplayError';
}

/**
 * One instance of a domain: the agent's tools, the user's, and what couples them. `sync` runs after every
 * successful call of a conversation, not between golden actions.
 */
export class World {
  constructor(
    readonly domain: string,
    readonly agent: Toolkit,
    readonly user: Toolkit | null,
    /** The agent plays the user's side too. */
    readonly solo: boolean,
    private readonly couple: (agent: Toolkit, user: Toolkit | null) => void = () => {},
  ) {
    this.sync();
  }

  sync(): void {
    this.couple(this.agent, this.user);
  }

  hasTool(name: string): boolean {
    return this.agent.has(name) || (this.user?.has(name) ?? false);
  }

  toolTypes(): Map<string, ToolType> {
    return new Map([...this.agent.toolTypes(), ...(this.user?.toolTypes() ?? [])]);
  }

  /**
   * One call without `sync`: what golden actions do.
   * @throws PythonError as the tool.
   */
  use(name: string, requestor: Requestor, args: Args): unknown {
    const maker = 'tau2.environment.environment.Environment.make_tool_call()';
    if (args.has('requestor'))
      throw typeError(`${maker} got multiple values for keyword argument 'requestor'`);
    for (const taken of ['tool_name', 'self'])
      if (args.has(taken))
        throw typeError(`Environment.make_tool_call() got multiple values for argument '${taken}'`);
    if (requestor === 'user') {
      if (this.solo) throw valueError('User tool calls are not allowed in solo mode');
      if (!this.user) throw valueError('User tools not available');
      return this.user.use(name, args);
    }
    return this.solo && this.user?.has(name) ? this.user.use(name, args) : this.agent.use(name, args);
  }

  /** One call of a conversation. Errors are answers. */
  respond(name: string, requestor: Requestor, args: Args): ToolResponse {
    try {
      const value = this.use(name, requestor, args);
      this.sync();
      return { content: responseText(value), error: false };
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      return { content: `Error: ${error.message}`, error: true };
    }
  }

  /** A function that a task names, tool or not. */
  runFunction(call: EnvFunctionCall): unknown {
    const kit = call.side === 'user' ? this.user : this.agent;
    if (!kit) throw valueError(`no ${call.side} functions in ${this.domain}`);
    const result = kit.call(call.name, call.arguments);
    this.sync();
    return result;
  }

  /** @throws PythonError where the function fails or answers no boolean. */
  holds(assertion: EnvAssertion): boolean {
    const result = this.runFunction(assertion);
    if (typeof result !== 'boolean') throw valueError(`Function ${assertion.name} returned no bool`);
    return result === assertion.value;
  }

  /**
   * The state after initial data, initial actions and the state-changing calls of a conversation.
   * With `strict`, a call that answers otherwise than recorded stops it.
   * @returns the calls whose answers differed.
   * @throws ReplayError under `strict`; PythonError where initial data or actions fail.
   */
  setState(initial: InitialState | null, calls: readonly RecordedCall[], strict: boolean): RecordedCall[] {
    if (initial?.agentData) {
      this.agent.update(initial.agentData);
      // Kept: the benchmark then points the user's side at the agent's database.
      this.user?.replaceDatabase(this.agent.database);
    }
    if (initial?.userData && this.user) {
      this.user.update(initial.userData);
      // Kept: and the agent's side at the user's.
      this.agent.replaceDatabase(this.user.database);
    }
    for (const action of initial?.actions ?? []) this.runFunction(action);
    const types = this.toolTypes();
    const different: RecordedCall[] = [];
    for (const call of calls) {
      if (types.get(call.name) !== 'write') continue;
      const { content } = this.respond(call.name, call.requestor, call.arguments);
      if (sameContent(content, call.content)) continue;
      if (strict)
        throw new ReplayError(`${call.name} answered ${content} where the record has ${call.content}`);
      different.push(call);
    }
    this.sync();
    return different;
  }

  /** Both databases' hashes; null for a side without tools. */
  hashes(): { readonly agent: string; readonly user: string | null } {
    return { agent: this.agent.hash(), user: this.user?.hash() ?? null };
  }
}

/** Equality as JSON values where both are JSON, as strings otherwise. */
function sameContent(a: string, b: string): boolean {
  const parse = (text: string): unknown => {
    try {
      return loads(text);
    } catch {
      return text;
    }
  };
  return a === b || equal(parse(a), parse(b));
}
