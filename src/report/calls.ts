import { toolKindByName } from '../trajectory/importers/tool-kinds.js';
import type { ToolKind, Trajectory } from '../trajectory/trajectory.js';

/** A tool call of an attempt, and the message that makes it. */
export interface Call {
  readonly message: number;
  readonly name: string;
  readonly arguments: { readonly [name: string]: unknown };
}

/** All calls of an attempt, in order. */
export function callsOf({ messages }: Pick<Trajectory, 'messages'>): Call[] {
  return messages.flatMap((message, i) =>
    message.role === 'assistant'
      ? (message.tool_calls ?? []).map(({ function: called }) => ({ message: i, ...called }))
      : [],
  );
}

/** JSON with sorted keys: equal values have equal texts. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

/** Name and arguments of a call as one text. */
export const callKey = (call: Call) => `${call.name}${canonical(call.arguments)}`;

/** Arguments in which two calls differ. */
export function differingArguments(a: Call, b: Call): string[] {
  const names = new Set([...Object.keys(a.arguments), ...Object.keys(b.arguments)]);
  return [...names].filter((name) => canonical(a.arguments[name]) !== canonical(b.arguments[name]));
}

/** What a tool does, as the target says it, or by the verb of its name. */
export const kindOf = ({ reference }: Trajectory, tool: string): ToolKind =>
  (reference && Object.hasOwn(reference.toolKinds, tool) ? reference.toolKinds[tool] : undefined) ??
  toolKindByName(tool);

/** Tools in the order of their calls, repetitions counted: `get_user, search ×3, book`. */
export function callPath(calls: readonly Call[], most: number): string {
  const steps: { name: string; times: number }[] = [];
  for (const { name } of calls) {
    const last = steps.at(-1);
    if (last?.name === name) last.times++;
    else steps.push({ name, times: 1 });
  }
  const shown = steps.slice(0, most).map(({ name, times }) => {
    const short = name.length > 60 ? `${name.slice(0, 59)}…` : name;
    return times > 1 ? `${short} ×${times}` : short;
  });
  if (steps.length > most) shown.push(`… ${steps.length - most} more`);
  return shown.join(' → ');
}
