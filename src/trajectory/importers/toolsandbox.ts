import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { jsonPieces } from '../json-pieces.js';
import { isObject, type JsonObject, parseTrajectory, RecordError, read } from '../parse.js';
import { guardRecord } from '../store.js';
import type { Check, Message, Trajectory } from '../trajectory.js';
import { readChatMessage, readTools } from './chat.js';
import type { Importer, ImporterOptions, SourceSample } from './importer.js';
import { readWhole } from './record-files.js';
import { withoutVerdict } from './rewards.js';

const SUMMARY = 'result_summary.json';
/** The benchmark scores by similarity in [0, 1] and names no pass mark; harnesses that need one take this. */
export const PASS_AT = 0.999;
/** Exceptions that a tool raised come to the agent as `Name: text`. */
const EXCEPTION = /^\s*[A-Za-z_.]*(Error|Exception)\b\s*[:(]/;

function conversationOf(path: string): { readonly messages: Message[]; readonly tools: unknown } {
  const value: unknown = JSON.parse(readWhole(path));
  const list = isObject(value) ? value.messages : value;
  const messages = read.list(list, 'conversation').map((item, i) => {
    const message = readChatMessage(item, `conversation[${i}]`);
    return message.role === 'tool' && EXCEPTION.test(message.content) ? { ...message, error: true } : message;
  });
  return { messages, tools: isObject(value) ? value.tools : undefined };
}

/** Where each milestone was reached best, as `{index: [message, similarity]}`. */
function mappingChecks(value: unknown, kind: 'milestone' | 'minefield', passAt: number): Check[] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([index, found]): Check[] => {
    const [at, score] = Array.isArray(found) ? found : [];
    if (typeof score !== 'number') return [];
    const where = typeof at === 'number' && at >= 0 ? ` at message ${at}` : '';
    return [
      {
        name: `${kind}_${index}`,
        passed: kind === 'milestone' ? score >= passAt : score === 0,
        detail: `similarity ${score}${where}`,
      },
    ];
  });
}

function checksOf(result: JsonObject, passAt: number): Check[] {
  const single = (name: string, value: unknown, passed: (score: number) => boolean): Check[] =>
    typeof value === 'number' ? [{ name, passed: passed(value), detail: `similarity ${value}` }] : [];
  return [
    ...single('milestones', result.milestone_similarity, (score) => score >= passAt),
    ...single('minefields', result.minefield_similarity, (score) => score === 0),
    ...mappingChecks(result.milestone_mapping, 'milestone', passAt),
    ...mappingChecks(result.minefield_mapping, 'minefield', passAt),
  ];
}

/**
 * One scenario's result with its conversation.
 * @throws RecordError naming the wrong field, or the conversation that is missing.
 */
function readScenario(value: unknown, folder: string, passAt: number): Trajectory {
  const result = read.object(value, '(result)');
  const name = read.text(result.name, 'name');
  if (name === '' || name === '.' || name === '..' || /[/\\\0]/.test(name))
    throw new RecordError(`field name is no folder’s name: ${JSON.stringify(name)}`);
  const path = join(folder, 'trajectories', name, 'conversation.json');
  const exception =
    typeof result.exception_type === 'string' && result.exception_type !== '' ? result.exception_type : null;
  const broken = exception !== null || (typeof result.traceback === 'string' && result.traceback !== '');
  if (!existsSync(path) && !broken)
    throw new RecordError(`the conversation trajectories/${name}/conversation.json is missing`);
  const { messages, tools } = existsSync(path) ? conversationOf(path) : { messages: [], tools: undefined };
  const similarity = broken ? null : read.number(result.similarity, 'similarity');
  const { reward, outcome, excluded } =
    similarity === null
      ? withoutVerdict(`infrastructure: ${exception ?? 'the scenario ended with an exception'}`)
      : {
          reward: Math.min(1, Math.max(0, similarity)),
          outcome: similarity >= passAt ? ('passed' as const) : ('failed' as const),
          excluded: undefined,
        };
  const checks = broken ? [] : checksOf(result, passAt);
  return parseTrajectory({
    id: name,
    taskId: name,
    trial: 0,
    source: 'toolsandbox',
    messages,
    tools: readTools(tools),
    reward,
    outcome,
    termination: exception,
    ...(checks.length > 0 ? { checks } : {}),
    metadata: {
      ...(excluded ? { excluded } : {}),
      ...(Array.isArray(result.categories) ? { categories: result.categories } : {}),
      ...(typeof result.turn_count === 'number' ? { turns: result.turn_count } : {}),
    },
  });
}

/** A conversation without its summary: readable, but without a verdict. */
function readAlone(path: string): Trajectory {
  const { messages, tools } = conversationOf(path);
  const name = basename(dirname(path)) || 'conversation';
  return parseTrajectory({
    id: name,
    taskId: name,
    trial: 0,
    source: 'toolsandbox',
    messages,
    tools: readTools(tools),
    reward: null,
    outcome: 'excluded',
    termination: null,
    metadata: { excluded: `a conversation alone; the verdict stands in ${SUMMARY}` },
  });
}

const hasDetails = (record: unknown) =>
  isObject(record) && Object.keys(record).some((key) => /^(system|user|assistant|tool)_details$/.test(key));

function matches({ kind, keys, records, entries }: SourceSample): boolean {
  if (kind === 'folder') return entries.includes(SUMMARY);
  if (kind === 'object') return keys.has('per_scenario_results');
  return kind === 'array' && records.some(hasDetails);
}

/**
 * Results of ToolSandbox: `result_summary.json` with the conversations beside it, their folder, or one conversation. A
 * similarity of at least `passAt` (0.999) is a pass.
 * @throws InvalidRecordError at a bad record unless `onInvalid` is given; JsonShapeError for a cut-off summary.
 */
async function* importToolSandbox(path: string, options: ImporterOptions): AsyncGenerator<Trajectory> {
  const folder = statSync(path).isDirectory();
  const file = folder ? join(path, SUMMARY) : path;
  const passAt = options.passAt ?? PASS_AT;
  for await (const piece of jsonPieces(file, {
    open: ['per_scenario_results'],
    ...(options.onBytes && { onBytes: options.onBytes }),
  })) {
    if (piece.key === null) {
      const trajectory = guardRecord(file, 1, () => readAlone(file), options);
      if (trajectory) yield trajectory;
      return;
    }
    if (piece.key !== 'per_scenario_results') continue;
    const record = (piece.index ?? 0) + 1;
    const make = () => readScenario(JSON.parse(piece.text), dirname(file), passAt);
    const trajectory = guardRecord(file, record, make, options);
    if (trajectory) yield trajectory;
  }
}

export const toolSandboxImporter: Importer = {
  name: 'toolsandbox',
  title: 'ToolSandbox results (result_summary.json with trajectories/…/conversation.json)',
  matches,
  read: importToolSandbox,
};
