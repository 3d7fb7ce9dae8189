import { isObject, type JsonObject, RecordError } from '../parse.js';
import { reasonOf } from '../store.js';
import type { Importer, SourceSample } from './importer.js';
import { isOpenInferenceSpan, readAnnotation, readOpenInferenceSpan } from './openinference-spans.js';
import { isAiSdkSpan, readAiSdkSpan } from './otel-ai-sdk.js';
import {
  isGenAiSpan,
  readEvaluation,
  readGenAiLog,
  readGenAiSpan,
  readLooseEvaluation,
} from './otel-spans.js';
import { OTLP_LISTS, type RawRecord, type RawSpan, readOtlp, spanId } from './otlp.js';
import { firstText, type Span, type SpanRecord, timeKey } from './spans.js';
import { importSpans, type SpanFormat } from './spans-import.js';

/** A span read by the convention that it follows. @throws RecordError naming the message that cannot be read. */
function readSpan(raw: RawSpan): Span {
  const field = `span ${raw.id || raw.name}`;
  if (isOpenInferenceSpan(raw)) return readOpenInferenceSpan(raw, field);
  if (isAiSdkSpan(raw)) return readAiSdkSpan(raw, field);
  return isGenAiSpan(raw) ? readGenAiSpan(raw, field) : readOtherSpan(raw);
}

/** A span of no convention that is known here: it only tells the tree and how the whole ended. */
function readOtherSpan(raw: RawSpan): Span {
  const evaluations = raw.events.flatMap((event) =>
    event.name === 'gen_ai.evaluation.result' ? (readEvaluation(event.attributes) ?? []) : [],
  );
  return {
    traceId: raw.traceId,
    id: raw.id,
    parentId: raw.parentId,
    start: timeKey(raw.start),
    kind: 'other',
    name: raw.name,
    input: [],
    output: [],
    ...(raw.error === null ? {} : { error: raw.error }),
    ...(evaluations.length > 0 ? { evaluations } : {}),
  };
}

/** A row of Phoenix's annotations: `{span_id or trace_id, name, annotator_kind, result: {label, score}}`. */
function readAnnotationRow(row: JsonObject): SpanRecord | null {
  const target = spanId(row.span_id ?? row.trace_id);
  if (target === '' || row.start_time !== undefined) return null;
  const result = isObject(row.result)
    ? row.result
    : row.score !== undefined || row.label !== undefined
      ? row
      : null;
  if (!result || (row.name === undefined && row.annotator_kind === undefined)) return null;
  const read = readAnnotation({ ...row, ...result });
  if (!read) return { spans: [], evaluations: [] };
  const evaluation = row.span_id === undefined ? { ...read, whole: true } : read;
  return { spans: [], evaluations: [{ targets: [target], evaluation }] };
}

/**
 * Spans and evaluations of one record of OpenTelemetry data, each span read by the convention that it follows.
 * @throws RecordError naming the field that is wrong.
 */
export function readSpanRecord(value: unknown): SpanRecord {
  const annotation = isObject(value) ? readAnnotationRow(value) : null;
  if (annotation) return annotation;
  const { spans: raws, logs }: RawRecord = readOtlp(value);
  const spans: Span[] = [];
  const evaluations: SpanRecord['evaluations'][number][] = [];
  const refused: NonNullable<SpanRecord['refused']>[number][] = [];
  for (const raw of raws) {
    const evaluation = readLooseEvaluation(raw.name, raw.attributes, raw.parentId ?? '', raw.traceId);
    if (evaluation) {
      evaluations.push(evaluation);
      continue;
    }
    try {
      spans.push(readSpan(raw));
    } catch (error) {
      // One request may carry the spans of many traces: only the one that cannot be read is lost.
      if (!(error instanceof RecordError || error instanceof RangeError)) throw error;
      refused.push({ traceId: raw.traceId, reason: reasonOf(error) });
    }
  }
  for (const log of logs) {
    const evaluation = readLooseEvaluation(log.name, log.attributes, log.spanId, log.traceId);
    const part = evaluation ? null : readGenAiLog(log, `log ${log.name}`);
    if (evaluation) evaluations.push(evaluation);
    if (part) spans.push(part);
  }
  return { spans, evaluations, ...(refused.length > 0 ? { refused } : {}) };
}

/** The first spans of a sample, as far as they can be read. */
export function sampledSpans({ records }: SourceSample): RawSpan[] {
  return records.flatMap((record) => {
    try {
      return isObject(record) ? readOtlp(record).spans : [];
    } catch (error) {
      if (error instanceof RecordError || error instanceof RangeError) return [];
      throw error;
    }
  });
}

const looksLikeSpan = (record: unknown): boolean =>
  isObject(record) &&
  ((firstText(record.traceId, record.trace_id) !== undefined &&
    (record.spanId ?? record.span_id) !== undefined) ||
    (isObject(record.context) && record.context.trace_id !== undefined) ||
    record['context.trace_id'] !== undefined);

/** Whether the sample holds OpenTelemetry data of any kind. */
export function isOtlp({ keys, records }: SourceSample): boolean {
  const exports = ['resourceSpans', 'resource_spans', 'resourceLogs', 'resource_logs'];
  if (exports.some((key) => keys.has(key))) return true;
  return records.some(
    (record) =>
      looksLikeSpan(record) ||
      (isObject(record) && ['scopeSpans', 'scope_spans'].some((key) => Array.isArray(record[key]))),
  );
}

const FORMAT: SpanFormat = { name: 'otel', open: OTLP_LISTS, read: readSpanRecord };

/**
 * OpenTelemetry spans of generative AI (semantic conventions 1.27 to 1.41, GenAI conventions 0.1.0) as the exporters
 * write them: OTLP's JSON, one request or one span in a line, the SDKs' consoles.
 */
export const otelImporter: Importer = {
  name: 'otel',
  title: 'OpenTelemetry GenAI spans (OTLP JSON or JSONL with gen_ai.* attributes or events)',
  matches: (sample) => isOtlp(sample) && !isOpenInference(sample),
  read: (path, options) => importSpans(path, options, FORMAT),
};

/** Whether the sample's spans follow OpenInference. */
export function isOpenInference(sample: SourceSample): boolean {
  return isOtlp(sample) && sampledSpans(sample).some(isOpenInferenceSpan);
}
