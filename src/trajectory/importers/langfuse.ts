import { isObject, type JsonObject, RecordError } from '../parse.js';
import type { Importer, SourceSample } from './importer.js';
import {
  type Evaluation,
  firstText,
  identityOf,
  type LooseEvaluation,
  type Span,
  type SpanRecord,
  timeKey,
  unwrapJson,
} from './spans.js';
import { importSpans, type SpanFormat } from './spans-import.js';
import { lenient, readMessages, readToolOutput, readToolSchemas } from './spans-messages.js';
import { readArguments } from './spans-parts.js';

/** Types of observations that are requests to a model, tools, or steps around them. */
const KINDS: ReadonlyMap<string, Span['kind']> = new Map([
  ['GENERATION', 'llm'],
  ['TOOL', 'tool'],
  ['SPAN', 'agent'],
  ['AGENT', 'agent'],
  ['CHAIN', 'agent'],
]);

/** A field in the spelling of the interface (camelCase) or of the SDKs' dumps and exports (snake_case). */
const field = (object: JsonObject, camel: string): unknown =>
  object[camel] ?? object[camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];

/** A score: numbers, booleans (0 and 1 with their words) and categories. Null when it says nothing. */
function readScore(score: JsonObject): Evaluation | null {
  const type = firstText(field(score, 'dataType'))?.toUpperCase();
  const value = score.value;
  const word = firstText(field(score, 'stringValue')) ?? (typeof value === 'string' ? value : undefined);
  // The number of a category is its place in a list, not a mark.
  const number =
    type === 'CATEGORICAL'
      ? null
      : typeof value === 'number'
        ? value
        : typeof value === 'boolean'
          ? Number(value)
          : null;
  const label = type === 'NUMERIC' ? null : (word ?? null);
  const parsed =
    number ??
    (type === 'NUMERIC' && word !== undefined && Number.isFinite(Number(word)) ? Number(word) : null);
  if ((parsed === null || !Number.isFinite(parsed)) && label === null) return null;
  const explanation = firstText(score.comment);
  const source = firstText(score.source);
  return {
    name: firstText(score.name) ?? 'score',
    score: parsed,
    label,
    ...(explanation === undefined ? {} : { explanation }),
    ...(source === 'ANNOTATION' ? { by: 'HUMAN' } : source === undefined ? {} : { by: source }),
    ...(firstText(field(score, 'observationId')) === undefined ? { whole: true } : {}),
  };
}

function readScores(value: unknown, traceId: string | undefined): LooseEvaluation[] {
  const scores = unwrapJson(value);
  return (Array.isArray(scores) ? scores.filter(isObject) : []).flatMap((score) => {
    const evaluation = readScore(score);
    const targets = [field(score, 'observationId'), field(score, 'traceId') ?? traceId]
      .map((id) => firstText(id))
      .filter((id) => id !== undefined);
    return evaluation && targets.length > 0 ? [{ targets, evaluation }] : [];
  });
}

function metadataOf(object: JsonObject): JsonObject {
  const metadata = unwrapJson(object.metadata);
  if (!isObject(metadata)) return {};
  // Langfuse's own OpenTelemetry receiver keeps the attributes inside.
  return { ...(isObject(metadata.attributes) ? metadata.attributes : {}), ...metadata };
}

function identityIn(object: JsonObject): Pick<Span, 'taskId' | 'session' | 'trial'> {
  const { session, ...identity } = identityOf(metadataOf(object));
  const item = firstText(field(object, 'datasetItemId'), field(object, 'experimentItemId'));
  const own = firstText(field(object, 'sessionId')) ?? session;
  return {
    ...identity,
    ...(item === undefined ? {} : { taskId: item }),
    ...(own === undefined ? {} : { session: own }),
  };
}

/** The trace itself: its input and output are those of the outermost step. */
function readTrace(trace: JsonObject, id: string): Span {
  return {
    traceId: id,
    id: `trace:${id}`,
    parentId: null,
    start: timeKey(trace.timestamp ?? field(trace, 'createdAt')),
    kind: 'agent',
    name: firstText(trace.name) ?? '',
    input: lenient(unwrapJson(trace.input), 'user', `trace ${id}: input`),
    output: lenient(unwrapJson(trace.output), 'assistant', `trace ${id}: output`),
    ...identityIn(trace),
  };
}

function readTool(observation: JsonObject, failed: boolean): NonNullable<Span['tool']> {
  const given = unwrapJson(observation.input);
  const inner =
    isObject(given) && isObject(given.args)
      ? given.args
      : isObject(given) && isObject(given.arguments)
        ? given.arguments
        : given;
  const read =
    observation.output === null || observation.output === undefined
      ? null
      : readToolOutput(observation.output);
  const metadata = metadataOf(observation);
  const callId =
    read?.callId ??
    firstText(
      metadata.tool_call_id,
      metadata['gen_ai.tool.call.id'],
      isObject(given) ? given.tool_call_id : undefined,
    );
  return {
    name:
      firstText(metadata['gen_ai.tool.name']) ??
      firstText(observation.name)?.replace(/^execute_tool\s+/, '') ??
      'tool',
    ...(callId === undefined ? {} : { callId }),
    ...(isObject(inner) ? { arguments: readArguments(inner, 'the tool').value } : {}),
    result: read?.text ?? firstText(field(observation, 'statusMessage')) ?? null,
    ...(failed || read?.error ? { error: true } : {}),
  };
}

/** @throws RecordError naming the messages that cannot be read. */
function readObservation(observation: JsonObject, traceId: string): Span {
  const id = firstText(observation.id) ?? '';
  const kind = KINDS.get((firstText(observation.type) ?? '').toUpperCase()) ?? 'other';
  const failed = observation.level === 'ERROR';
  const input = unwrapJson(observation.input);
  const readSide = kind === 'llm' ? readMessages : lenient;
  const speaks = kind === 'llm' || kind === 'agent';
  const parameters = unwrapJson(field(observation, 'modelParameters'));
  const offered = [
    field(observation, 'toolDefinitions'),
    isObject(input) ? input.tools : undefined,
    isObject(parameters) ? parameters.tools : undefined,
  ].find((tools) => tools !== undefined && tools !== null);
  const tools = kind === 'llm' ? readToolSchemas(definitions(offered)) : [];
  const parent = firstText(field(observation, 'parentObservationId'));
  const model = firstText(field(observation, 'providedModelName'), observation.model);
  const said = firstText(field(observation, 'statusMessage'));
  return {
    traceId,
    id,
    parentId: parent ?? `trace:${traceId}`,
    start: timeKey(field(observation, 'startTime')),
    kind,
    name: firstText(observation.name) ?? '',
    input: speaks ? readSide(input, 'user', `observation ${id}: input`) : [],
    output: speaks ? readSide(unwrapJson(observation.output), 'assistant', `observation ${id}: output`) : [],
    ...(tools.length > 0 ? { tools } : {}),
    ...(kind === 'tool' ? { tool: readTool(observation, failed) } : {}),
    ...(failed ? { error: said ?? 'error' } : {}),
    ...(model === undefined ? {} : { model }),
    ...identityIn(observation),
  };
}

/** Tools come as a list, or by their names with the schema as JSON text. */
function definitions(value: unknown): unknown {
  const given = unwrapJson(value);
  if (!isObject(given)) return given;
  return Object.entries(given).map(([name, schema]) => {
    const inner = unwrapJson(schema);
    return isObject(inner) ? { name, ...inner } : { name };
  });
}

const isObservation = (value: unknown): value is JsonObject =>
  isObject(value) &&
  firstText(field(value, 'traceId')) !== undefined &&
  typeof value.type === 'string' &&
  firstText(field(value, 'startTime')) !== undefined;

const isScore = (value: unknown): value is JsonObject =>
  isObject(value) &&
  typeof value.name === 'string' &&
  ('value' in value || field(value, 'stringValue') !== undefined) &&
  firstText(field(value, 'traceId'), field(value, 'observationId')) !== undefined;

const isTrace = (value: unknown): value is JsonObject =>
  isObject(value) &&
  (Array.isArray(value.observations) || isObject(value.trace)
    ? isObject(value.trace) || typeof value.id === 'string'
    : typeof value.id === 'string' &&
      firstText(value.timestamp, field(value, 'createdAt')) !== undefined &&
      ('input' in value || 'output' in value) &&
      ['sessionId', 'session_id', 'userId', 'user_id', 'scores', 'htmlPath', 'public', 'release'].some(
        (key) => key in value,
      ));

/** @throws RecordError for what is no trace, no observation and no score. */
export function readLangfuseRecord(value: unknown): SpanRecord {
  if (isObject(value) && !isTrace(value) && isObservation(value))
    return { spans: [readObservation(value, firstText(field(value, 'traceId'))!)], evaluations: [] };
  if (isScore(value) && !isTrace(value)) return { spans: [], evaluations: readScores([value], undefined) };
  if (!isTrace(value)) throw new RecordError('neither a trace nor an observation nor a score of Langfuse');
  const trace = isObject(value.trace) ? value.trace : value;
  const id = firstText(trace.id);
  if (id === undefined) throw new RecordError('field trace.id is missing');
  const listed = unwrapJson(value.observations ?? trace.observations);
  // Lists of traces hold the ids alone.
  const observations = (Array.isArray(listed) ? listed : []).filter(isObject);
  return {
    spans: [
      readTrace(trace, id),
      ...observations.map((observation) =>
        readObservation(observation, firstText(field(observation, 'traceId')) ?? id),
      ),
    ],
    evaluations: readScores(value.scores ?? trace.scores, id),
  };
}

const FORMAT: SpanFormat = { name: 'langfuse', open: ['data', 'traces'], read: readLangfuseRecord };

const FOLDER = /(^|\/)(observations|scores|traces)(_v\d)?([/_-][^/]*)*\.(jsonl?|ndjson|parquet)$/i;

/**
 * Langfuse (API of version 3): a trace with its observations and scores as the interface and the download of a trace
 * give it, pages of traces, sessions, and exports of observations and scores as rows, in one file or a folder.
 */
export const langfuseImporter: Importer = {
  name: 'langfuse',
  title: 'Langfuse traces, observations and scores',
  matches: ({ kind, keys, records, entries }: SourceSample) => {
    if (kind === 'folder')
      return (
        entries.some((entry) => /(^|\/)observations/i.test(entry) && FOLDER.test(entry)) &&
        entries.some((entry) => /(^|\/)(scores|traces)/i.test(entry))
      );
    // The head of one trace shows its observations.
    if (keys.has('observations') && (keys.has('trace') || keys.has('id'))) return true;
    return records.some((record) => isObservation(record) || isTrace(record));
  },
  read: (path, options) => importSpans(path, options, FORMAT),
};
