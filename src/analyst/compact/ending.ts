import type { Message } from '../../trajectory/trajectory.js';
import type { Family } from '../prompts/library.js';
import { isError, type ShownTrajectory } from './compact.js';

/** Keys under which records of coding agents carry the final patch. */
const PATCH_KEYS = ['patch', 'modelPatch', 'model_patch', 'submission', 'gitPatch', 'git_patch'] as const;
/** Names of tools that only look, or do nothing to the world. */
const LOOKS =
  /^(get|find|list|search|check|read|view|open|calculate|think|note|show|fetch|lookup|query|grep|cat|ls)(_|$)/i;

/**
 * What stood at the end of an attempt, in words: for code repair the final patch, otherwise the changes that took
 * effect; then the agent's last words. It tells what is, never whether it is right.
 */
export function endingOf(trajectory: ShownTrajectory, family: Family): string {
  const parts: string[] = [];
  if (family === 'code-repair') {
    const patch = patchOf(trajectory);
    parts.push(patch === null ? 'Final patch: none in the record.' : `Final patch:\n${patch}`);
  } else {
    const changes = effectiveChanges(trajectory);
    if (changes.length > 0) parts.push(`Changes that took effect:\n${changes.join('\n')}`);
    else if (trajectory.messages.some(calls)) parts.push('No call changed anything.');
  }
  parts.push(lastWordsOf(trajectory.messages));
  return parts.join('\n');
}

const calls = (message: Message) => message.role === 'assistant' && (message.tool_calls?.length ?? 0) > 0;

function patchOf({ metadata }: ShownTrajectory): string | null {
  for (const key of PATCH_KEYS) {
    const value = metadata[key];
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  return null;
}

/** Calls that are no look-up and came back without an error. */
function effectiveChanges({ messages, reference }: ShownTrajectory): string[] {
  const results = new Map<string, boolean>();
  for (const message of messages)
    if (message.role === 'tool') results.set(message.tool_call_id, isError(message));
  return messages.flatMap((message, i) => {
    if (message.role !== 'assistant') return [];
    return (message.tool_calls ?? []).flatMap((call) => {
      const kind = reference?.toolKinds[call.function.name];
      const looks = kind === undefined ? LOOKS.test(call.function.name) : kind === 'read' || kind === 'other';
      if (looks || results.get(call.id) === true) return [];
      const unanswered = results.has(call.id) ? '' : ' (no result in the record)';
      return [`- [${i}] ${JSON.stringify(call.function)}${unanswered}`];
    });
  });
}

function lastWordsOf(messages: readonly Message[]): string {
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i]!;
    if (message.role === 'assistant' && message.content?.trim())
      return `The agent's last words stand in message ${i}.`;
  }
  return 'The agent said nothing.';
}
