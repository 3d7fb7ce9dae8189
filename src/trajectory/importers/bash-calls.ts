import type { AssistantMessage, ToolCall, ToolSchema } from '../trajectory.js';

/** The tool that stands for a command line of an agent that writes commands instead of tool calls. */
export const BASH_TOOL: ToolSchema = {
  type: 'function',
  function: {
    name: 'bash',
    description: 'Runs a command and returns its output.',
    parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  },
};

export function bashCall(id: string, command: string): ToolCall {
  return { id, type: 'function', function: { name: 'bash', arguments: { command } } };
}

/** An assistant's turn of text and commands. */
export function bashTurn(
  text: string,
  calls: readonly ToolCall[],
  more: Partial<AssistantMessage> = {},
): AssistantMessage {
  return {
    role: 'assistant',
    content: text.trim() === '' ? null : text,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...more,
  };
}

/** The one tool's schema where it was called, nothing otherwise. */
export function bashTools(used: boolean): readonly ToolSchema[] {
  return used ? [BASH_TOOL] : [];
}
