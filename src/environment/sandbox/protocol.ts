import { z } from 'zod';
import { SandboxError } from './errors.js';

/** Deepest nesting of data that an environment makes up: arguments, scenarios, schemas. */
const DEEPEST = 64;

/** Plain data of any form; JSON made it, so it has no getters, proxies or methods. */
const data = z.unknown().refine((value) => shallowerThan(value, DEEPEST), `nested deeper than ${DEEPEST}`);
const record = z.record(z.string(), z.unknown()).refine((value) => shallowerThan(value, DEEPEST), {
  message: `nested deeper than ${DEEPEST}`,
});

const call = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: record }),
});
const assistant = z.object({
  role: z.literal('assistant'),
  content: z.string().nullable(),
  tool_calls: z.array(call).optional(),
  reasoning: z.string().optional(),
  malformed: z.string().optional(),
});
const message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: z.string() }),
  z.object({ role: z.literal('user'), content: z.string() }),
  assistant,
  z.object({
    role: z.literal('tool'),
    content: z.string(),
    tool_call_id: z.string(),
    name: z.string().optional(),
    error: z.boolean().optional(),
  }),
]);
const kind = z.enum(['read', 'write', 'handover', 'other']);
const score = z.object({
  reward: z.number().min(0).max(1),
  checks: z.array(z.object({ name: z.string(), passed: z.boolean(), detail: z.string().optional() })),
});
const state = z.object({
  /** The turn was appended as it was given. */
  same: z.boolean(),
  /** What came after it. */
  messages: z.array(message),
  done: z.boolean(),
  termination: z.string().nullable(),
  /** Of an attempt that is done. */
  score: score.nullable(),
});

/** What the answer to each request has to be. */
export const ANSWERS = {
  ready: z.object({
    name: z.string(),
    capability: z.string(),
    rationale: z.string(),
    tools: z.array(
      z.object({
        type: z.literal('function'),
        function: z.object({ name: z.string(), description: z.string().optional(), parameters: record }),
      }),
    ),
    toolKinds: z.record(z.string(), kind),
    maxTurns: z.int().min(1).max(10_000),
    functions: z.array(z.string()),
  }),
  scenario: z
    .looseObject({ seed: z.number(), id: z.string() })
    .refine((value) => shallowerThan(value, DEEPEST), `nested deeper than ${DEEPEST}`),
  systemPrompt: z.string(),
  oracle: z.array(assistant),
  mistakes: z.array(z.object({ name: z.string(), turns: z.array(assistant) })),
  reference: z.object({
    actions: z.array(
      z.object({
        name: z.string(),
        arguments: record,
        kind,
        compareArguments: z.array(z.string()).optional(),
      }),
    ),
    requiredFacts: z.array(z.string()),
    toolKinds: z.record(z.string(), kind),
    assertions: z.array(z.string()).optional(),
    exhaustive: z.boolean().optional(),
  }),
  open: state,
  act: state,
  score,
  close: data,
  probe: z.object({
    environment: z.array(z.string()),
    read: z.string(),
    home: z.string(),
    write: z.string(),
    spawn: z.string(),
    signal: z.string(),
  }),
} as const;

export type Op = keyof typeof ANSWERS;
export type Answer<O extends Op> = z.output<(typeof ANSWERS)[O]>;

/**
 * Reads an answer: `O` and JSON, or `E` and the words of an error.
 * @throws SandboxError when it is neither, not of the form that `op` has, or carries a key `__proto__`; Error with the
 * environment's own words when it threw.
 */
export function readAnswer<O extends Op>(op: O, text: string): Answer<O> {
  let value: unknown;
  try {
    value = parseSafely(text.slice(1));
  } catch (error) {
    throw new SandboxError(`${op}: the answer cannot be read (${(error as Error).message})`);
  }
  if (text[0] === 'E')
    throw new Error(typeof value === 'string' ? value.slice(0, 2000) : 'an error without words');
  if (text[0] !== 'O') throw new SandboxError(`${op}: the answer cannot be read`);
  const result = ANSWERS[op].safeParse(value);
  if (result.success) return result.data as Answer<O>;
  const { path, message } = result.error.issues[0]!;
  throw new SandboxError(`${[op, ...path].join('.')}: ${message}`);
}

/** JSON without keys that could become a prototype where objects are merged. */
function parseSafely(text: string): unknown {
  if (!text.includes('__proto__') && !/\\u005f/i.test(text)) return JSON.parse(text);
  return JSON.parse(text, (key, value) => {
    if (key === '__proto__') throw new Error('a key named __proto__');
    return value;
  });
}

function shallowerThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  for (const one of Array.isArray(value) ? value : Object.values(value))
    if (!shallowerThan(one, depth - 1)) return false;
  return true;
}
