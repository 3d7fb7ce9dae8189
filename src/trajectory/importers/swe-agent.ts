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

const SUFFIX = '.traj';
/** Ends that the agent did not bring about: the model's provider, the container, the tool itself. */
const INFRASTRUCTURE = /\bexit_(api|environment_error|error)\b/;
/** How the agent's own shell tells that a command was refused. */
const REFUSED =
  /^\s*(Your proposed edit has introduced new syntax error|Your edit was not applied|Command '.*' (failed|timed out))/;

const lineText = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value : null);

/** One turn of the agent, from a message of the history or from a step. */
function readTurn(
  message: JsonObject,
  field: string,
  id: string,
): { turn: Message; ids: string[]; bash: boolean } {
  const whole = contentText(message.content ?? message.response, `${field}.content`) ?? '';
  const thought = typeof message.thought === 'string' ? message.thought : null;
  const reasoning = Array.isArray(message.thinking_blocks)
    ? message.thinking_blocks
        .flatMap((block) => (isObject(block) && typeof block.thinking === 'string' ? [block.thinking] : []))
        .join('\n')
    : '';
  const more = reasoning === '' ? {} : { reasoning };
  if (Array.isArray(message.tool_calls) && message.tool_calls.length > 0) {
    const turn = { ...readAssistant({ ...message, content: thought ?? whole }, field), ...more };
    return { turn, ids: (turn.tool_calls ?? []).map((call) => call.id), bash: false };
  }
  const action = lineText(message.action);
  if (action === null) return { turn: bashTurn(whole, [], more), ids: [], bash: false };
  const call = bashCall(id, action.replace(/\n+$/, ''));
  return { turn: bashTurn((thought ?? whole).trim(), [call], more), ids: [id], bash: true };
}

function toolMessage(content: string, id: string): Message {
  const failed = ERROR_RESULT.test(content) || REFUSED.test(content);
  return { role: 'tool', content, tool_call_id: id, ...(failed ? { error: true } : {}) };
}

interface Conversation {
  readonly messages: Message[];
  readonly bash: boolean;
  /** Messages left out: demonstrations, and those of other agents. */
  readonly demonstrations: number;
  readonly others: number;
}

/** The history: what the agent was shown and answered. Demonstrations are none of its own doing. */
export function readHistory(items: readonly unknown[]): Conversation {
  const history = items.map((item, i) => read.object(item, `history[${i}]`));
  const allDemo = history.every((message) => message.is_demo === true);
  const main = history.find((message) => message.role === 'assistant' && !message.is_demo)?.agent;
  const messages: Message[] = [];
  let [demonstrations, others, bash] = [0, 0, false];
  let waiting: string[] = [];
  for (const [i, message] of history.entries()) {
    const field = `history[${i}]`;
    if (message.is_demo === true && !allDemo) {
      demonstrations++;
      continue;
    }
    if (main !== undefined && message.agent !== undefined && message.agent !== main) {
      others++;
      continue;
    }
    if (message.role === 'assistant') {
      const { turn, ids, bash: used } = readTurn(message, field, `call_${i}`);
      messages.push(turn);
      waiting = ids;
      bash ||= used;
      continue;
    }
    if (message.role === 'tool' || (message.role === 'user' && waiting.length > 0)) {
      const given = Array.isArray(message.tool_call_ids) ? message.tool_call_ids[0] : message.tool_call_id;
      const first = waiting.shift();
      const id = typeof given === 'string' ? given : (first ?? '');
      messages.push(toolMessage(contentText(message.content, `${field}.content`) ?? '', id));
      continue;
    }
    messages.push(readChatMessage(message, field));
  }
  return { messages, bash, demonstrations, others };
}

/** The steps, where a file has no history: what the first was shown, then each step's turn and its observation. */
function readSteps(items: readonly unknown[]): Conversation {
  const messages: Message[] = [];
  let [demonstrations, bash] = [0, false];
  for (const [i, item] of items.entries()) {
    const field = `trajectory[${i}]`;
    const step = read.object(item, field);
    if (i === 0 && Array.isArray(step.query)) {
      const shown = readHistory(step.query);
      messages.push(...shown.messages);
      demonstrations = shown.demonstrations;
    }
    const { turn, ids, bash: used } = readTurn(step, field, `call_${i}`);
    messages.push(turn);
    bash ||= used;
    const observation = typeof step.observation === 'string' ? step.observation : '';
    if (ids.length > 0) messages.push(toolMessage(observation, ids[0]!));
    else if (observation !== '') messages.push({ role: 'user', content: observation });
  }
  return { messages, bash, demonstrations, others: 0 };
}

async function readMembers(path: string, steps: boolean, { onBytes }: ImporterOptions) {
  const items: unknown[] = [];
  const members: Record<string, unknown> = Object.create(null);
  const [open, skip] = steps ? ['trajectory', 'history'] : ['history', 'trajectory'];
  for await (const piece of jsonPieces(path, { open: [open!], skip: [skip!], ...(onBytes && { onBytes }) })) {
    if (piece.key === null) throw new RecordError('it is a list, not an object with history and trajectory');
    const value: unknown = JSON.parse(piece.text);
    if (piece.index === null) members[piece.key] = value;
    // From the second step on, a step repeats all messages before it.
    else items.push(steps && piece.index > 0 && isObject(value) ? { ...value, query: undefined } : value);
  }
  return { items, members };
}

async function readFile(
  path: string,
  verdicts: ReturnType<typeof findSweVerdicts>,
  trials: TrialCounter,
  options: ImporterOptions,
): Promise<Trajectory> {
  let { items, members } = await readMembers(path, false, options);
  let conversation = readHistory(items);
  if (conversation.messages.length === 0) {
    ({ items, members } = await readMembers(path, true, {}));
    conversation = readSteps(items);
  }
  const { messages, bash, demonstrations, others } = conversation;
  if (messages.length === 0) throw new RecordError('there is neither a history nor a trajectory in it');
  const info = isObject(members.info) ? members.info : {};
  const taskId = basename(path).replace(/\.traj$|\.json$/, '');
  const termination = lineText(info.exit_status);
  const submission =
    typeof info.submission === 'string' ? info.submission : info.submission === null ? '' : null;
  const broken = termination !== null && INFRASTRUCTURE.test(termination) ? termination : null;
  const judged = sweOutcome(verdicts.of(taskId, dirname(path)), submission, broken);
  const trial = trials.next(taskId);
  const stats = isObject(info.model_stats) ? info.model_stats : {};
  return parseTrajectory({
    id: `${taskId}-${trial}`,
    taskId,
    trial,
    source: 'swe-agent',
    messages,
    tools: bashTools(bash),
    termination,
    ...judged,
    metadata: {
      ...judged.metadata,
      ...(typeof stats.instance_cost === 'number' ? { cost: stats.instance_cost } : {}),
      ...(demonstrations > 0 ? { demonstrationsLeftOut: demonstrations } : {}),
      ...(others > 0 ? { otherAgentsLeftOut: others } : {}),
      ...(submission ? { patch: submission } : {}),
    },
  });
}

function matches({ kind, keys, entries, path }: SourceSample): boolean {
  if (kind === 'folder')
    return isFolderOf(
      entries,
      (entry) => entry.endsWith(SUFFIX),
      (entry) => isBesideTrajectories(path, entry),
    );
  if (kind !== 'object' || keys.has('instance_id')) return false;
  if (keys.has('trajectory'))
    return keys.has('history') || keys.has('replay_config') || path.endsWith(SUFFIX);
  return keys.has('history') && (keys.has('environment') || keys.has('info') || path.endsWith(SUFFIX));
}

/**
 * Trajectories of SWE-agent: one `.traj` file or a folder of them, joined with the evaluation's reports.
 * @throws InvalidRecordError at a file that cannot be read unless `onInvalid` is given.
 */
function importSweAgent(path: string, options: ImporterOptions): AsyncGenerator<Trajectory> {
  return readSweFiles(path, SUFFIX, options, (file, verdicts, trials) =>
    readFile(file, verdicts, trials, options),
  );
}

export const sweAgentImporter: Importer = {
  name: 'swe-agent',
  joinsVerdicts: true,
  title: 'SWE-agent trajectories (.traj; history and trajectory)',
  matches,
  read: importSweAgent,
};
