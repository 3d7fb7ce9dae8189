import { statSync } from 'node:fs';
import { guardRecord } from '../store.js';
import type { Message, ToolCall, Trajectory } from '../trajectory.js';
import type { ImporterOptions } from './importer.js';
import { filesUnder, TrialCounter } from './record-files.js';
import { readRecords, refuse } from './records.js';
import type { LooseEvaluation, Span, SpanRecord } from './spans.js';
import { Groups } from './spans-groups.js';
import { isAgentTrace, trajectoryOf } from './spans-trajectory.js';

/** One tracing format: how its records become spans. */
export interface SpanFormat {
  /** As in `--format`. */
  readonly name: string;
  /** Member arrays of an outer object that hold records. */
  readonly open: readonly string[];
  /** @throws RecordError naming the wrong field. */
  read(value: unknown): SpanRecord;
}

/** A span and where it stood. */
interface Placed {
  readonly span: Span;
  /** Index among the files. */
  readonly file: number;
  readonly record: number;
}

const RECORD_FILE = /\.(json|jsonl|ndjson|parquet)$/i;
/** What an object takes beside its texts. */
const SPAN_SIZE = 500;

const addCall = (sum: number, { function: called }: ToolCall) =>
  sum + 100 + JSON.stringify(called.arguments).length;

const sizeOfMessages = (messages: readonly Message[]) =>
  messages.reduce(
    (sum, message) =>
      sum +
      100 +
      (message.content?.length ?? 0) +
      (message.role === 'assistant' ? (message.tool_calls ?? []).reduce(addCall, 0) : 0),
    0,
  );

/** Schemas are shared by the spans that repeat them; on disk they are not. */
const SCHEMA_SIZE = 300;

function sizeOf({ input, output, tool, tools, error }: Span): number {
  const schemas = (tools?.length ?? 0) * SCHEMA_SIZE;
  return (
    SPAN_SIZE +
    sizeOfMessages(input) +
    sizeOfMessages(output) +
    (tool?.result?.length ?? 0) +
    schemas +
    (error?.length ?? 0)
  );
}

export interface SpanImportSettings {
  /** Characters of text in the spans that stay in memory while traces are put together. */
  readonly held?: number;
}

/**
 * Trajectories of a file of spans, or of a folder of such files, one for each trace, in the order in which the traces
 * begin. The spans of a trace may stand anywhere. Memory: a record, the spans of a trace, 16 Mi characters of waiting
 * spans (beyond that they wait in a temporary file) and about 200 bytes for each trace. Traces without any step of an
 * agent (web requests, database calls) are passed over.
 * @throws InvalidRecordError at a bad record, or a trace without messages, unless `onInvalid` is given;
 *   JsonShapeError for a cut-off file.
 */
export async function* importSpans(
  path: string,
  options: ImporterOptions,
  format: SpanFormat,
  { held }: SpanImportSettings = {},
): AsyncGenerator<Trajectory> {
  const files = statSync(path).isDirectory()
    ? [...filesUnder(path, (name) => RECORD_FILE.test(name))]
    : [path];
  const groups = new Groups<Placed>(held);
  const loose = new Map<string, LooseEvaluation[]>();
  const damaged = new Map<string, number>();
  try {
    for (const [file, name] of files.entries())
      for await (const record of readRecords(name, { ...options, open: format.open })) {
        const read = guardRecord(name, record.number, () => format.read(record.parse()), options);
        for (const span of read?.spans ?? [])
          groups.add(span.traceId, { span, file, record: record.number }, sizeOf(span));
        for (const { traceId, reason } of read?.refused ?? []) {
          refuse(name, record.number, `trace ${traceId}: ${reason}`, options);
          damaged.set(traceId, (damaged.get(traceId) ?? 0) + 1);
        }
        for (const evaluation of read?.evaluations ?? [])
          for (const target of evaluation.targets) {
            const there = loose.get(target);
            if (there) there.push(evaluation);
            else loose.set(target, [evaluation]);
          }
      }
    const trials = new TrialCounter();
    const context = { source: format.name, passAt: options.passAt, loose, trials, damaged };
    for (const { key, items } of groups.take()) {
      const spans = items.map(({ span }) => span);
      if (!isAgentTrace(spans)) continue;
      const { file, record } = items[0]!;
      const trajectory = guardRecord(files[file]!, record, () => trajectoryOf(key, spans, context), options);
      if (trajectory) yield trajectory;
    }
  } finally {
    groups.close();
  }
}
