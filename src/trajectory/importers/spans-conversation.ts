import type { AssistantMessage, Message, ToolMessage } from '../trajectory.js';
import type { Span, ToolRun } from './spans.js';

/** What a message says, without ids, thinking and white space at its ends: the same turn told by two spans is equal. */
function keyOf(message: Message): string {
  const text = (message.content ?? '').trim();
  if (message.role !== 'assistant') return `${message.role}\n${text}`;
  const calls = (message.tool_calls ?? []).map((call) => [
    call.function.name,
    sorted(call.function.arguments),
  ]);
  return `assistant\n${text}\n${JSON.stringify(calls)}`;
}

/** The object with its keys in order, so that equal arguments are equal text. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([key, inner]) => [key, sorted(inner)]);
}

/** A conversation as far as one span has told it. */
interface Thread {
  readonly messages: readonly Message[];
  readonly keys: readonly string[];
  /** The span that told it last. */
  readonly span: Span;
}

function startsWith(keys: readonly string[], prefix: readonly string[]): boolean {
  return prefix.length <= keys.length && prefix.every((key, i) => keys[i] === key);
}

/** How many messages at the end of `before` are those at the start of `after`; as many as possible. */
function overlapOf(before: readonly string[], after: readonly string[]): number {
  for (let from = Math.max(0, before.length - after.length); from < before.length; from++) {
    let at = from;
    while (at < before.length && before[at] === after[at - from]) at++;
    if (at === before.length) return before.length - from;
  }
  return 0;
}

/** The thread that a history goes on from with all that was said in it: the longest of them. -1: none. */
function continued(threads: readonly Thread[], history: readonly string[]): number {
  let place = -1;
  for (const [i, { keys }] of threads.entries())
    if (startsWith(history, keys) && (place < 0 || keys.length > threads[place]!.keys.length)) place = i;
  return place;
}

/** Whether all of `input` are results of calls that the last turn of `messages` made. */
function answersCalls(messages: readonly Message[], input: readonly Message[]): boolean {
  const last = messages.findLastIndex((message) => message.role === 'assistant');
  if (last < 0 || input.length === 0) return false;
  const ids = new Set((messages[last] as AssistantMessage).tool_calls?.map((call) => call.id));
  return input.every(
    (message) => message.role === 'tool' && message.tool_call_id !== '' && ids.has(message.tool_call_id),
  );
}

/** The messages of a span, output last; what the output repeats of the input comes once. */
function toldBy(span: Span): { readonly input: readonly Message[]; readonly all: readonly Message[] } {
  const { input, output } = span;
  const [before, after] = [input.map(keyOf), output.map(keyOf)];
  if (input.length > 0 && startsWith(after, before)) return { input, all: output };
  return { input, all: [...input, ...output] };
}

/** Longest histories are compared with each thread; a trace of more threads than this is no one agent's. */
const MOST_THREADS = 64;

/**
 * Threads of a trace: each request to a model tells its history and its answer. A request whose history goes on from
 * an earlier thread continues it; where only the newest messages were sent or kept (a window, a server-side state) the
 * earlier ones are put in front; everything else (a sub-agent, a second try) begins a thread of its own.
 */
function threadsOf(spans: readonly Span[]): Thread[] {
  const threads: Thread[] = [];
  for (const span of spans) {
    const { input, all } = toldBy(span);
    if (all.length === 0) continue;
    const keys = all.map(keyOf);
    const history = keys.slice(0, input.length);
    const system = input[0]?.role === 'system' ? 1 : 0;
    let next: Thread = { messages: all, keys, span };
    let place = continued(threads, history);
    if (place < 0) {
      const recent = history.slice(system);
      let longest = 0;
      for (const [i, thread] of threads.entries()) {
        // The whole of a thread at the start was found above; here its end goes on in this history.
        const overlap = overlapOf(thread.keys, recent);
        const answered = overlap === 0 && answersCalls(thread.messages, input.slice(system)) ? 0.5 : 0;
        if (Math.max(overlap, answered) <= longest) continue;
        longest = Math.max(overlap, answered);
        place = i;
        const from = system + Math.floor(longest);
        next = {
          messages: [...thread.messages, ...all.slice(from)],
          keys: [...thread.keys, ...keys.slice(from)],
          span,
        };
      }
    }
    if (place >= 0) threads[place] = next;
    else if (threads.length < MOST_THREADS) threads.push(next);
    else {
      const shortest = threads.reduce(
        (least, thread, i) => (thread.keys.length < threads[least]!.keys.length ? i : least),
        0,
      );
      if (threads[shortest]!.keys.length <= next.keys.length) threads[shortest] = next;
    }
  }
  return threads;
}

const callsIn = ({ messages }: Thread) =>
  messages.reduce(
    (sum, message) => sum + (message.role === 'assistant' ? (message.tool_calls?.length ?? 0) : 0),
    0,
  );

/** Whether `a` is more likely the agent's own conversation: longer, then with more calls, then told later. */
function longer(a: Thread, b: Thread): boolean {
  if (a.keys.length !== b.keys.length) return a.keys.length > b.keys.length;
  const [inA, inB] = [callsIn(a), callsIn(b)];
  return inA === inB || inA > inB;
}

/**
 * Results of tools that the messages lack, taken from the tools' own spans: by the id of the call, else the first
 * unused execution of this tool with equal arguments, else (arguments not captured) the first unused one of this tool.
 * Executions that the messages tell too mark their result as an error where the span broke.
 */
export function fillResults(messages: readonly Message[], runs: readonly ToolRun[]): Message[] {
  const unused = new Set(runs);
  const told = new Set(
    messages.flatMap((message) =>
      message.role === 'tool' && message.tool_call_id !== '' ? [message.tool_call_id] : [],
    ),
  );
  const runOf = (id: string, name: string, given: unknown, exact: boolean): ToolRun | undefined => {
    const wanted = JSON.stringify(sorted(given));
    const named = (run: ToolRun) => run.name === name && (run.callId === undefined || id === '');
    const rules = [
      (run: ToolRun) => id !== '' && run.callId === id,
      (run: ToolRun) =>
        named(run) && run.arguments !== undefined && JSON.stringify(sorted(run.arguments)) === wanted,
      (run: ToolRun) => !exact && named(run) && run.arguments === undefined,
    ];
    for (const rule of rules) for (const run of unused) if (rule(run)) return run;
    return undefined;
  };
  const filled: Message[] = [];
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i]!;
    filled.push(message);
    if (message.role !== 'assistant' || !message.tool_calls) continue;
    const results: ToolMessage[] = [];
    while (messages[i + 1]?.role === 'tool') results.push(messages[++i] as ToolMessage);
    // Results without ids answer the calls in their order.
    const nameless = results.filter((result) => result.tool_call_id === '');
    for (const call of message.tool_calls) {
      const byId = results.findIndex((result) => call.id !== '' && result.tool_call_id === call.id);
      const own = byId >= 0 ? byId : results.indexOf(nameless.shift()!);
      const run = runOf(call.id, call.function.name, call.function.arguments, own >= 0);
      if (run) unused.delete(run);
      if (own >= 0) {
        if (run?.error && !results[own]!.error) results[own] = { ...results[own]!, error: true };
        continue;
      }
      if (run && run.result !== null && !told.has(call.id || '\0'))
        results.push({
          role: 'tool',
          content: run.result,
          tool_call_id: call.id,
          name: run.name,
          ...(run.error ? { error: true } : {}),
        });
    }
    filled.push(...results);
  }
  return filled;
}

/** A conversation put together, and what there was beside it. */
export interface Conversation {
  readonly messages: readonly Message[];
  /** Requests of other threads: sub-agents, judges, simulated users. */
  readonly otherThreads: number;
  /** The span that told it last; null where it had to be made from inputs and outputs of steps. */
  readonly last: Span | null;
}

/** Where no request to a model was captured: what went into the outermost step, the tools' executions, what came out. */
function fromSteps(spans: readonly Span[], runs: readonly ToolRun[]): Message[] {
  const ids = new Set(spans.map((span) => span.id));
  const outer =
    spans.find(
      (span) =>
        (span.parentId === null || !ids.has(span.parentId)) &&
        span.kind !== 'tool' &&
        span.input.length + span.output.length > 0,
    ) ?? spans.find((span) => span.kind !== 'tool' && span.input.length + span.output.length > 0);
  if (!outer) return [];
  const { all } = toldBy(outer);
  const told = all.some(
    (message) => message.role === 'tool' || (message.role === 'assistant' && message.tool_calls),
  );
  if (told) return fillResults(all, runs);
  const at = outer.output.length > 0 && all.at(-1)?.role === 'assistant' ? all.length - 1 : all.length;
  const made = runs.flatMap((run, i): Message[] => {
    const id = run.callId ?? `call-${i + 1}`;
    const call = {
      id,
      type: 'function',
      function: { name: run.name, arguments: run.arguments ?? {} },
    } as const;
    return [
      { role: 'assistant', content: null, tool_calls: [call] },
      {
        role: 'tool',
        content: run.result ?? '',
        tool_call_id: id,
        name: run.name,
        ...(run.error ? { error: true } : {}),
      },
    ];
  });
  return [...all.slice(0, at), ...made, ...all.slice(at)];
}

/**
 * The conversation that a trace's spans tell, in order of time. Every request to a model repeats what was said before:
 * the longest consistent history, with the answer at its end, is the agent's own; no message comes twice. Results that
 * the messages lack are filled in from the tools' spans.
 */
export function conversationOf(spans: readonly Span[]): Conversation {
  const runs = spans.flatMap((span) => (span.tool ? [span.tool] : []));
  const threads = threadsOf(spans.filter((span) => span.kind === 'llm'));
  if (threads.length === 0) return { messages: fromSteps(spans, runs), otherThreads: 0, last: null };
  const best = threads.reduce((chosen, thread) => (longer(thread, chosen) ? thread : chosen));
  return { messages: fillResults(best.messages, runs), otherThreads: threads.length - 1, last: best.span };
}
