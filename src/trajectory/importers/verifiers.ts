import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isObject, type JsonObject, parseTrajectory, read } from '../parse.js';
import { guardRecord } from '../store.js';
import type { Message, Trajectory } from '../trajectory.js';
import { readChatMessage, readTools } from './chat.js';
import type { Importer, ImporterOptions, SourceSample } from './importer.js';
import { filesUnder, isFolderOf, readWhole, TrialCounter } from './record-files.js';
import { mapRecords } from './records.js';
import { scoreVerdict, withoutVerdict } from './rewards.js';

const isResultsName = (name: string) => /(^|\/)results\.jsonl$/.test(name);

/** Tool calls saved to a data set are JSON text, one a call. */
function withParsedCalls(message: unknown): unknown {
  if (!isObject(message) || !Array.isArray(message.tool_calls)) return message;
  return {
    ...message,
    tool_calls: message.tool_calls.map((call: unknown) =>
      typeof call === 'string' ? JSON.parse(call) : call,
    ),
  };
}

/** A prompt or completion: messages, or the bare text of a completion model. */
function readPart(value: unknown, field: string, role: 'user' | 'assistant'): Message[] {
  if (typeof value === 'string') return value === '' ? [] : [{ role, content: value }];
  return read
    .list(value, field)
    .map((message, i) => readChatMessage(withParsedCalls(message), `${field}[${i}]`));
}

function errorText(error: unknown): string | null {
  if (error === null || error === undefined || error === false || error === '') return null;
  if (typeof error === 'string') return error;
  const named = isObject(error)
    ? (error.error_chain_str ?? error.error ?? error.message ?? error.type)
    : undefined;
  return typeof named === 'string' && named !== '' ? named : JSON.stringify(error).slice(0, 500);
}

/** Named sub-scores: `metrics`, where the record has them apart. */
function metricsOf(record: JsonObject): { readonly [name: string]: number } {
  const metrics = isObject(record.metrics) ? record.metrics : {};
  return Object.fromEntries(
    Object.entries(metrics).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );
}

/**
 * One rollout of `results.jsonl`.
 * @throws RecordError naming the wrong field.
 */
function readRollout(
  value: unknown,
  environment: string | null,
  trials: TrialCounter,
  passAt: number | undefined,
): Trajectory {
  const record = read.object(value, '(record)');
  const messages = [
    ...readPart(record.prompt, 'prompt', 'user'),
    ...readPart(record.completion ?? [], 'completion', 'assistant'),
  ];
  const example = read.id(record.example_id ?? record.id, 'example_id');
  const name =
    typeof record.task === 'string' && record.task !== '' && record.task !== 'default'
      ? record.task
      : environment;
  const error = errorText(record.error);
  const { reward, outcome, excluded } =
    error !== null
      ? withoutVerdict(`infrastructure: ${error}`)
      : record.reward === null || record.reward === undefined
        ? withoutVerdict('it has no reward')
        : scoreVerdict(read.number(record.reward, 'reward'), passAt);
  const taskId = name === null ? example : `${name}/${example}`;
  const trial = trials.next(taskId);
  const stop = typeof record.stop_condition === 'string' ? record.stop_condition : null;
  const metrics = metricsOf(record);
  return parseTrajectory({
    id: `${taskId}-${trial}`,
    taskId,
    trial,
    source: 'verifiers',
    messages,
    tools: readTools(record.tool_defs ?? record.oai_tools),
    reward,
    outcome,
    termination: error !== null ? 'error' : (stop ?? (record.is_truncated === true ? 'truncated' : null)),
    metadata: {
      ...(excluded ? { excluded } : {}),
      ...(typeof record.reward === 'number' ? { score: record.reward } : {}),
      ...(Object.keys(metrics).length > 0 ? { metrics } : {}),
    },
  });
}

/** The environment's name out of `metadata.json` beside the results; null where there is none. */
function environmentOf(results: string, options: ImporterOptions): string | null {
  const path = join(dirname(results), 'metadata.json');
  if (!existsSync(path)) return null;
  const name = guardRecord(
    path,
    1,
    () => {
      const metadata: unknown = JSON.parse(readWhole(path));
      return isObject(metadata) ? (metadata.env_id ?? metadata.env) : undefined;
    },
    options,
  );
  return typeof name === 'string' && name !== '' ? name : null;
}

function matches({ kind, keys, entries }: SourceSample): boolean {
  if (kind === 'folder')
    return isFolderOf(entries, isResultsName, (entry) => /(^|\/)metadata\.json$/.test(entry));
  return keys.has('prompt') && keys.has('completion') && keys.has('reward');
}

/**
 * Rollouts of verifiers: `results.jsonl`, or a folder that holds such files with `metadata.json` beside them.
 * @throws InvalidRecordError at a bad record unless `onInvalid` is given.
 */
async function* importVerifiers(path: string, options: ImporterOptions): AsyncGenerator<Trajectory> {
  const trials = new TrialCounter();
  const files = statSync(path).isDirectory() ? filesUnder(path, isResultsName) : [path];
  for (const file of files) {
    const environment = environmentOf(file, options);
    yield* mapRecords(file, options, (value) => readRollout(value, environment, trials, options.passAt));
  }
}

export const verifiersImporter: Importer = {
  name: 'verifiers',
  title: 'verifiers rollouts (results.jsonl with prompt, completion and reward)',
  matches,
  read: importVerifiers,
};
