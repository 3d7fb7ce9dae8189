/**
 * Runs inside the sandbox, in the same realm as the generated code, and speaks for it: a request is a line of JSON
 * and so is its answer. Its text is carried in (see `program-text.ts`), so it imports types alone and uses only what
 * both JavaScript engines have. Generated code can meddle with everything here and gains nothing by it: the host
 * trusts no answer, and could be told nothing that the environment itself may not say.
 */
import type { AssistantMessage, Message } from '../../trajectory/trajectory.js';
import type { CapabilityEnvironment, Episode, Scenario, Score } from '../contract.js';

interface Request {
  readonly op: string;
  readonly seed?: number;
  readonly scenario?: Scenario;
  readonly hint?: boolean;
  readonly episode?: number;
  readonly message?: AssistantMessage;
}
interface Running {
  readonly episode: Episode;
  sent: number;
}

/** Names of the language itself, in both engines; everything else is taken away before generated code runs. */
const GLOBALS =
  'Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Promise RegExp Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError globalThis JSON Math ArrayBuffer Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array Float32Array Float64Array Uint8ClampedArray BigUint64Array BigInt64Array DataView Map BigInt Set WeakMap WeakSet Proxy Reflect decodeURI decodeURIComponent encodeURI encodeURIComponent isFinite isNaN escape unescape';
/** Most attempts and scenarios that are held at once. */
const HELD = 4096;

/** Takes away clock, chance, locale and the making of code from text; then answers for `module.exports.default`. */
export function startGuest() {
  const scope = globalThis as unknown as { [name: string]: unknown };
  const { stringify, parse } = JSON;
  const keep = new Set(GLOBALS.split(' '));
  for (const name of Reflect.ownKeys(scope)) if (!keep.has(name as string)) delete scope[name as string];
  delete (Math as { random?: unknown }).random;

  const refuse = (kind: new (text: string) => Error, text: string) =>
    function refused(): never {
      throw new kind(text);
    };
  const noCode = refuse(EvalError, 'Code generation from strings disallowed for this context');
  const functions = [
    () => {},
    async () => {},
    function* () {
      yield 0;
    },
    async function* () {
      yield 0;
    },
  ];
  for (const sample of functions)
    Object.defineProperty(Object.getPrototypeOf(sample), 'constructor', { value: noCode });
  Object.defineProperty(noCode, 'prototype', { value: Function.prototype });
  scope.Function = noCode;
  const local = refuse(TypeError, 'what depends on the locale is not there: write the form out');
  const prototypes: object[] = [String.prototype, Number.prototype, Array.prototype, BigInt.prototype];
  for (const prototype of prototypes)
    for (const name of ['localeCompare', 'toLocaleString', 'toLocaleUpperCase', 'toLocaleLowerCase'])
      if (Object.hasOwn(prototype, name)) Object.defineProperty(prototype, name, { value: local });
  for (const name of ['captureStackTrace', 'prepareStackTrace', 'stackTraceLimit'])
    Object.defineProperty(Error, name, {
      value: name === 'stackTraceLimit' ? 0 : undefined,
      writable: false,
      configurable: false,
    });

  const module: { exports: Record<string, unknown> } = { exports: {} };
  scope.module = module;
  scope.exports = module.exports;
  scope.require = (name: unknown) => {
    throw new Error(
      `it imports ${stringify(String(name))}: a generated environment may import types only (import type …)`,
    );
  };

  let environment: CapabilityEnvironment;
  const scenarios = new Map<number, Scenario>();
  const running = new Map<number, Running>();
  let pending: { id: string; answer: string | null; failed: boolean; error: unknown }[] = [];

  const remember = <T>(map: Map<number, T>, key: number, value: T): T => {
    if (map.size >= HELD) map.delete(map.keys().next().value as number);
    map.set(key, value);
    return value;
  };
  const scenarioOf = ({ seed, scenario }: Request): Scenario =>
    scenario ?? scenarios.get(seed!) ?? remember(scenarios, seed!, environment.scenario(seed!));
  const optionsOf = ({ hint }: Request) => (hint === undefined ? undefined : { hint });

  /** The getters of a hostile score are read once, here; what leaves is text. */
  const scoreText = (score: Score): string => {
    const reward: unknown = score.reward;
    if (typeof reward !== 'number' || !(reward >= 0 && reward <= 1))
      throw new Error(
        `the reward is ${typeof reward === 'number' ? reward : typeof reward}, not a number in [0, 1]`,
      );
    return `{"reward":${stringify(reward)},"checks":${stringify(score.checks)}}`;
  };
  const stateText = (run: Running, from: number, same: boolean, score: string | null): string => {
    const { messages, done, termination } = run.episode;
    const added: Message[] = messages.slice(from);
    run.sent = messages.length;
    return `{"same":${same},"messages":${stringify(added)},"done":${done === true},"termination":${
      termination === null || termination === undefined ? 'null' : stringify(termination)
    },"score":${score ?? 'null'}}`;
  };
  /** What follows a value that may be a promise, at once where it is none. */
  const then = <T>(value: T | Promise<T>, next: (value: T) => string | Promise<string>) =>
    typeof (value as Promise<T> | undefined)?.then === 'function'
      ? (value as Promise<T>).then(next)
      : next(value as T);
  const runOf = ({ episode }: Request): Running => {
    const run = running.get(episode!);
    if (!run) throw new Error('the attempt is not open (any more)');
    return run;
  };

  const answer = (request: Request): string | Promise<string> => {
    switch (request.op) {
      case 'ready': {
        const made = module.exports.default;
        environment = (typeof made === 'function' ? made(request.scenario) : made) as CapabilityEnvironment;
        const { name, capability, rationale, tools, toolKinds, maxTurns } = environment ?? {};
        const functions = ['systemPrompt', 'scenario', 'open', 'oracle', 'mistakes', 'reference'].filter(
          (key) => typeof (environment as unknown as { [key: string]: unknown })?.[key] === 'function',
        );
        return stringify({ name, capability, rationale, tools, toolKinds, maxTurns, functions });
      }
      case 'scenario':
        return stringify(remember(scenarios, request.seed!, environment.scenario(request.seed!)));
      case 'systemPrompt':
        return stringify(environment.systemPrompt(scenarioOf(request), optionsOf(request)));
      case 'oracle':
        return stringify(environment.oracle(scenarioOf(request)));
      case 'mistakes':
        return stringify(environment.mistakes(scenarioOf(request)));
      case 'reference':
        return stringify(environment.reference!(scenarioOf(request)));
      case 'open':
        return then(environment.open(scenarioOf(request), optionsOf(request)), (episode) =>
          stateText(remember(running, request.episode!, { episode, sent: 0 }), 0, false, null),
        );
      case 'act': {
        const run = runOf(request);
        const { message } = request;
        return then(run.episode.act(message!), () => {
          const same = run.episode.messages[run.sent] === message;
          const from = run.sent + (same ? 1 : 0);
          if (run.episode.done !== true) return stateText(run, from, same, null);
          return then(run.episode.score(), (score) => {
            running.delete(request.episode!);
            return stateText(run, from, same, scoreText(score));
          });
        });
      }
      case 'score':
        return then(runOf(request).episode.score(), scoreText);
      default:
        running.delete(request.episode!);
        return 'null';
    }
  };
  const failed = (error: unknown): string => {
    let text: unknown;
    try {
      const { message } = error as Error;
      text = typeof message === 'string' ? message : String(error);
    } catch {
      text = 'an error that cannot be read';
    }
    return `E${stringify(String(text).slice(0, 2000))}`;
  };
  const succeeded = (text: unknown) => (typeof text === 'string' ? `O${text}` : 'Onull');

  return {
    /** Answers one request; '' when it waits for a promise, whose answer `collect` then has. */
    handle(id: string, line: string): string {
      try {
        const value = answer(parse(line) as Request);
        if (typeof value === 'string' || value === undefined) return succeeded(value);
        const entry = { id, answer: null as string | null, failed: false, error: undefined as unknown };
        pending.push(entry);
        value.then(
          (text) => {
            entry.answer = succeeded(text);
          },
          (error) => {
            entry.answer = failed(error);
          },
        );
        return '';
      } catch (error) {
        return failed(error);
      }
    },
    /** After all jobs have run: what did not settle never will, as there is nothing here to wait for. */
    collect(): string {
      const answers = pending.map(({ answer }) => answer ?? 'E"a promise that never settles"');
      pending = [];
      return answers.join('\n');
    },
  };
}
