import { isObject, type JsonObject, read } from '../parse.js';
import type { AssistantMessage, Message, ToolCall, ToolMessage, ToolSchema } from '../trajectory.js';
import { contentText, ERROR_RESULT, readAssistant, readTools } from './chat.js';

/** Arguments of an action that steer the harness rather than the tool. */
const HARNESS_ARGUMENTS: ReadonlySet<string> = new Set([
  'thought',
  'blocking',
  'keep_prompt',
  'hidden',
  'is_static',
  'is_confirmed',
  'confirmation_state',
  'security_risk',
  'impl_source',
  'translated_ipython_code',
  'image_urls',
  'return_all',
]);

/** Events that are the harness's bookkeeping; the agent is not shown them as turns. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  'null',
  'change_agent_state',
  'agent_state_changed',
  'recall',
  'condensation',
  'condensation_request',
  'condense',
  'pause',
  'resume',
  'stop',
  'start',
]);

export interface EventConversation {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  /** Events that are no turn, by name. */
  readonly leftOut: { readonly [event: string]: number };
  /** The last state of the agent that an event tells, and the last error. */
  readonly state: string | null;
  readonly error: string | null;
  readonly model: string | null;
}

interface Turn {
  content: string | null;
  calls: ToolCall[];
  reasoning?: string;
  malformed?: string;
}

/** The model's own message behind an event; parallel calls share one. */
function modelMessage(metadata: JsonObject): {
  readonly id: string | null;
  readonly message: JsonObject | null;
  readonly model: string | null;
} {
  const response = isObject(metadata.model_response) ? metadata.model_response : {};
  const choice = Array.isArray(response.choices) ? response.choices[0] : undefined;
  const message = isObject(choice) && isObject(choice.message) ? choice.message : null;
  return {
    id: typeof response.id === 'string' && response.id !== '' ? response.id : null,
    message,
    model: typeof response.model === 'string' ? response.model : null,
  };
}

/** Turns OpenHands' stream of actions and observations into the conversation that the agent had. */
class EventReader {
  readonly #turns: (Message | Turn)[] = [];
  readonly #leftOut = new Map<string, number>();
  /** Calls by the event that made them, and turns by the response that they came in. */
  readonly #calls = new Map<unknown, string>();
  readonly #responses = new Map<string, Turn>();
  readonly #unanswered = new Set<string>();
  #tools: readonly ToolSchema[] = [];
  #state: string | null = null;
  #error: string | null = null;
  #model: string | null = null;

  take(value: unknown, field: string): void {
    const event = read.object(value, field);
    if (typeof event.action === 'string') this.#action(event, event.action, field);
    else if (typeof event.observation === 'string') this.#observation(event, event.observation, field);
    else this.#skip('event without action and observation');
  }

  finish(): EventConversation {
    return {
      messages: this.#turns.map((turn) => ('role' in turn ? turn : assistant(turn))),
      tools: this.#tools,
      leftOut: Object.fromEntries(this.#leftOut),
      state: this.#state,
      error: this.#error,
      model: this.#model,
    };
  }

  #skip(name: string): void {
    this.#leftOut.set(name, (this.#leftOut.get(name) ?? 0) + 1);
  }

  #action(event: JsonObject, name: string, field: string): void {
    const args = isObject(event.args) ? event.args : {};
    if (name === 'system') {
      this.#turns.push({ role: 'system', content: contentText(args.content, `${field}.args.content`) ?? '' });
      this.#tools = readTools(args.tools);
      return;
    }
    if (BOOKKEEPING.has(name)) {
      if (name === 'change_agent_state' && typeof args.agent_state === 'string')
        this.#state = args.agent_state;
      this.#skip(name);
      return;
    }
    const text = contentText(args.content ?? event.message, `${field}.args.content`) ?? '';
    if (name === 'message') {
      if (event.source === 'agent') this.#turns.push({ role: 'assistant', content: text });
      else this.#turns.push({ role: 'user', content: text });
      return;
    }
    if (event.source === 'user' || event.source === 'environment') {
      this.#skip(`${event.source} ${name}`);
      return;
    }
    this.#call(event, name, args, field);
  }

  #call(event: JsonObject, name: string, args: JsonObject, field: string): void {
    const metadata = isObject(event.tool_call_metadata) ? event.tool_call_metadata : {};
    const thought = typeof args.thought === 'string' ? args.thought : '';
    const given = typeof metadata.tool_call_id === 'string' ? metadata.tool_call_id : null;
    const { id: response, message, model } = modelMessage(metadata);
    if (model !== null) this.#model = model;
    const listed = message && Array.isArray(message.tool_calls) ? message.tool_calls : [];
    const own = listed.find((call) => isObject(call) && call.id === given && given !== null);
    const at = `${field}.tool_call_metadata`;
    const fromModel = own ? readAssistant({ ...message, tool_calls: [own] }, at) : null;
    const call: ToolCall = fromModel?.tool_calls?.[0] ?? {
      id: given ?? `call_${typeof event.id === 'number' ? event.id : `at_${this.#turns.length}`}`,
      type: 'function',
      function: {
        name: typeof metadata.function_name === 'string' ? metadata.function_name : name,
        arguments: Object.fromEntries(
          Object.entries(args).filter(
            ([key, value]) => !HARNESS_ARGUMENTS.has(key) && value !== null && value !== '',
          ),
        ),
      },
    };
    this.#calls.set(event.id, call.id);
    this.#unanswered.add(call.id);
    const earlier = response === null ? undefined : this.#responses.get(response);
    if (earlier) {
      earlier.calls.push(call);
      if (fromModel?.malformed) earlier.malformed = fromModel.malformed;
      return;
    }
    const said = fromModel?.content ?? thought;
    const turn: Turn = {
      content: said.trim() === '' ? null : said,
      calls: [call],
      ...(fromModel?.reasoning ? { reasoning: fromModel.reasoning } : {}),
      ...(fromModel?.malformed ? { malformed: fromModel.malformed } : {}),
    };
    this.#turns.push(turn);
    if (response !== null) this.#responses.set(response, turn);
  }

  #observation(event: JsonObject, name: string, field: string): void {
    const extras = isObject(event.extras) ? event.extras : {};
    const content = contentText(event.content ?? event.message, `${field}.content`) ?? '';
    if (name === 'error') this.#error = content;
    if (BOOKKEEPING.has(name)) {
      if (name === 'agent_state_changed' && typeof extras.agent_state === 'string')
        this.#state = extras.agent_state;
      this.#skip(name);
      return;
    }
    const id = this.#answered(event);
    if (id === null) {
      // The agent is shown errors that no call brought about as words of the user.
      if (name === 'error') this.#turns.push({ role: 'user', content });
      else this.#skip(`observation ${name}`);
      return;
    }
    const details = isObject(extras.metadata) ? extras.metadata : extras;
    const code = details.exit_code;
    const failed =
      name === 'error' ||
      extras.error === true ||
      (typeof code === 'number' ? code > 0 : ERROR_RESULT.test(content));
    const message: ToolMessage = {
      role: 'tool',
      content,
      tool_call_id: id,
      ...(failed ? { error: true } : {}),
    };
    this.#turns.push(message);
  }

  /** The call that an observation answers: named by it, caused by its action, or the only one that waits. */
  #answered(event: JsonObject): string | null {
    const metadata = isObject(event.tool_call_metadata) ? event.tool_call_metadata : {};
    const named = metadata.tool_call_id;
    const id =
      typeof named === 'string' && this.#unanswered.has(named)
        ? named
        : event.cause !== undefined && event.cause !== null && this.#calls.has(event.cause)
          ? this.#calls.get(event.cause)!
          : event.cause === undefined || event.cause === null || event.cause === -1
            ? (this.#unanswered.values().next().value ?? null)
            : null;
    if (id !== null) this.#unanswered.delete(id);
    return id;
  }
}

function assistant({ content, calls, reasoning, malformed }: Turn): AssistantMessage {
  return {
    role: 'assistant',
    content,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(reasoning ? { reasoning } : {}),
    ...(malformed ? { malformed } : {}),
  };
}

/**
 * The conversation behind a history: a list of events, or of older files' pairs of an action and its observation.
 * @throws RecordError naming the wrong field.
 */
export function readEvents(history: readonly unknown[]): EventConversation {
  const reader = new EventReader();
  for (const [i, item] of history.entries()) {
    if (Array.isArray(item)) for (const [j, part] of item.entries()) reader.take(part, `history[${i}][${j}]`);
    else reader.take(item, `history[${i}]`);
  }
  return reader.finish();
}
