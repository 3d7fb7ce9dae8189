import type { ReferenceAction, ToolKind, Trajectory } from '../../../trajectory/trajectory.js';

/** One tool call with what came back, and how many writes the attempt had made before it. */
export interface ObservedCall {
  readonly taskId: string;
  readonly tool: string;
  readonly kind: ToolKind;
  readonly arguments: { readonly [name: string]: unknown };
  /** Parsed JSON object or list, or the text where it is none. */
  readonly result: unknown;
  readonly error: boolean;
  readonly writesBefore: number;
}

/** What was seen of one task over all attempts at it. */
export interface ObservedTask {
  readonly taskId: string;
  /** The person's first message. */
  readonly request: string;
  readonly actions: readonly ReferenceAction[];
  readonly facts: readonly string[];
  /** Calls of all attempts. */
  readonly calls: readonly ObservedCall[];
  /** Last words of attempts that passed. */
  readonly replies: readonly string[];
  /** Everything that the person said in any attempt, without repeats. */
  readonly said: readonly string[];
  /** What the agent said without a call, and the person's answer. */
  readonly exchanges: readonly { readonly question: string; readonly answer: string }[];
}

type MutableTask = ObservedTask & {
  calls: ObservedCall[];
  replies: string[];
  said: string[];
  exchanges: { question: string; answer: string }[];
};

/** Groups trajectories by task; attempts without a readable start are left out. */
export function observe(
  trajectories: readonly Trajectory[],
  kinds: { readonly [tool: string]: ToolKind },
): ObservedTask[] {
  const tasks = new Map<string, MutableTask>();
  for (const trajectory of trajectories) {
    const request = trajectory.messages.find((message) => message.role === 'user')?.content;
    if (!request || trajectory.outcome === 'excluded') continue;
    let task = tasks.get(trajectory.taskId);
    if (!task) {
      task = {
        taskId: trajectory.taskId,
        request,
        actions: trajectory.reference?.actions ?? [],
        facts: trajectory.reference?.requiredFacts ?? [],
        calls: [],
        replies: [],
        said: [],
        exchanges: [],
      };
      tasks.set(trajectory.taskId, task);
    }
    task.calls.push(...observedCalls(trajectory, kinds));
    trajectory.messages.forEach((message, i) => {
      if (message.role !== 'user') return;
      if (!task.said.includes(message.content)) task.said.push(message.content);
      const before = trajectory.messages[i - 1];
      if (before?.role === 'assistant' && before.content && !before.tool_calls?.length)
        task.exchanges.push({ question: before.content, answer: message.content });
    });
    const last = trajectory.messages.findLast((message) => message.role === 'assistant');
    if (trajectory.outcome === 'passed' && last?.content && !last.tool_calls?.length)
      task.replies.push(last.content);
  }
  return [...tasks.values()];
}

function observedCalls(trajectory: Trajectory, kinds: { readonly [tool: string]: ToolKind }): ObservedCall[] {
  const calls: ObservedCall[] = [];
  let writes = 0;
  trajectory.messages.forEach((message, i) => {
    if (message.role !== 'assistant') return;
    for (const call of message.tool_calls ?? []) {
      // The next answer with this id: ids may repeat from turn to turn.
      const answer = trajectory.messages
        .slice(i + 1)
        .find((later) => later.role === 'tool' && later.tool_call_id === call.id);
      if (answer?.role !== 'tool') continue;
      const kind = kinds[call.function.name] ?? 'other';
      const result = parsed(answer.content);
      const error = answer.error === true || saysError(result);
      calls.push({
        taskId: trajectory.taskId,
        tool: call.function.name,
        kind,
        arguments: call.function.arguments,
        result,
        error,
        writesBefore: writes,
      });
      if (kind === 'write' || kind === 'handover') writes++;
    }
  });
  return calls;
}

/** Tools that have no error flag say it in the text. */
function saysError(result: unknown): boolean {
  if (typeof result === 'string') return /^\s*error\b/i.test(result);
  return typeof result === 'object' && result !== null && 'error' in result;
}

/** JSON objects and lists parsed; any other answer is kept as the text it is. */
function parsed(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? value : text;
  } catch {
    return text;
  }
}
