import { isObject, type JsonObject, RecordError } from '../parse.js';
import { asText, checkDepth, firstText, unwrapJson } from './spans.js';

/** An event inside a span, or a log record that points at one. */
export interface RawEvent {
  readonly name: string;
  readonly time: unknown;
  readonly attributes: Attributes;
  readonly body?: unknown;
}

/** A span as an OpenTelemetry exporter wrote it: its encoding is undone, its attributes are not interpreted. */
export interface RawSpan {
  readonly traceId: string;
  readonly id: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly start: unknown;
  readonly attributes: Attributes;
  readonly events: readonly RawEvent[];
  /** Message of a status of error; null otherwise. */
  readonly error: string | null;
}

/** A log record, with the span that it belongs to. */
export interface RawLog extends RawEvent {
  readonly traceId: string;
  readonly spanId: string;
}

/**
 * Attributes by their dotted names, whether the exporter wrote them flat (`llm.input_messages.0.message.role`), as
 * nested objects, or as JSON text.
 */
export class Attributes {
  readonly #flat: JsonObject;
  readonly names: readonly string[];
  /** Whether any value is an object, in which dotted names may go on. */
  readonly #nested: boolean;

  constructor(flat: JsonObject) {
    this.#flat = flat;
    this.names = Object.keys(flat);
    this.#nested = this.names.some((name) => isObject(flat[name]));
  }

  /** The value of this very name, flat or nested; undefined when there is none. */
  get(name: string): unknown {
    if (Object.hasOwn(this.#flat, name)) return this.#flat[name];
    if (!this.#nested) return undefined;
    for (let dot = name.indexOf('.'); dot > 0; dot = name.indexOf('.', dot + 1)) {
      const head = name.slice(0, dot);
      const inner = Object.hasOwn(this.#flat, head) ? this.#flat[head] : undefined;
      if (isObject(inner)) return new Attributes(inner).get(name.slice(dot + 1));
    }
    return undefined;
  }

  /** The first of these that is text or a number. */
  text(...names: readonly string[]): string | undefined {
    return firstText(...names.map((name) => this.get(name)));
  }

  number(name: string): number | null {
    const value = this.get(name);
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    return typeof number === 'number' && Number.isFinite(number) ? number : null;
  }

  /** Whether a name begins like this. */
  has(prefix: string): boolean {
    if (this.get(prefix) !== undefined) return true;
    const dotted = `${prefix}.`;
    return this.names.some((name) => name.startsWith(dotted));
  }

  /** The value of this name, JSON text read; else what stands flat below the name, put together: numbers make lists. */
  tree(name: string): unknown {
    const value = unwrapJson(this.get(name));
    if (value !== undefined && value !== null) return unflattenDeep(value, name);
    const prefix = `${name}.`;
    const below = this.names.filter((key) => key.startsWith(prefix));
    if (below.length === 0) return undefined;
    return unflatten(
      below.map((key) => [key.slice(prefix.length), this.#flat[key]]),
      name,
    );
  }
}

interface Branch {
  value?: unknown;
  readonly inner: Map<string, Branch>;
}

/** Most levels of a dotted name. */
const LEVELS = 50;

function unflatten(entries: readonly (readonly [string, unknown])[], field: string): unknown {
  const root: Branch = { inner: new Map() };
  for (const [name, value] of entries) {
    const steps = name.split('.');
    if (steps.length > LEVELS)
      throw new RecordError(`field ${field} has a name of more than ${LEVELS} levels`);
    let branch = root;
    for (const step of steps) {
      let next = branch.inner.get(step);
      if (!next) {
        next = { inner: new Map() };
        branch.inner.set(step, next);
      }
      branch = next;
    }
    branch.value = value;
  }
  return grown(root);
}

function grown({ value, inner }: Branch): unknown {
  if (inner.size === 0) return value;
  const keys = [...inner.keys()];
  if (keys.every((key) => /^\d{1,9}$/.test(key)))
    return keys.sort((a, b) => Number(a) - Number(b)).map((key) => grown(inner.get(key)!));
  const object: { [key: string]: unknown } = Object.create(null);
  for (const key of keys) object[key] = grown(inner.get(key)!);
  return { ...object };
}

/** Dotted names inside lists and objects too, as tables of Phoenix have them (`[{"message.role": "user"}]`). */
function unflattenDeep(value: unknown, field: string, depth = 0): unknown {
  checkDepth(depth, field);
  if (Array.isArray(value)) return value.map((item) => unflattenDeep(item, field, depth + 1));
  if (
    !isObject(value) ||
    !Object.keys(value).some((key) => /^(message|tool_call|tool|message_content)\./.test(key))
  )
    return isObject(value) && isObject(value.message)
      ? { ...value, message: unflattenDeep(value.message, field, depth + 1) }
      : value;
  const tree = unflatten(Object.entries(value), field);
  if (!isObject(tree) || !isObject(tree.message)) return tree;
  return { ...tree, message: unflattenLists(tree.message, field, depth + 1) };
}

function unflattenLists(message: JsonObject, field: string, depth: number): JsonObject {
  const lists = Object.entries(message).map(([key, value]) => [
    key,
    Array.isArray(value) ? value.map((item) => unflattenDeep(item, field, depth)) : value,
  ]);
  return Object.fromEntries(lists) as JsonObject;
}

/** A value of OTLP's JSON encoding (`{"stringValue": …}`); `int64` is text there. */
function anyValue(value: unknown, field: string, depth = 0): unknown {
  if (!isObject(value)) return value;
  // By far most values are texts.
  if (typeof value.stringValue === 'string') return value.stringValue;
  checkDepth(depth, field);
  const plain = value.stringValue ?? value.string_value ?? value.boolValue ?? value.bool_value;
  if (plain !== undefined) return plain;
  const whole = value.intValue ?? value.int_value;
  if (typeof whole === 'string' || typeof whole === 'number')
    return whole !== '' && Number.isSafeInteger(Number(whole)) ? Number(whole) : whole;
  const double = value.doubleValue ?? value.double_value;
  if (double !== undefined) return typeof double === 'string' ? Number(double) : double;
  const array = value.arrayValue ?? value.array_value;
  if (isObject(array)) return listOf(array.values).map((item) => anyValue(item, field, depth + 1));
  const pairs = value.kvlistValue ?? value.kvlist_value;
  if (isObject(pairs)) return { ...keyValues(pairs.values, field, depth + 1) };
  const bytes = value.bytesValue ?? value.bytes_value;
  if (bytes !== undefined) return bytes;
  return Object.keys(value).length === 0 ? undefined : value;
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function keyValues(list: unknown, field: string, depth = 0): JsonObject {
  const object: { [key: string]: unknown } = Object.create(null);
  for (const pair of listOf(list))
    if (isObject(pair) && typeof pair.key === 'string') object[pair.key] = anyValue(pair.value, field, depth);
  return object;
}

/** Attributes as OTLP's list of pairs, as a plain object, or as JSON text of one. */
export function attributesOf(value: unknown, field: string): Attributes {
  if (Array.isArray(value)) return new Attributes(keyValues(value, field));
  const object = unwrapJson(value);
  return new Attributes(isObject(object) ? object : {});
}

/** Ids are hexadecimal in OTLP's JSON; `0x…` in consoles; base64 where a general converter of Protobuf wrote them. */
export function spanId(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return '';
  const text = value.trim();
  if (/^0x[0-9a-f]+$/i.test(text)) return text.slice(2).toLowerCase();
  if (/^[0-9a-f]{16}([0-9a-f]{16})?$/i.test(text)) return /^0+$/.test(text) ? '' : text.toLowerCase();
  if (/^([A-Za-z0-9+/]{22}==|[A-Za-z0-9+/]{11}=)$/.test(text))
    return Buffer.from(text, 'base64').toString('hex');
  return text;
}

function statusError(status: unknown, message: unknown): string | null {
  const said = isObject(status) ? (status.message ?? status.description ?? message) : message;
  const code = isObject(status) ? (status.code ?? status.status_code ?? status.statusCode) : status;
  const failed =
    code === 2 || (typeof code === 'string' && /^(2|STATUS_CODE_ERROR|StatusCode\.ERROR|ERROR)$/i.test(code));
  return failed ? asText(said) || 'error' : null;
}

function readEvent(value: unknown, field: string): RawEvent {
  const event = isObject(value) ? value : {};
  return {
    name: firstText(event.name, event.event_name) ?? '',
    time: event.timeUnixNano ?? event.time_unix_nano ?? event.timestamp ?? event.time,
    attributes: attributesOf(event.attributes, `${field}.attributes`),
  };
}

/** Columns of Phoenix's table of spans: `attributes.llm.model_name`, `context.span_id`. */
function fromColumns(row: JsonObject): JsonObject {
  const attributes: { [key: string]: unknown } = Object.create(null);
  for (const [key, value] of Object.entries(row))
    if (key.startsWith('attributes.') && value !== null) attributes[key.slice('attributes.'.length)] = value;
  return { ...attributes };
}

/**
 * One span in any of the forms in which OpenTelemetry's exporters write it: OTLP, the consoles of the Python and
 * JavaScript SDKs, Phoenix's interface and tables.
 * @throws RecordError when it names no trace.
 */
export function readRawSpan(span: JsonObject, field: string): RawSpan {
  const context = isObject(span.context) ? span.context : isObject(span.spanContext) ? span.spanContext : {};
  const parent = isObject(span.parentSpanContext) ? span.parentSpanContext : {};
  const columns = span.attributes === undefined ? fromColumns(span) : null;
  const traceId = spanId(
    span.traceId ?? span.trace_id ?? context.trace_id ?? context.traceId ?? span['context.trace_id'],
  );
  if (traceId === '') throw new RecordError(`field ${field}.traceId is missing: this is no span`);
  const parentId = spanId(
    span.parentSpanId ?? span.parent_span_id ?? span.parentId ?? span.parent_id ?? parent.spanId,
  );
  return {
    traceId,
    id: spanId(
      span.spanId ?? span.span_id ?? context.span_id ?? context.spanId ?? span['context.span_id'] ?? span.id,
    ),
    parentId: parentId === '' ? null : parentId,
    name: firstText(span.name) ?? '',
    start: startOf(span),
    attributes: columns ? new Attributes(columns) : attributesOf(span.attributes, `${field}.attributes`),
    events: listOf(unwrapJson(span.events)).map((event, i) => readEvent(event, `${field}.events[${i}]`)),
    error: statusError(
      span.status ?? span.status_code ?? span.statusCode,
      span.status_message ?? span.statusMessage,
    ),
  };
}

function startOf(span: JsonObject): unknown {
  const start =
    span.startTimeUnixNano ??
    span.start_time_unix_nano ??
    span.startTime ??
    span.start_time ??
    span.timestamp;
  // JavaScript's [seconds, nanoseconds].
  if (Array.isArray(start) && start.length === 2 && start.every((part) => typeof part === 'number'))
    return `${start[0]}${String(start[1]).padStart(9, '0')}`;
  return start;
}

function readLog(log: JsonObject, field: string): RawLog {
  const attributes = attributesOf(log.attributes, `${field}.attributes`);
  const context = isObject(log.span_context) ? log.span_context : {};
  return {
    traceId: spanId(log.traceId ?? log.trace_id ?? context.trace_id),
    spanId: spanId(log.spanId ?? log.span_id ?? context.span_id),
    name: firstText(log.eventName, log.event_name, attributes.get('event.name')) ?? '',
    time: log.timeUnixNano ?? log.time_unix_nano ?? log.observedTimeUnixNano ?? log.timestamp,
    attributes,
    body: anyValue(log.body, `${field}.body`),
  };
}

export interface RawRecord {
  readonly spans: readonly RawSpan[];
  readonly logs: readonly RawLog[];
}

const LISTS = {
  resourceSpans: 'list',
  resource_spans: 'list',
  batches: 'list',
  resourceLogs: 'list',
  resource_logs: 'list',
  scopeSpans: 'list',
  scope_spans: 'list',
  instrumentationLibrarySpans: 'list',
  scopeLogs: 'list',
  scope_logs: 'list',
  data: 'list',
  traces: 'list',
  spans: 'spans',
  logRecords: 'logs',
  log_records: 'logs',
} as const;

/** Members that hold lists of records, for readers that open an outer object. */
export const OTLP_LISTS = Object.keys(LISTS);

/**
 * All spans and logs in a record: a whole export request, any level of one, a trace with its spans, a single span or
 * log record.
 * @throws RecordError naming the field that is none of these.
 */
export function readOtlp(value: unknown, field = '(record)', depth = 0): RawRecord {
  checkDepth(depth, field);
  const record = isObject(value) ? value : undefined;
  if (!record) throw new RecordError(`field ${field} must be an object`);
  const spans: RawSpan[] = [];
  const logs: RawLog[] = [];
  let known = false;
  for (const [key, kind] of Object.entries(LISTS)) {
    const list = record[key];
    if (!Array.isArray(list)) continue;
    known = true;
    for (const [i, item] of list.entries()) {
      const at = `${field}.${key}[${i}]`;
      if (kind === 'list' || !isObject(item)) {
        const inner = readOtlp(item, at, depth + 1);
        for (const span of inner.spans) spans.push(span);
        for (const log of inner.logs) logs.push(log);
      } else if (kind === 'spans') spans.push(readRawSpan(withTrace(item, record), at));
      else logs.push(readLog(item, at));
    }
  }
  if (known) return { spans, logs };
  if (isObject(record.trace)) return readOtlp(record.trace, `${field}.trace`, depth + 1);
  if (isLog(record)) return { spans, logs: [readLog(record, field)] };
  return { spans: [readRawSpan(record, field)], logs };
}

/** Spans listed under their trace need not repeat its id. */
function withTrace(span: JsonObject, trace: JsonObject): JsonObject {
  const id = trace.traceId ?? trace.trace_id;
  return id === undefined ||
    span.traceId !== undefined ||
    span.trace_id !== undefined ||
    isObject(span.context)
    ? span
    : { ...span, traceId: id };
}

function isLog(record: JsonObject): boolean {
  const has = (...keys: readonly string[]) => keys.some((key) => record[key] !== undefined);
  if (has('startTimeUnixNano', 'start_time_unix_nano', 'start_time', 'startTime')) return false;
  return has('body', 'severityNumber', 'severity_number', 'observedTimeUnixNano', 'eventName', 'event_name');
}
