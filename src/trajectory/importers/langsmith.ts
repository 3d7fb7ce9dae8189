import { isObject, type JsonObject, RecordError } from '../parse.js';
import type { Importer, SourceSample } from './importer.js';
import {
  asText,
  checkDepth,
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

const KINDS: ReadonlyMap<string, Span['kind']> = new Map([
  ['llm', 'llm'],
  ['chat_model', 'llm'],
  ['tool', 'tool'],
  ['chain', 'agent'],
  ['agent', 'agent'],
]);

/** Feedback as its rows have it; null when it says nothing. */
function readFeedback(row: JsonObject): Evaluation | null {
  const score =
    typeof row.score === 'number' ? row.score : typeof row.score === 'boolean' ? Number(row.score) : null;
  const label = firstText(row.value) ?? (typeof row.value === 'boolean' ? String(row.value) : null);
  if (score === null && label === null) return null;
  const source = isObject(row.feedback_source) ? firstText(row.feedback_source.type) : undefined;
  const explanation = firstText(row.comment);
  return {
    name: firstText(row.key) ?? 'feedback',
    score,
    label,
    ...(explanation === undefined ? {} : { explanation }),
    ...(source === 'app' ? { by: 'HUMAN' } : source === undefined ? {} : { by: source }),
  };
}

/** `feedback_stats`: how often each key was given, its mean, and how often each word was. */
function readStats(stats: unknown): Evaluation[] {
  if (!isObject(stats)) return [];
  return Object.entries(stats).flatMap(([name, value]): Evaluation[] => {
    if (!isObject(value)) return [];
    const score = typeof value.avg === 'number' && Number.isFinite(value.avg) ? value.avg : null;
    const words = isObject(value.values) ? Object.keys(value.values) : [];
    const label = words.length === 1 ? words[0]! : null;
    return score === null && label === null ? [] : [{ name, score, label }];
  });
}

function evaluationsOf(run: JsonObject): Evaluation[] {
  const rows = unwrapJson(run.feedback);
  const listed = (Array.isArray(rows) ? rows : []).flatMap((row) =>
    isObject(row) ? (readFeedback(row) ?? []) : [],
  );
  // The statistics sum up the same feedback.
  return listed.length > 0 ? listed : readStats(unwrapJson(run.feedback_stats));
}

/** The first id in `dotted_order` is the trace's. */
function traceOf(run: JsonObject, inherited: string | undefined): string | undefined {
  const order = firstText(run.dotted_order)?.split('.')[0];
  const fromOrder = order?.includes('Z') ? order.slice(order.indexOf('Z') + 1) : undefined;
  const parent = firstText(run.parent_run_id, run.parentRunId);
  return (
    firstText(run.trace_id, run.traceId) ??
    inherited ??
    fromOrder ??
    (parent === undefined ? idOf(run) : undefined)
  );
}

const idOf = (run: JsonObject) => firstText(run.id, run.run_id);

function finishOf(outputs: unknown): string | undefined {
  if (!isObject(outputs)) return undefined;
  const generation = [outputs.generations].flat(2)[0];
  const choice = Array.isArray(outputs.choices) ? outputs.choices[0] : undefined;
  const info = isObject(generation) && isObject(generation.generation_info) ? generation.generation_info : {};
  const metadata = isObject(outputs.response_metadata) ? outputs.response_metadata : {};
  return firstText(
    info.finish_reason,
    info.stop_reason,
    isObject(choice) ? choice.finish_reason : undefined,
    metadata.finish_reason,
    outputs.stop_reason,
  );
}

function toolOf(run: JsonObject, inputs: unknown, outputs: unknown): NonNullable<Span['tool']> {
  const only = isObject(inputs) && Object.keys(inputs).length === 1 ? unwrapJson(inputs.input) : undefined;
  const given = isObject(only) ? only : typeof only === 'string' ? undefined : inputs;
  const read = outputs === null || outputs === undefined ? null : readToolOutput(outputs);
  const error = firstText(run.error);
  const callId = firstText(isObject(inputs) ? inputs.tool_call_id : undefined) ?? read?.callId;
  return {
    name: firstText(run.name) ?? 'tool',
    ...(callId === undefined ? {} : { callId }),
    ...(isObject(given) ? { arguments: readArguments(given, 'the tool').value } : {}),
    result: read?.text ?? error ?? null,
    ...(error !== undefined || read?.error ? { error: true } : {}),
  };
}

/** One run and the runs nested in it. @throws RecordError naming the run that cannot be read. */
function readRuns(run: JsonObject, field: string, inherited: string | undefined, depth: number): Span[] {
  checkDepth(depth, field);
  const id = idOf(run);
  if (id === undefined) throw new RecordError(`field ${field}.id is missing: this is no run`);
  const traceId = traceOf(run, inherited);
  if (traceId === undefined)
    throw new RecordError(
      `run ${id} has a parent, but neither trace_id nor dotted_order tells its trace; export one of them`,
    );
  const kind = KINDS.get(firstText(run.run_type) ?? '') ?? 'other';
  const [inputs, outputs] = [unwrapJson(run.inputs), unwrapJson(run.outputs)];
  const extra = unwrapJson(run.extra);
  const outer = isObject(extra) ? extra : {};
  const metadata = {
    ...(isObject(outer.metadata) ? outer.metadata : {}),
    ...(isObject(run.metadata) ? run.metadata : {}),
  };
  const invocation = isObject(outer.invocation_params) ? outer.invocation_params : {};
  const tools =
    kind === 'llm'
      ? readToolSchemas(
          invocation.tools ?? (isObject(inputs) ? inputs.tools : undefined) ?? invocation.functions,
        )
      : [];
  const readSide = kind === 'llm' ? readMessages : lenient;
  const speaks = kind === 'llm' || kind === 'agent';
  const evaluations = evaluationsOf(run);
  const error = firstText(run.error);
  const finish = kind === 'llm' ? finishOf(outputs) : undefined;
  const model = firstText(metadata.ls_model_name, invocation.model, invocation.model_name);
  const { taskId, session, trial } = identityOf(metadata);
  const example = firstText(run.reference_example_id) ?? taskId;
  const children = unwrapJson(run.child_runs);
  const span: Span = {
    traceId,
    id,
    parentId: firstText(run.parent_run_id, run.parentRunId) ?? null,
    start: timeKey(run.start_time ?? firstText(run.dotted_order)?.split('.').at(-1)),
    kind,
    name: firstText(run.name) ?? '',
    input: speaks ? readSide(inputs, 'user', `run ${id}: inputs`) : [],
    output: speaks ? readSide(outputs, 'assistant', `run ${id}: outputs`) : [],
    ...(tools.length > 0 ? { tools } : {}),
    ...(kind === 'tool' ? { tool: toolOf(run, inputs, outputs) } : {}),
    ...(error === undefined ? {} : { error: asText(error).split('\n')[0]! }),
    ...(finish === undefined ? {} : { finish }),
    ...(evaluations.length > 0 ? { evaluations } : {}),
    ...(model === undefined ? {} : { model }),
    ...(example === undefined ? {} : { taskId: example }),
    ...(session === undefined ? {} : { session }),
    ...(trial === undefined ? {} : { trial }),
  };
  const inner = Array.isArray(children) ? children.filter(isObject) : [];
  const nested = inner.flatMap((child, i) =>
    readRuns({ parent_run_id: id, ...child }, `${field}.child_runs[${i}]`, traceId, depth + 1),
  );
  return [span, ...nested];
}

const isRun = (value: unknown): value is JsonObject =>
  isObject(value) &&
  typeof value.run_type === 'string' &&
  ['inputs', 'outputs', 'trace_id', 'parent_run_id', 'dotted_order', 'child_runs'].some(
    (key) => key in value,
  );

const isFeedback = (value: unknown): value is JsonObject =>
  isObject(value) &&
  typeof value.key === 'string' &&
  typeof value.run_id === 'string' &&
  ('score' in value || 'value' in value);

/** @throws RecordError for what is neither a run nor feedback. */
export function readLangSmithRecord(value: unknown): SpanRecord {
  if (isFeedback(value)) {
    const evaluation = readFeedback(value);
    const targets = [firstText(value.run_id), firstText(value.trace_id)].filter((id) => id !== undefined);
    const loose: LooseEvaluation[] = evaluation ? [{ targets, evaluation }] : [];
    return { spans: [], evaluations: loose };
  }
  // A trace with the list of its runs.
  if (isObject(value) && Array.isArray(value.runs))
    return {
      spans: value.runs
        .filter(isObject)
        .flatMap((run, i) => readRuns(run, `runs[${i}]`, firstText(value.trace_id), 1)),
      evaluations: [],
    };
  if (!isObject(value) || typeof value.run_type !== 'string')
    throw new RecordError('field run_type is missing: this is no run of LangSmith');
  return { spans: readRuns(value, '(record)', undefined, 0), evaluations: [] };
}

const FORMAT: SpanFormat = { name: 'langsmith', open: ['runs', 'traces', 'data'], read: readLangSmithRecord };

/**
 * Runs as LangSmith's SDK (`Run` of its schemas, 0.4), its interface and its bulk exports give them: one run in a
 * record, or a root run with `child_runs` inside. Messages in the forms of LangChain and of the model providers;
 * verdicts from `feedback_stats`, `feedback`, or rows of feedback in the same file.
 */
export const langSmithImporter: Importer = {
  name: 'langsmith',
  title: 'LangSmith runs (run_type, inputs, outputs, trace_id) with feedback',
  matches: ({ records }: SourceSample) =>
    records.some(
      (record) =>
        isRun(record) || (isObject(record) && Array.isArray(record.runs) && record.runs.some(isRun)),
    ),
  read: (path, options) => importSpans(path, options, FORMAT),
};
