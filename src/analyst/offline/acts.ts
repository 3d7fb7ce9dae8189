import { toolKindByName } from '../../trajectory/importers/tool-kinds.js';
import type { ToolKind, Trajectory } from '../../trajectory/trajectory.js';
import { parseResult } from './results.js';

/** One tool call of the agent with what came back. */
export interface Act {
  /** Index of the assistant message. */
  readonly message: number;
  readonly name: string;
  readonly arguments: { readonly [name: string]: unknown };
  readonly kind: ToolKind;
  /** Index of the tool message; null when no result came. */
  readonly resultMessage: number | null;
  readonly result: string | null;
  readonly parsed: unknown;
  readonly failed: boolean;
  /** The same for the same tool and arguments. */
  readonly key: string;
  /** The call as it stands in a trajectory file. */
  readonly json: string;
}

/** What of a trajectory the detectors look at. */
export interface Course {
  readonly trajectory: Trajectory;
  readonly acts: readonly Act[];
}

/** JSON with sorted keys, so that equal arguments give equal text. */
export function stableJson(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : item,
  );
}

/** Results that carry an error as data: `{"error": "not found"}`. */
function saysError(parsed: unknown): boolean {
  return (
    typeof parsed === 'object' &&
    parsed !== null &&
    'error' in parsed &&
    typeof parsed.error === 'string' &&
    parsed.error !== ''
  );
}

/** Reads the calls of a trajectory in their order, each with its result. */
export function readCourse(trajectory: Trajectory): Course {
  const kinds = trajectory.reference?.toolKinds ?? {};
  const { messages } = trajectory;
  const acts: Act[] = [];
  messages.forEach((message, index) => {
    if (message.role !== 'assistant') return;
    // Results follow their turn; ids may be missing or repeated, so the place decides where they do not.
    const results: number[] = [];
    for (let i = index + 1; i < messages.length && messages[i]!.role === 'tool'; i++) results.push(i);
    (message.tool_calls ?? []).forEach((call, position) => {
      const byId = results.filter((i) => {
        const result = messages[i]!;
        return result.role === 'tool' && result.tool_call_id === call.id;
      });
      const at = byId.length === 1 ? byId[0]! : (results[position] ?? null);
      const result = at === null ? null : messages[at]!;
      const content = result?.role === 'tool' ? result.content : null;
      const parsed = content === null ? null : parseResult(content);
      const { name, arguments: given } = call.function;
      acts.push({
        message: index,
        name,
        arguments: given,
        kind: kinds[name] ?? toolKindByName(name),
        resultMessage: at,
        result: content,
        parsed,
        failed: (result?.role === 'tool' && result.error === true) || saysError(parsed),
        key: `${name} ${stableJson(given)}`,
        json: JSON.stringify(call.function),
      });
    });
  });
  return { trajectory, acts };
}
