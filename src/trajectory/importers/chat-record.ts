import { createHash } from 'node:crypto';
import { isObject, type JsonObject, RecordError, read } from '../parse.js';
import type { Message, Trajectory } from '../trajectory.js';
import { contentText, readTools } from './chat.js';
import { isMessage, readConversation } from './chat-conversation.js';
import { type ScoreVerdict, withoutVerdict } from './rewards.js';
import { VERDICT_FIELDS, verdictOf } from './verdict-values.js';

/** What the records of a file share. */
export interface ChatContext {
  /** Name of the format. */
  readonly source: string;
  /** Id of a record that is a bare list of messages, alone in its file. */
  readonly fileId: string;
  readonly passAt?: number | undefined;
  /** Attempts read so far, by task. */
  readonly trials: Map<string, number>;
  /** Ids given so far. */
  readonly ids: Set<string>;
}

/** Where a record keeps its messages. */
const MESSAGES = [
  'messages',
  'conversations',
  'conversation',
  'trajectory',
  'traj',
  'history',
  'dialog',
  'chat',
  'input',
];
const TASK_IDS = [
  'task_id',
  'instance_id',
  'problem_id',
  'prompt_id',
  'question_id',
  'example_id',
  'scenario_id',
];
const ATTEMPT_IDS = [
  ...['trajectory_id', 'attempt_id', 'rollout_id', 'run_id', 'id', 'uuid', 'conversation_id', 'session_id'],
  ...['trace_id', 'request_id'],
];
const TRIALS = ['trial', 'attempt', 'rollout', 'epoch', 'sample_index', 'trial_id'];
const ENDS = [
  'termination_reason',
  'termination',
  'exit_status',
  'stop_condition',
  'stop_reason',
  'finish_reason',
];
const READ = new Set([
  ...MESSAGES,
  ...TASK_IDS,
  ...ATTEMPT_IDS,
  ...TRIALS,
  ...ENDS,
  ...VERDICT_FIELDS,
  ...['tools', 'functions', 'system', 'system_prompt', 'metadata'],
]);
/** Longest text beside a conversation that is kept. */
const LONGEST_NOTE = 2000;

/** The first of a record's fields that is a text or a number, as text. */
function idIn(record: JsonObject, fields: readonly string[]): string | null {
  for (const field of fields) {
    const value = record[field];
    if (typeof value === 'string' && value !== '' && value.length <= 500) return value;
    if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  }
  return null;
}

/** The messages of a record, with the name of their field; null when it has none. */
export function messagesIn(
  record: unknown,
): { readonly field: string; readonly list: readonly unknown[] } | null {
  if (Array.isArray(record)) return record.some(isMessage) ? { field: '(record)', list: record } : null;
  if (!isObject(record)) return null;
  for (const field of MESSAGES) {
    const list = record[field];
    if (Array.isArray(list) && (list.some(isMessage) || (field === 'messages' && list.length === 0)))
      return { field, list };
  }
  return null;
}

/** Request and response of one call to a model, as gateways log them, put in one record. */
function unwrapped(record: JsonObject): JsonObject {
  if (!isObject(record.request) || messagesIn(record.request) === null) return record;
  const { request, response, ...beside } = record;
  const answers: unknown[] = [];
  if (isObject(response)) {
    const choice = Array.isArray(response.choices) ? response.choices[0] : undefined;
    if (isObject(choice) && isObject(choice.message)) answers.push(choice.message);
    else if (Array.isArray(response.content)) answers.push({ role: 'assistant', content: response.content });
    else if (Array.isArray(response.output)) answers.push(...response.output);
  }
  const { field, list } = messagesIn(request)!;
  return { ...(request as JsonObject), ...beside, [field]: [...list, ...answers] };
}

/** Equal first words make equal tasks, where a record does not name its task. */
function promptId(system: string | undefined, messages: readonly Message[]): string {
  const asked = messages.find((message) => message.role === 'user')?.content ?? '';
  const first = messages.find((message) => message.role === 'system')?.content ?? '';
  const hash = createHash('sha256')
    .update(`${system ?? ''}\0${first}\0${asked}`)
    .digest('hex');
  return `prompt-${hash.slice(0, 12)}`;
}

function notesOf(record: JsonObject): JsonObject {
  const notes: { [key: string]: unknown } = Object.create(null);
  if (isObject(record.metadata)) Object.assign(notes, read.plain(record.metadata, 'metadata'));
  for (const [key, value] of Object.entries(record)) {
    if (READ.has(key)) continue;
    const short = typeof value === 'string' ? value.length <= LONGEST_NOTE : typeof value === 'number';
    if (short || typeof value === 'boolean') notes[key] = value;
  }
  return notes;
}

/** The verdict of a record, or why there is none. */
function verdictFor(record: JsonObject, messages: readonly Message[], passAt?: number): ScoreVerdict {
  if (messages.length === 0) return withoutVerdict('no messages');
  const verdict = verdictOf(record, passAt);
  if (verdict) return verdict;
  return withoutVerdict(
    typeof record.error === 'string' && record.error !== '' ? 'the run broke' : 'no verdict',
  );
}

/** A chat as an attempt whose ids depend on the records before it. */
export interface ChatDraft {
  /** The record's own id, if it has one. */
  readonly own: string | null;
  readonly taskId: string;
  /** The trial that the record names. */
  readonly numbered: number | null;
  readonly rest: Omit<Trajectory, 'id' | 'taskId' | 'trial'>;
}

/** What a record's draft needs to know. */
export type DraftContext = Pick<ChatContext, 'source' | 'fileId' | 'passAt'>;

/**
 * A conversation with what stands beside it: tools, system prompt, verdict, and what ids there are. A record without
 * any gets its task from the words it begins with.
 * @throws RecordError naming the field.
 */
export function draftChat(value: unknown, { source, fileId, passAt }: DraftContext): ChatDraft {
  const record: JsonObject = Array.isArray(value)
    ? { messages: value }
    : unwrapped(read.object(value, '(record)'));
  const found = messagesIn(record);
  if (!found) throw new RecordError(`no field holds messages (looked at: ${MESSAGES.join(', ')})`);
  const messages = readConversation(found.list, Array.isArray(value) ? '(record)' : found.field);
  const system = contentText(record.system ?? record.system_prompt, 'system') ?? undefined;
  const own = Array.isArray(value) ? fileId : idIn(record, ATTEMPT_IDS);
  const { reward, outcome, excluded } = verdictFor(record, messages, passAt);
  const isTrial = (trial: unknown): trial is number => Number.isInteger(trial) && Number(trial) >= 0;
  const end = ENDS.map((field) => record[field]).find((text) => typeof text === 'string' && text !== '');
  return {
    own,
    taskId: idIn(record, TASK_IDS) ?? own ?? promptId(system, messages),
    numbered: TRIALS.map((field) => record[field]).find(isTrial) ?? null,
    rest: {
      source,
      messages,
      tools: readTools(record.tools ?? record.functions),
      ...(system !== undefined && system !== '' ? { systemPrompt: system } : {}),
      reward,
      outcome,
      termination: typeof end === 'string' ? end : null,
      metadata: { ...notesOf(record), ...(excluded !== undefined ? { excluded } : {}) },
    },
  };
}

/** Ids for the next record of a file: trials are counted by task, and an id that comes again is the task's. */
export function identify(
  { own, taskId, numbered }: Pick<ChatDraft, 'own' | 'taskId' | 'numbered'>,
  { trials, ids }: Pick<ChatContext, 'trials' | 'ids'>,
): Pick<Trajectory, 'id' | 'taskId' | 'trial'> {
  const seen = trials.get(taskId) ?? 0;
  trials.set(taskId, seen + 1);
  const trial = numbered ?? seen;
  let id = own !== null && !ids.has(own) ? own : `${own ?? taskId}-${trial}`;
  for (let next = seen; ids.has(id); next++) id = `${own ?? taskId}-${trial}-${next}`;
  ids.add(id);
  return { id, taskId, trial };
}

/** A record as one attempt. @throws RecordError naming the field. */
export function readChatRecord(value: unknown, context: ChatContext): Trajectory {
  const draft = draftChat(value, context);
  return { ...identify(draft, context), ...draft.rest };
}
