import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { jsonPieces } from '../json-pieces.js';
import { isObject, parseTrajectory, RecordError, read } from '../parse.js';
import type { Message, Trajectory } from '../trajectory.js';
import type { Importer, ImporterOptions, SourceSample } from './importer.js';
import { readEvents } from './openhands-events.js';
import { filesUnder, guardFile, isFolderOf, TrialCounter } from './record-files.js';
import { mapRecords } from './records.js';
import { kindOf, readHead } from './sample.js';
import { findSweVerdicts, isBesideTrajectories, type SweVerdicts } from './swe-verdict-files.js';
import { readTestResult, sweOutcome } from './swe-verdicts.js';

/** Errors of the sandbox and of the model's provider, by the class name that `error` begins with or holds. */
const INFRASTRUCTURE =
  /\b(AgentRuntime\w*Error|Runtime\w*Error: |RemoteRuntime\w*|LLMNoResponseError|RateLimitError|APIConnectionError|APIError|InternalServerError|ServiceUnavailableError|BadGatewayError|AuthenticationError|Timeout: |ConnectionError|EvalException)/;

interface Sources {
  readonly verdicts: SweVerdicts;
  readonly trials: TrialCounter;
}

/** Joins a conversation with what is known of its instance. */
function assemble(
  taskId: string,
  history: readonly unknown[],
  record: { readonly [key: string]: unknown },
  file: string,
  { verdicts, trials }: Sources,
): Trajectory {
  const { messages: found, tools, leftOut, state, error, model } = readEvents(history);
  const instructed = found.some((message) => message.role === 'user');
  const messages: Message[] =
    !instructed && typeof record.instruction === 'string'
      ? [
          ...found.filter((m) => m.role === 'system'),
          { role: 'user', content: record.instruction },
          ...found.filter((m) => m.role !== 'system'),
        ]
      : [...found];
  const said = typeof record.error === 'string' && record.error !== '' ? record.error : null;
  if (messages.length === 0 && said === null) throw new RecordError('there is no turn in its history');
  const result = isObject(record.test_result) ? record.test_result : {};
  const patch = typeof result.git_patch === 'string' ? result.git_patch : null;
  const broken = said !== null && (found.length === 0 || INFRASTRUCTURE.test(said)) ? said : null;
  const judged = sweOutcome(verdicts.of(taskId, dirname(file)) ?? readTestResult(result), patch, broken);
  const trial = trials.next(taskId);
  const metadata = isObject(record.metadata) ? record.metadata : {};
  const configured = isObject(metadata.llm_config) ? metadata.llm_config.model : undefined;
  const finished = messages.some(
    (m) => m.role === 'assistant' && m.tool_calls?.some((c) => c.function.name === 'finish'),
  );
  return parseTrajectory({
    id: `${taskId}-${trial}`,
    taskId,
    trial,
    source: 'openhands',
    messages,
    tools,
    termination: said ?? (finished ? 'finish' : (error ?? state)),
    ...judged,
    metadata: {
      ...judged.metadata,
      ...(typeof configured === 'string' ? { model: configured } : model !== null ? { model } : {}),
      ...(typeof metadata.agent_class === 'string' ? { agent: metadata.agent_class } : {}),
      ...(Object.keys(leftOut).length > 0 ? { eventsLeftOut: leftOut } : {}),
      ...(patch ? { patch } : {}),
    },
  });
}

/**
 * One line of `output.jsonl`.
 * @throws RecordError naming the wrong field.
 */
function readOutput(value: unknown, file: string, sources: Sources): Trajectory {
  const record = read.object(value, '(record)');
  const taskId = read.id(record.instance_id, 'instance_id');
  return assemble(taskId, read.list(record.history ?? [], 'history'), record, file, sources);
}

/** Whether a list holds events rather than records of an evaluation. */
function isEventList(path: string): boolean {
  const { kind, head } = kindOf(path, readHead(path));
  if (kind !== 'array') return false;
  for (const { text } of head?.pieces ?? [])
    try {
      const value: unknown = JSON.parse(text);
      if (isObject(value) && 'instance_id' in value) return false;
    } catch {
      // A damaged element tells nothing.
    }
  return true;
}

async function readEventFile(
  path: string,
  sources: Sources,
  { onBytes }: ImporterOptions,
): Promise<Trajectory> {
  const events: unknown[] = [];
  for await (const piece of jsonPieces(path, onBytes && { onBytes })) events.push(JSON.parse(piece.text));
  return assemble(basename(path).replace(/\.json$/, ''), events, {}, path, sources);
}

async function* readFile(
  path: string,
  sources: Sources,
  options: ImporterOptions,
): AsyncGenerator<Trajectory> {
  if (isEventList(path)) {
    const trajectory = await guardFile(path, 1, () => readEventFile(path, sources, options), options);
    if (trajectory) yield trajectory;
  } else yield* mapRecords(path, options, (value) => readOutput(value, path, sources));
}

const isEvent = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length > 0 && value.every(isEvent)
    : isObject(value) &&
      (typeof value.action === 'string' || typeof value.observation === 'string') &&
      (typeof value.source === 'string' || isObject(value.args) || isObject(value.extras));

const isOutputName = (name: string) => basename(name) === 'output.jsonl';

function matches({ kind, keys, records, entries, path }: SourceSample): boolean {
  if (kind === 'folder') {
    // A run's folder also holds what the models were asked and what the evaluation said.
    const runs = entries.filter(isOutputName).map((entry) => entry.slice(0, -'output.jsonl'.length));
    const inRun = (entry: string) => runs.some((run) => entry.startsWith(run));
    return isFolderOf(entries, isOutputName, (entry) => inRun(entry) || isBesideTrajectories(path, entry));
  }
  if (kind === 'array' && records.length > 0 && records.every(isEvent)) return true;
  return (
    keys.has('instance_id') &&
    keys.has('history') &&
    (keys.has('test_result') || keys.has('instruction') || keys.has('metrics'))
  );
}

/**
 * Trajectories of OpenHands: `output.jsonl` of an evaluation, a list of events, or a folder with `output.jsonl` files,
 * joined with the evaluation's reports; where there are none, with `test_result.report`.
 * @throws InvalidRecordError at a record that cannot be read unless `onInvalid` is given.
 */
async function* importOpenHands(path: string, options: ImporterOptions): AsyncGenerator<Trajectory> {
  const sources = { verdicts: findSweVerdicts(path, options), trials: new TrialCounter() };
  const files = statSync(path).isDirectory() ? filesUnder(path, isOutputName) : [path];
  for (const file of files) yield* readFile(file, sources, options);
}

export const openHandsImporter: Importer = {
  name: 'openhands',
  joinsVerdicts: true,
  title: 'OpenHands (output.jsonl with instance_id and history; lists of events)',
  matches,
  read: importOpenHands,
};
