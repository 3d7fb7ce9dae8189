import { createHash } from 'node:crypto';
import { RecordError } from '../parse.js';
import type { Message, Trajectory } from '../trajectory.js';
import type { TrialCounter } from './record-files.js';
import type { Evaluation, LooseEvaluation, Span } from './spans.js';
import { conversationOf } from './spans-conversation.js';
import { verdictOf } from './spans-outcome.js';

/** What a trace's trajectory depends on beside its spans. */
export interface TraceContext {
  /** The importer's name. */
  readonly source: string;
  readonly passAt: number | undefined;
  /** Evaluations that stood apart from the spans, by what they point at. */
  readonly loose: ReadonlyMap<string, readonly LooseEvaluation[]>;
  readonly trials: TrialCounter;
  /** How many spans of a trace could not be read. */
  readonly damaged?: ReadonlyMap<string, number>;
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** The fullest of the spans of one id: they are sent twice, again or first without and then with what came out. */
const weight = (span: Span) =>
  (span.partial ? 0 : 1000) +
  span.output.length * 2 +
  span.input.length +
  (span.tool?.result ? 1 : 0) +
  (span.evaluations?.length ?? 0);

/** One span out of all that came under its id; messages logged apart are its own where it has none. */
function merged(same: readonly Span[]): Span {
  const span = same.reduce((fullest, other) => (weight(other) > weight(fullest) ? other : fullest));
  const parts = same.filter((other) => other.partial).sort((a, b) => compare(a.start, b.start));
  if (parts.length === 0 || (!span.partial && span.input.length + span.output.length > 0)) return span;
  const finish = span.finish ?? parts.find((part) => part.finish !== undefined)?.finish;
  return {
    ...span,
    kind: span.kind === 'other' ? 'llm' : span.kind,
    input: parts.flatMap((part) => part.input),
    output: parts.flatMap((part) => part.output),
    ...(finish === undefined ? {} : { finish }),
  };
}

/** Spans in order of time, whatever the order in which they came; at one moment the longer history is the later. */
function ordered(spans: readonly Span[]): Span[] {
  const byId = new Map<string, Span[]>();
  for (const [i, span] of spans.entries()) {
    // Spans without an id are all different.
    const id = span.id === '' ? `\0${i}` : span.id;
    const same = byId.get(id);
    if (same) same.push(span);
    else byId.set(id, [span]);
  }
  return [...byId.values()]
    .map(merged)
    .sort((a, b) => compare(a.start, b.start) || a.input.length - b.input.length || compare(a.id, b.id));
}

const speaks = (span: Span) => span.kind !== 'other' || span.input.length + span.output.length > 0;

/** Whether a trace has to do with an agent at all: files of spans hold web requests and database calls too. */
export function isAgentTrace(spans: readonly Span[]): boolean {
  return spans.some(speaks);
}

function evaluationsOf(traceId: string, spans: readonly Span[], loose: TraceContext['loose']): Evaluation[] {
  const ids = new Set(spans.map((span) => span.id));
  const isRoot = (span: Span) => span.parentId === null || !ids.has(span.parentId);
  const own = spans.flatMap((span) =>
    (span.evaluations ?? []).map((evaluation) =>
      isRoot(span) ? { ...evaluation, whole: true } : evaluation,
    ),
  );
  const found = new Map<LooseEvaluation, boolean>();
  for (const target of loose.get(traceId) ?? []) found.set(target, target.evaluation.whole === true);
  for (const span of spans)
    for (const id of [span.id, span.responseId])
      for (const target of (id ? loose.get(id) : undefined) ?? [])
        found.set(
          target,
          found.get(target) || target.evaluation.whole === true || (id === span.id && isRoot(span)),
        );
  return [
    ...own,
    ...[...found].map(([{ evaluation }, whole]) => (whole ? { ...evaluation, whole } : evaluation)),
  ];
}

/** A task's name where nothing names it: the same first request is the same task. */
export function taskByRequest(messages: readonly Message[]): string | undefined {
  const first = messages.find((message) => message.role === 'user' && message.content.trim() !== '');
  if (!first) return undefined;
  return `task-${createHash('sha256').update(first.content!.trim()).digest('hex').slice(0, 12)}`;
}

/** Scores by their name, for reading; the last one counts where a name comes twice. */
function scoresOf(evaluations: readonly Evaluation[]): { readonly [name: string]: number | string } {
  const entries = evaluations.flatMap(({ name, score, label }) => {
    const value = score ?? label;
    return value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

const MOST_METADATA = 1000;
const short = (text: string) => (text.length > MOST_METADATA ? `${text.slice(0, MOST_METADATA)}…` : text);

/**
 * The trajectory that the spans of one trace tell; they may come in any order and twice.
 * The task is the dataset's example, else the session, else the first request of the user.
 * @throws RecordError when the spans carry no messages.
 */
export function trajectoryOf(traceId: string, given: readonly Span[], context: TraceContext): Trajectory {
  const spans = ordered(given);
  const { messages, otherThreads, last } = conversationOf(spans);
  if (messages.length === 0)
    throw new RecordError(
      `trace ${traceId}: its spans carry no messages (was the capture of contents switched on?)`,
    );
  const ids = new Set(spans.map((span) => span.id));
  // A tool without a parent is no outermost step: where it broke, the attempt went on.
  const roots = spans.filter(
    (span) => span.kind !== 'tool' && (span.parentId === null || !ids.has(span.parentId)),
  );
  const first = <K extends keyof Span>(key: K): Span[K] | undefined =>
    (roots.find((span) => span[key] !== undefined) ?? spans.find((span) => span[key] !== undefined))?.[key];
  const session = first('session');
  const taskId = first('taskId') ?? session ?? taskByRequest(messages) ?? traceId;
  const evaluations = evaluationsOf(traceId, spans, context.loose);
  const verdict = verdictOf(evaluations, context.passAt);
  const error = roots.find((span) => span.error !== undefined)?.error;
  const scores = scoresOf(evaluations);
  const lost = context.damaged?.get(traceId);
  const model = last?.model ?? first('model');
  const name = roots.find((span) => span.name !== '')?.name;
  return {
    id: traceId,
    taskId,
    trial: first('trial') ?? context.trials.next(taskId),
    source: context.source,
    messages,
    tools: (last?.tools?.length ? last.tools : spans.find((span) => span.tools?.length)?.tools) ?? [],
    reward: verdict.reward,
    outcome: verdict.outcome,
    termination: last?.finish ?? (error === undefined ? null : 'error'),
    ...(verdict.checks.length > 0 ? { checks: verdict.checks } : {}),
    metadata: {
      ...(verdict.excluded === undefined ? {} : { excluded: verdict.excluded }),
      ...(name === undefined ? {} : { name: short(name) }),
      ...(session === undefined ? {} : { session }),
      ...(model === undefined ? {} : { model }),
      ...(error === undefined ? {} : { error: short(error) }),
      ...(Object.keys(scores).length === 0 ? {} : { scores }),
      ...(last === null ? { messagesFrom: 'steps' } : {}),
      ...(otherThreads > 0 ? { otherThreads } : {}),
      ...(lost === undefined ? {} : { refusedSpans: lost }),
    },
  };
}
