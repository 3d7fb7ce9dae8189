import { basename, dirname } from 'node:path';
import { jsonPieces } from '../json-pieces.js';
import { isObject, type JsonObject, parseTrajectory, RecordError, read } from '../parse.js';
import type { Message, Trajectory } from '../trajectory.js';
import { bashCall, bashTools, bashTurn } from './bash-calls.js';
import { contentText, ERROR_RESULT, readAssistant, readChatMessage } from './chat.js';
import type { Importer, ImporterOptions, SourceSample } from './importer.js';
import { isFolderOf, type TrialCounter } from './record-files.js';
import { readSweFiles } from './swe-files.js';
import { type findSweVerdicts, isBesideTrajectories } from './swe-verdict-files.js';
import { sweOutcome } from './swe-verdicts.js';

const SUFFIX = '.traj.json';
/** The agent's own action syntax: one fenced block, named like this since version 1.15, `bash` before. */
const FENCE = /```(?:mswea_bash_command|bash)[ \t]*\r?\n([\s\S]*?)\n```/g;
const RETURNCODE = /^\s*<returncode>\s*(-?\d+)\s*<\/returncode>/;
/** What the agent echoes to hand in its work; the reply is the patch, without a return code. */
const HAND_IN = /COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT|MINI_SWE_AGENT_FINAL_OUTPUT/;

/** Exceptions of the model's provider and of the container: none of the agent's doing. */
const INFRASTRUCTURE =
  /^(API(Connection|Status|Timeout|Response)?Error|APITimeout|Timeout|ReadTimeout|ConnectTimeout|ConnectionError|ConnectError|RateLimitError|ServiceUnavailableError|InternalServerError|BadGatewayError|AuthenticationError|PermissionDeniedError|NotFoundError|BudgetExceededError|CalledProcessError|TimeoutExpired|DockerException|ContainerError)$/;

/** A turn in the form of OpenAI's Responses API. */
function responseTurn(message: JsonObject, field: string): Message {
  const output = read.list(message.output, `${field}.output`).filter(isObject);
  const content = output
    .filter((part) => part.type === 'message')
    .map((part) => contentText(part.content, `${field}.output`) ?? '')
    .join('\n');
  const calls = output
    .filter((part) => part.type === 'function_call')
    .map((part) => ({ id: part.call_id, name: part.name, arguments: part.arguments }));
  return readAssistant({ content: content === '' ? null : content, tool_calls: calls }, field);
}

/** The command that the one fenced block of a reply holds, and the text without it. */
function fenced(text: string): { readonly command: string; readonly rest: string } | null {
  const found = [...text.matchAll(FENCE)];
  if (found.length !== 1) return null;
  return { command: found[0]![1]!, rest: text.replace(found[0]![0], '').trim() };
}

const extraOf = (message: unknown): JsonObject =>
  isObject(message) && isObject(message.extra) ? message.extra : {};

/** Whether the next message answers a command: then the command was run. */
function answered(next: unknown, command: string): boolean {
  if (!isObject(next) || (next.role !== 'user' && next.role !== 'exit')) return false;
  return HAND_IN.test(command) || (typeof next.content === 'string' && RETURNCODE.test(next.content));
}

interface Conversation {
  readonly messages: Message[];
  /** A command of the text was mapped to a call of `bash`. */
  readonly bash: boolean;
  /** `extra` of the last message, which in newer files says how the attempt ended. */
  readonly exit: JsonObject;
}

function readConversation(items: readonly unknown[]): Conversation {
  const messages: Message[] = [];
  let waiting: string[] = [];
  let bash = false;
  let exit: JsonObject = {};
  const observe = (content: string, given: unknown, extra: JsonObject) => {
    const code = typeof extra.returncode === 'number' ? extra.returncode : RETURNCODE.exec(content)?.[1];
    const failed = code === undefined ? ERROR_RESULT.test(content) : Number(code) !== 0;
    const first = waiting.shift();
    const id = typeof given === 'string' ? given : (first ?? '');
    messages.push({ role: 'tool', content, tool_call_id: id, ...(failed ? { error: true } : {}) });
  };
  for (const [i, item] of items.entries()) {
    const field = `messages[${i}]`;
    const message = read.object(item, field);
    const extra = extraOf(message);
    if (message.role === 'exit') {
      exit = extra;
    } else if (message.type === 'function_call_output') {
      observe(contentText(message.output, `${field}.output`) ?? '', message.call_id, extra);
    } else if (message.object === 'response') {
      messages.push(responseTurn(message, field));
      waiting = [];
    } else if (
      message.role === 'assistant' &&
      Array.isArray(message.tool_calls) &&
      message.tool_calls.length > 0
    ) {
      messages.push(readAssistant(message, field));
      waiting = [];
    } else if (message.role === 'assistant') {
      const text = contentText(message.content, `${field}.content`) ?? '';
      const inText = fenced(text);
      const given = Array.isArray(extra.actions)
        ? extra.actions.flatMap((action) =>
            isObject(action) && typeof action.command === 'string' ? [action.command] : [],
          )
        : inText && answered(items[i + 1], inText.command)
          ? [inText.command]
          : [];
      const calls = given.map((command, n) => bashCall(`call_${i}_${n}`, command));
      const cut = given.length === 1 && inText?.command.trim() === given[0]!.trim();
      messages.push(bashTurn(cut ? inText!.rest : text, calls));
      waiting = calls.map((call) => call.id);
      if (calls.length > 0) bash = true;
    } else if (message.role === 'user' && waiting.length > 0 && extra.interrupt_type === undefined) {
      observe(contentText(message.content, `${field}.content`) ?? '', undefined, extra);
    } else if (message.role === 'tool') {
      observe(contentText(message.content, `${field}.content`) ?? '', message.tool_call_id, extra);
    } else {
      messages.push(readChatMessage(message, field));
      waiting = [];
    }
    if (typeof extra.exit_status === 'string') exit = extra;
  }
  return { messages, bash, exit };
}

async function readFile(
  path: string,
  verdicts: ReturnType<typeof findSweVerdicts>,
  trials: TrialCounter,
  { onBytes }: ImporterOptions,
): Promise<Trajectory> {
  const items: unknown[] = [];
  const members: Record<string, unknown> = Object.create(null);
  for await (const piece of jsonPieces(path, { open: ['messages'], ...(onBytes && { onBytes }) })) {
    if (piece.index !== null) items.push(JSON.parse(piece.text));
    else members[piece.key!] = JSON.parse(piece.text);
  }
  if (members.messages !== undefined) throw new RecordError('field messages must be a list');
  const info = isObject(members.info) ? members.info : {};
  const { messages, bash, exit } = readConversation(items);
  if (messages.length === 0) throw new RecordError('there are no messages in it');
  const taskId =
    typeof members.instance_id === 'string' && members.instance_id !== ''
      ? members.instance_id
      : basename(path).replace(/(\.traj)?\.json$/, '');
  const text = (...values: unknown[]) =>
    values.find((value) => typeof value === 'string' && value !== '') ?? null;
  const termination = text(info.exit_status, exit.exit_status) as string | null;
  const submission = [info.submission, exit.submission].find((value) => typeof value === 'string') ?? null;
  const broken = termination !== null && INFRASTRUCTURE.test(termination) ? termination : null;
  const judged = sweOutcome(verdicts.of(taskId, dirname(path)), submission as string | null, broken);
  const trial = trials.next(taskId);
  const config = isObject(info.config) && isObject(info.config.model) ? info.config.model : {};
  const stats = isObject(info.model_stats) ? info.model_stats : {};
  return parseTrajectory({
    id: `${taskId}-${trial}`,
    taskId,
    trial,
    source: 'mini-swe-agent',
    messages,
    tools: bashTools(bash),
    termination,
    ...judged,
    metadata: {
      ...judged.metadata,
      ...(typeof config.model_name === 'string' ? { model: config.model_name } : {}),
      ...(typeof stats.instance_cost === 'number' ? { cost: stats.instance_cost } : {}),
      ...(submission ? { patch: submission } : {}),
    },
  });
}

function matches(sample: SourceSample): boolean {
  const { kind, keys, records, entries, path } = sample;
  if (kind === 'folder')
    return isFolderOf(
      entries,
      (entry) => entry.endsWith(SUFFIX),
      (entry) => isBesideTrajectories(path, entry),
    );
  if (kind === 'object')
    return (
      keys.has('messages') &&
      (keys.has('trajectory_format') ||
        (keys.has('info') && keys.has('instance_id')) ||
        path.endsWith(SUFFIX))
    );
  if (kind !== 'array' || records.length === 0) return false;
  const chat = records.every((record) => isObject(record) && typeof record.role === 'string');
  if (!chat) return false;
  const told = records.some(
    (record) =>
      isObject(record) &&
      typeof record.content === 'string' &&
      (record.content.includes('```mswea_bash_command') || HAND_IN.test(record.content)),
  );
  return told || path.endsWith(SUFFIX);
}

/**
 * Trajectories of mini-swe-agent: one file (an object with `messages` and `info`, or version 1's bare list of
 * messages), or a folder of them, joined with the evaluation's reports.
 * @throws InvalidRecordError at a file that cannot be read unless `onInvalid` is given.
 */
function importMiniSweAgent(path: string, options: ImporterOptions): AsyncGenerator<Trajectory> {
  return readSweFiles(path, SUFFIX, options, (file, verdicts, trials) =>
    readFile(file, verdicts, trials, options),
  );
}

export const miniSweAgentImporter: Importer = {
  name: 'mini-swe-agent',
  joinsVerdicts: true,
  title: 'mini-swe-agent trajectories (.traj.json; messages and info, or a list of messages)',
  matches,
  read: importMiniSweAgent,
};
