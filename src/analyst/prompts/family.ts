import type { Trajectory } from '../../trajectory/trajectory.js';
import type { Family } from './library.js';

/** Names that tools have which edit and run code. */
const CODE_TOOL =
  /^(bash|shell|execute_bash|run_command|terminal|str_replace|str_replace_editor|str_replace_based_edit_tool|edit|edit_file|open_file|apply_patch|submit|finish|execute_ipython_cell|python)$/i;
/** Formats of coding agents, as the importers call them. */
const CODE_SOURCE = /swe|openhands|code-repair/i;

/**
 * The prompt family of a set of attempts: `code-repair` where most of them come from coding agents, `tool-use` where
 * most of them call tools, `general` otherwise.
 */
export function familyOf(trajectories: readonly Pick<Trajectory, 'source' | 'messages' | 'tools'>[]): Family {
  let code = 0;
  let tools = 0;
  for (const { source, messages, tools: offered } of trajectories) {
    const called = messages.flatMap((message) =>
      message.role === 'assistant' ? (message.tool_calls ?? []).map((call) => call.function.name) : [],
    );
    const names = new Set([...called, ...offered.map((tool) => tool.function.name)]);
    const isCode =
      CODE_SOURCE.test(source) || (called.length > 0 && called.every((name) => CODE_TOOL.test(name)));
    if (isCode) code++;
    else if (names.size > 0) tools++;
  }
  if (code * 2 > trajectories.length) return 'code-repair';
  return tools * 2 > trajectories.length ? 'tool-use' : 'general';
}
