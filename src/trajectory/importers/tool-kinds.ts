import type { ToolKind } from '../trajectory.js';

/** First words of tool names that only look. `can_send_mms`, `run_speed_test` are τ²-bench's own. */
const READS =
  /^(get|find|list|search|check|lookup|look_up|read|view|show|fetch|query|count|describe|can|run_speed_test|verify|validate)(_|$)/;
const HANDOVERS = /^(transfer|escalate|hand_?over|handoff)(_|$)/;
/** Tools that touch nothing outside the conversation. */
const OTHERS = /^(calculate|calculator|think|note|done|respond)(_|$)/;

/**
 * What a tool does, judged by its name, for formats that do not say it: names that begin with a verb of looking
 * read, `transfer_…` hands over, calculators and notes are `other`, everything else writes.
 */
export function toolKindByName(name: string): ToolKind {
  const plain = name.toLowerCase();
  if (HANDOVERS.test(plain)) return 'handover';
  if (OTHERS.test(plain)) return 'other';
  return READS.test(plain) ? 'read' : 'write';
}

/** Kinds of all the tools named, as a reference holds them; `known` overrides the name's verb. */
export function toolKinds(
  names: Iterable<string>,
  known: ReadonlyMap<string, ToolKind> = new Map(),
): { readonly [tool: string]: ToolKind } {
  const kinds: { [tool: string]: ToolKind } = Object.create(null);
  for (const name of [...new Set(names)].sort()) kinds[name] = known.get(name) ?? toolKindByName(name);
  return { ...kinds };
}
