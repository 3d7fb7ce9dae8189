import type { Outcome, ToolKind, Trajectory } from './trajectory.js';

/** A record that is no trajectory: which field, and what is wrong with it. */
export class RecordError extends Error {
  override readonly name = 'RecordError';
}

export type JsonObject = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function fail(field: string, wanted: string, value: unknown): never {
  throw new RecordError(`field ${field} must be ${wanted}, but is ${kindOf(value)}`);
}

/** Deepest nesting of a value that is kept as it is; whatever walks or prints it later has to come back. */
const DEEPEST = 256;

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeper(item, levels - 1));
  for (const key in value) if (isDeeper((value as JsonObject)[key], levels - 1)) return true;
  return false;
}

/** Readers of one field; `field` is the path that an error names. */
export const read = {
  object(value: unknown, field: string): JsonObject {
    return isObject(value) ? value : fail(field, 'an object', value);
  },
  /** An object that is kept as it is: at most 256 levels deep. */
  plain(value: unknown, field: string): JsonObject {
    const object = read.object(value, field);
    if (isDeeper(object, DEEPEST)) throw new RecordError(`field ${field} is nested deeper than ${DEEPEST}`);
    return object;
  },
  list(value: unknown, field: string): readonly unknown[] {
    return Array.isArray(value) ? value : fail(field, 'a list', value);
  },
  text(value: unknown, field: string): string {
    return typeof value === 'string' ? value : fail(field, 'a string', value);
  },
  textOrNull(value: unknown, field: string): string | null {
    return value === null || value === undefined ? null : read.text(value, field);
  },
  number(value: unknown, field: string): number {
    return typeof value === 'number' && Number.isFinite(value) ? value : fail(field, 'a number', value);
  },
  /** Ids come as strings or numbers. */
  id(value: unknown, field: string): string {
    if (typeof value === 'string' && value !== '') return value;
    return typeof value === 'number' ? String(value) : fail(field, 'a string or a number', value);
  },
  count(value: unknown, field: string): number {
    return Number.isInteger(value) && (value as number) >= 0
      ? (value as number)
      : fail(field, 'a whole number from 0', value);
  },
} as const;

const KINDS: readonly string[] = ['read', 'write', 'handover', 'other'] satisfies ToolKind[];
const OUTCOMES: readonly string[] = ['passed', 'failed', 'excluded'] satisfies Outcome[];

function checkMessage(value: unknown, field: string): void {
  const message = read.object(value, field);
  switch (message.role) {
    case 'system':
    case 'user':
      read.text(message.content, `${field}.content`);
      return;
    case 'tool':
      read.text(message.content, `${field}.content`);
      read.text(message.tool_call_id, `${field}.tool_call_id`);
      return;
    case 'assistant':
      read.textOrNull(message.content, `${field}.content`);
      if (message.tool_calls === undefined) return;
      for (const [i, call] of read.list(message.tool_calls, `${field}.tool_calls`).entries()) {
        const at = `${field}.tool_calls[${i}]`;
        const called = read.object(read.object(call, at).function, `${at}.function`);
        read.text((call as JsonObject).id, `${at}.id`);
        read.text(called.name, `${at}.function.name`);
        read.plain(called.arguments, `${at}.function.arguments`);
      }
      return;
    default:
      fail(`${field}.role`, 'system, user, assistant or tool', message.role);
  }
}

function checkReference(value: unknown): void {
  const reference = read.object(value, 'reference');
  for (const [i, item] of read.list(reference.actions, 'reference.actions').entries()) {
    const at = `reference.actions[${i}]`;
    const action = read.object(item, at);
    read.text(action.name, `${at}.name`);
    read.plain(action.arguments, `${at}.arguments`);
    if (!KINDS.includes(action.kind as string)) fail(`${at}.kind`, `one of ${KINDS.join(', ')}`, action.kind);
    if (action.compareArguments !== undefined)
      for (const name of read.list(action.compareArguments, `${at}.compareArguments`))
        read.text(name, `${at}.compareArguments`);
  }
  for (const fact of read.list(reference.requiredFacts, 'reference.requiredFacts'))
    read.text(fact, 'reference.requiredFacts');
  for (const [tool, kind] of Object.entries(read.object(reference.toolKinds, 'reference.toolKinds')))
    if (!KINDS.includes(kind as string))
      fail(`reference.toolKinds.${tool}`, `one of ${KINDS.join(', ')}`, kind);
}

/**
 * Checks a parsed JSON value against the canonical format and hands it back typed; nothing is changed, unknown
 * fields stay.
 * @throws RecordError naming the first wrong field.
 */
export function parseTrajectory(value: unknown): Trajectory {
  const record = read.object(value, '(record)');
  for (const field of ['id', 'taskId', 'source'] as const)
    if (read.text(record[field], field) === '') throw new RecordError(`field ${field} is empty`);
  read.count(record.trial, 'trial');
  for (const [i, message] of read.list(record.messages, 'messages').entries())
    checkMessage(message, `messages[${i}]`);
  for (const [i, tool] of read.list(record.tools, 'tools').entries()) {
    const called = read.object(read.object(tool, `tools[${i}]`).function, `tools[${i}].function`);
    read.text(called.name, `tools[${i}].function.name`);
    read.plain(called.parameters, `tools[${i}].function.parameters`);
  }
  if (record.systemPrompt !== undefined) read.text(record.systemPrompt, 'systemPrompt');
  if (record.reward !== null) {
    const reward = read.number(record.reward, 'reward');
    if (reward < 0 || reward > 1) throw new RecordError(`field reward is ${reward}, outside [0, 1]`);
  }
  if (!OUTCOMES.includes(record.outcome as string))
    fail('outcome', `one of ${OUTCOMES.join(', ')}`, record.outcome);
  read.textOrNull(record.termination, 'termination');
  if (record.checks !== undefined)
    for (const [i, item] of read.list(record.checks, 'checks').entries()) {
      const check = read.object(item, `checks[${i}]`);
      read.text(check.name, `checks[${i}].name`);
      if (typeof check.passed !== 'boolean') fail(`checks[${i}].passed`, 'true or false', check.passed);
    }
  if (record.reference !== undefined) checkReference(record.reference);
  read.plain(record.metadata, 'metadata');
  return record as unknown as Trajectory;
}
