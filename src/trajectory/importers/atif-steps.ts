import { isObject, type JsonObject, RecordError, read } from '../parse.js';
import type { Message, ToolCall } from '../trajectory.js';
import { contentText, ERROR_RESULT } from './chat.js';

/** How terminus, Harbor's own agent, is told that its reply could not be read. */
const UNREADABLE = /^\s*Previous response had (parsing )?errors?:\s*/;

function readCall(value: unknown, field: string): { readonly call: ToolCall; readonly malformed?: string } {
  const given = read.object(value, field);
  const name = read.text(given.function_name, `${field}.function_name`);
  const id = typeof given.tool_call_id === 'string' ? given.tool_call_id : '';
  const make = (args: JsonObject): ToolCall => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  });
  const args = given.arguments ?? {};
  if (isObject(args)) return { call: make(args) };
  return { call: make({}), malformed: `arguments of ${name} are no object` };
}

/** Sub-agents that an observation refers to; newer files list several. */
function subagents(result: JsonObject): string[] {
  const refs = result.subagent_trajectory_ref;
  const list = Array.isArray(refs) ? refs : refs === undefined || refs === null ? [] : [refs];
  return list.map((ref) => {
    const name = isObject(ref) ? (ref.trajectory_path ?? ref.trajectory_id ?? ref.session_id) : ref;
    return typeof name === 'string' ? name : 'unnamed';
  });
}

/** Steps turned into messages, one step at a time. */
export class StepReader {
  readonly #messages: Message[] = [];
  readonly #subagents: string[] = [];
  #steps = 0;

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Trajectories of sub-agents that are referred to; they are not read. */
  get subagents(): readonly string[] {
    return this.#subagents;
  }

  /** @throws RecordError naming the wrong field. */
  take(value: unknown): void {
    const field = `steps[${this.#steps++}]`;
    const step = read.object(value, field);
    const text = contentText(step.message, `${field}.message`) ?? '';
    const observed = isObject(step.observation) ? (step.observation.results ?? []) : [];
    const results = read
      .list(observed, `${field}.observation.results`)
      .map((result, i) => read.object(result, `${field}.observation.results[${i}]`));
    for (const result of results) this.#subagents.push(...subagents(result));
    switch (step.source) {
      case 'user':
      case 'system':
        if (text !== '') this.#messages.push({ role: step.source, content: text });
        this.#observe(results, [], field);
        return;
      case 'agent':
        this.#turn(step, text, results, field);
        return;
      default:
        throw new RecordError(
          `field ${field}.source must be system, user or agent, but is ${JSON.stringify(step.source)}`,
        );
    }
  }

  #turn(step: JsonObject, text: string, results: readonly JsonObject[], field: string): void {
    const calls = read
      .list(step.tool_calls ?? [], `${field}.tool_calls`)
      .map((call, i) => readCall(call, `${field}.tool_calls[${i}]`));
    const first = results.length > 0 ? contentText(results[0]!.content, `${field}.observation`) : null;
    const unreadable = calls.length === 0 && first !== null && UNREADABLE.test(first);
    const malformed = [
      ...calls.flatMap((call) => (call.malformed ? [call.malformed] : [])),
      ...(unreadable ? [first.replace(UNREADABLE, '').split('\n')[0]!] : []),
    ].join('; ');
    this.#messages.push({
      role: 'assistant',
      content: text === '' ? null : text,
      ...(calls.length > 0 ? { tool_calls: calls.map(({ call }) => call) } : {}),
      ...(typeof step.reasoning_content === 'string' && step.reasoning_content !== ''
        ? { reasoning: step.reasoning_content }
        : {}),
      ...(malformed === '' ? {} : { malformed }),
    });
    this.#observe(
      results,
      calls.map(({ call }) => call.id),
      field,
    );
  }

  /**
   * Results name their call, or stand in the order of the calls; a single result of several calls is what all of them
   * together left on the screen, and answers the last. Without a call, the agent reads a result as the user's words.
   */
  #observe(results: readonly JsonObject[], calls: readonly string[], field: string): void {
    for (const [i, result] of results.entries()) {
      const content = contentText(result.content, `${field}.observation.results[${i}].content`);
      const refs = subagents(result);
      if (content === null && calls.length === 0) continue;
      const named = typeof result.source_call_id === 'string' ? result.source_call_id : null;
      const id = named ?? (results.length === 1 ? calls.at(-1) : calls[i]);
      const said = content ?? (refs.length > 0 ? `(sub-agent: ${refs.join(', ')})` : '');
      if (id === undefined) this.#messages.push({ role: 'user', content: said });
      else
        this.#messages.push({
          role: 'tool',
          content: said,
          tool_call_id: id,
          ...(ERROR_RESULT.test(said) ? { error: true } : {}),
        });
    }
  }
}
