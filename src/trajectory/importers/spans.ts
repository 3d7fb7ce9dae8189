import { type JsonObject, RecordError } from '../parse.js';
import type { Message, ToolSchema } from '../trajectory.js';

/** What someone or something thought of a trace or of a step of it. */
export interface Evaluation {
  readonly name: string;
  readonly score: number | null;
  readonly label: string | null;
  readonly explanation?: string;
  /** Who judged, in the source's own word: `HUMAN`, `LLM`, `CODE`, … */
  readonly by?: string;
  /** Given to a whole trace, not to a step of it. */
  readonly whole?: boolean;
}

/** One execution of a tool as its span tells it. */
export interface ToolRun {
  readonly name: string;
  readonly callId?: string;
  readonly arguments?: JsonObject;
  /** Null: not captured. */
  readonly result: string | null;
  readonly error?: boolean;
}

/**
 * A span of any of the tracing formats, reduced to what a trajectory needs. It is plain JSON, so that spans of large
 * files can wait on disk until their trace is put together.
 */
export interface Span {
  readonly traceId: string;
  /** Unique in the trace; empty where the source has none. */
  readonly id: string;
  readonly parentId: string | null;
  /** Sorts by time as text (`timeKey`); empty: unknown. */
  readonly start: string;
  /** `llm`: one request to a model; `tool`: one execution; `agent`: a step around them; `other`: anything else. */
  readonly kind: 'llm' | 'tool' | 'agent' | 'other';
  readonly name: string;
  /** Messages shown to the model, or given to the agent. */
  readonly input: readonly Message[];
  /** What came out; the first choice where there are several. */
  readonly output: readonly Message[];
  readonly tools?: readonly ToolSchema[];
  readonly tool?: ToolRun;
  /** True for what a log record tells of the span of this id: it adds to the span and is none. */
  readonly partial?: boolean;
  /** Why the step broke. */
  readonly error?: string;
  /** Why the model stopped. */
  readonly finish?: string;
  readonly evaluations?: readonly Evaluation[];
  /** Id of the task or dataset example that this trace is an attempt at. */
  readonly taskId?: string;
  /** Which attempt at the task, where the source counts them. */
  readonly trial?: number;
  readonly session?: string;
  /** Id of the model's response, by which evaluations may point at it. */
  readonly responseId?: string;
  readonly model?: string;
}

/** An evaluation on its own, pointing at a trace, a span or a model's response. */
export interface LooseEvaluation {
  /** Ids it points at, the surest first. */
  readonly targets: readonly string[];
  readonly evaluation: Evaluation;
}

/** What a record of a tracing format holds. */
export interface SpanRecord {
  readonly spans: readonly Span[];
  readonly evaluations: readonly LooseEvaluation[];
  /** Spans of the record that cannot be read, and why. */
  readonly refused?: readonly { readonly traceId: string; readonly reason: string }[];
}

const NANOSECONDS = 20;
const DATE = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?\d*\s*(Z|[+-]\d{2}:?\d{2})?$/i;
/** The time stamps inside LangSmith's `dotted_order`. */
const COMPACT_DATE = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{1,9})?Z/;

function fromDate(day: string, time: string, fraction: string, zone: string): string {
  const offset =
    zone === '' || /^z$/i.test(zone)
      ? 'Z'
      : zone.includes(':')
        ? zone
        : `${zone.slice(0, 3)}:${zone.slice(3)}`;
  const milliseconds = Date.parse(`${day}T${time}${offset}`);
  if (!Number.isFinite(milliseconds) || milliseconds < 0) return '';
  return `${milliseconds / 1000}${fraction.padEnd(9, '0')}`.padStart(NANOSECONDS, '0');
}

/**
 * A moment as text that sorts by time: nanoseconds since 1970, 20 digits. Takes ISO 8601 (without a zone: UTC), and
 * whole numbers of seconds, milliseconds, microseconds or nanoseconds, told apart by their size. Anything else: ''.
 */
export function timeKey(value: unknown): string {
  if (typeof value === 'number')
    return Number.isFinite(value) && value > 0
      ? timeKey(String(Math.round(value < 1e11 ? value * 1000 : value)))
      : '';
  if (typeof value !== 'string') return '';
  const text = value.trim();
  if (/^\d{9,20}$/.test(text)) {
    const digits = text.replace(/^0+/, '');
    // 10 digits are seconds of our time, 13 milliseconds, 16 microseconds, 19 nanoseconds.
    const scale = digits.length <= 11 ? 9 : digits.length <= 14 ? 6 : digits.length <= 17 ? 3 : 0;
    return (digits + '0'.repeat(scale)).padStart(NANOSECONDS, '0');
  }
  const date = DATE.exec(text);
  if (date) return fromDate(date[1]!, date[2]!, date[3] ?? '', date[4] ?? '');
  const compact = COMPACT_DATE.exec(text);
  if (!compact) return '';
  const [, year, month, day, hour, minute, second, fraction] = compact;
  return fromDate(`${year}-${month}-${day}`, `${hour}:${minute}:${second}`, fraction ?? '', 'Z');
}

/** Deepest nesting that is decoded; what is deeper is no log of an agent. */
const DEEPEST = 100;

/** @throws RecordError beyond the deepest nesting that is decoded. */
export function checkDepth(depth: number, field: string): void {
  if (depth > DEEPEST) throw new RecordError(`field ${field} is nested deeper than ${DEEPEST} levels`);
}

/** A value that may be JSON written as text, as many exporters do; plain text comes back as it is. */
export function unwrapJson(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{"]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** A value as text: text as it is, nothing as '', the rest as JSON. */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : JSON.stringify(value);
}

/** The first of some values that is a text with something in it, or a number. */
export function firstText(...values: readonly unknown[]): string | undefined {
  for (const value of values) {
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  }
  return undefined;
}

const TASK_KEYS = [
  'task_id',
  'taskId',
  'task.id',
  'example_id',
  'exampleId',
  'reference_example_id',
  'dataset_item_id',
  'datasetItemId',
  'dataset.item.id',
  'dataset_example_id',
  'dataset.example.id',
  'langfuse.experiment.item.id',
  'experiment_item_id',
  'instance_id',
] as const;
const SESSION_KEYS = ['session_id', 'sessionId', 'session.id', 'thread_id', 'conversation_id'] as const;
const TRIAL_KEYS = ['trial', 'attempt', 'repetition_number'] as const;

/** What metadata tell of the task, in the names that are common for it. */
export function identityOf(metadata: JsonObject): Pick<Span, 'taskId' | 'session' | 'trial'> {
  const taskId = firstText(...TASK_KEYS.map((key) => metadata[key]));
  const session = firstText(...SESSION_KEYS.map((key) => metadata[key]));
  const trial = TRIAL_KEYS.map((key) => metadata[key]).find(
    (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0,
  );
  return {
    ...(taskId === undefined ? {} : { taskId }),
    ...(session === undefined ? {} : { session }),
    ...(trial === undefined ? {} : { trial: trial as number }),
  };
}
