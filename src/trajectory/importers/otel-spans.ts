import { isObject, type JsonObject } from '../parse.js';
import type { Message } from '../trajectory.js';
import type { Attributes, RawEvent, RawLog, RawSpan } from './otlp.js';
import {
  asText,
  type Evaluation,
  firstText,
  identityOf,
  type LooseEvaluation,
  type Span,
  timeKey,
  unwrapJson,
} from './spans.js';
import { readMessages, readToolSchemas } from './spans-messages.js';
import { readArguments, resultText } from './spans-parts.js';

/** Operations of `gen_ai.operation.name`. */
const LLM_OPERATIONS = new Set(['chat', 'text_completion', 'generate_content', 'completion', 'responses']);
const AGENT_OPERATIONS = new Set(['invoke_agent', 'create_agent', 'invoke_workflow', 'plan']);
/** One event for a message, in conventions up to 1.36; the role is in the name. */
const MESSAGE_EVENT = /^gen_ai\.(system|user|assistant|tool)\.message$/;
const EVALUATION = 'gen_ai.evaluation.result';

/** The body of an event, wherever its exporter put it: the log's body, one attribute that holds it as JSON, or the attributes. */
function bodyOf({ attributes, body }: RawEvent): JsonObject {
  for (const value of [
    body,
    attributes.get('gen_ai.event.content'),
    attributes.get('event.body'),
    attributes.get('body'),
  ]) {
    const object = unwrapJson(value);
    if (isObject(object)) return object;
  }
  return Object.fromEntries(attributes.names.map((name) => [name, attributes.get(name)]));
}

function messagesOfEvents(
  events: readonly RawEvent[],
  field: string,
): Pick<Span, 'input' | 'output' | 'finish'> {
  const input: Message[] = [];
  const output: Message[] = [];
  let finish: string | undefined;
  for (const event of events) {
    const role = MESSAGE_EVENT.exec(event.name)?.[1];
    if (role) {
      const body = bodyOf(event);
      const message = { ...body, role, tool_calls: unwrapJson(body.tool_calls) };
      input.push(...readMessages(message, 'user', `${field}.${event.name}`));
    } else if (event.name === 'gen_ai.choice') {
      const body = bodyOf(event);
      finish ??= firstText(body.finish_reason, body['gen_ai.response.finish_reason']);
      // The first choice alone: others were not followed up.
      if (output.length > 0) continue;
      const said = unwrapJson(body.message);
      const message = isObject(said)
        ? said
        : { content: said ?? body.content, tool_calls: unwrapJson(body.tool_calls) };
      output.push(...readMessages({ ...message, role: 'assistant' }, 'assistant', `${field}.${event.name}`));
    } else if (event.name === 'gen_ai.content.prompt')
      input.push(...readMessages(event.attributes.get('gen_ai.prompt'), 'user', `${field}.gen_ai.prompt`));
    else if (event.name === 'gen_ai.content.completion' && output.length === 0)
      output.push(
        ...readMessages(event.attributes.get('gen_ai.completion'), 'assistant', `${field}.gen_ai.completion`),
      );
    else if (
      event.attributes.get('gen_ai.input.messages') !== undefined ||
      event.attributes.get('gen_ai.output.messages') !== undefined
    ) {
      // gen_ai.client.inference.operation.details: the span's own attributes, on an event.
      input.push(...inputOf(event.attributes, field));
      output.push(...outputOf(event.attributes, field));
    }
  }
  return { input, output, ...(finish === undefined ? {} : { finish }) };
}

/** The prompt with its system instructions in front, in the attributes of 1.37 and later, or flat as OpenLLMetry has it. */
function inputOf(attributes: Attributes, field: string): Message[] {
  const messages = readMessages(
    attributes.tree('gen_ai.input.messages') ?? attributes.tree('gen_ai.prompt'),
    'user',
    `${field}.gen_ai.input.messages`,
  );
  const instructions =
    attributes.tree('gen_ai.system_instructions') ?? attributes.tree('gen_ai.system.instructions');
  if (instructions === undefined || messages[0]?.role === 'system') return messages;
  const system = readMessages(
    { role: 'system', content: instructions },
    'user',
    `${field}.gen_ai.system_instructions`,
  );
  return [...system, ...messages];
}

function outputOf(attributes: Attributes, field: string): Message[] {
  const given = attributes.tree('gen_ai.output.messages') ?? attributes.tree('gen_ai.completion');
  // Every element is another choice; the conversation goes on from one.
  const first = Array.isArray(given) ? given.slice(0, 1) : given;
  return readMessages(first, 'assistant', `${field}.gen_ai.output.messages`);
}

function finishOf(attributes: Attributes): string | undefined {
  const reasons = attributes.tree('gen_ai.response.finish_reasons');
  const given = firstText(Array.isArray(reasons) ? reasons[0] : reasons);
  if (given !== undefined) return given;
  for (const name of ['gen_ai.output.messages', 'gen_ai.completion']) {
    const choices = attributes.tree(name);
    const reason =
      Array.isArray(choices) && isObject(choices[0]) ? firstText(choices[0].finish_reason) : undefined;
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** An evaluation from the attributes of `gen_ai.evaluation.result`; null when the event says nothing. */
export function readEvaluation(attributes: Attributes): Evaluation | null {
  const name = attributes.text('gen_ai.evaluation.name') ?? 'evaluation';
  const score = attributes.number('gen_ai.evaluation.score.value');
  const label = attributes.text('gen_ai.evaluation.score.label') ?? null;
  if (score === null && label === null) return null;
  const explanation = attributes.text('gen_ai.evaluation.explanation');
  return { name, score, label, ...(explanation === undefined ? {} : { explanation }) };
}

function kindOf(attributes: Attributes): Span['kind'] {
  const operation = attributes.text('gen_ai.operation.name');
  const loop = attributes.text('traceloop.span.kind');
  if (operation === 'execute_tool' || loop === 'tool') return 'tool';
  if (operation !== undefined && LLM_OPERATIONS.has(operation)) return 'llm';
  if ((operation !== undefined && AGENT_OPERATIONS.has(operation)) || loop !== undefined) return 'agent';
  if (operation !== undefined) return 'other';
  if (attributes.has('gen_ai.tool.name') || attributes.has('gen_ai.tool.call.id')) return 'tool';
  return attributes.has('gen_ai.request.model') ||
    attributes.has('gen_ai.prompt') ||
    attributes.has('gen_ai.input.messages')
    ? 'llm'
    : 'other';
}

function toolOf(raw: RawSpan, said: Pick<Span, 'input' | 'output'>): NonNullable<Span['tool']> {
  const { attributes, error } = raw;
  const name =
    attributes.text('gen_ai.tool.name', 'traceloop.entity.name') ??
    raw.name.replace(/^(execute_tool|running tool:?)\s+/i, '');
  const given = attributes.tree('gen_ai.tool.call.arguments') ?? attributes.tree('traceloop.entity.input');
  const inner = isObject(given) && isObject(given.inputs) && given.tags !== undefined ? given.inputs : given;
  const result = attributes.get('gen_ai.tool.call.result') ?? attributes.get('traceloop.entity.output');
  const output = said.output.map((message) => message.content ?? '').join('\n');
  const callId = attributes.text('gen_ai.tool.call.id');
  const failure = attributes.text('error.type') ?? error;
  const text = result === undefined ? (output === '' ? null : output) : resultText(unwrapParts(result));
  return {
    name,
    ...(callId === undefined ? {} : { callId }),
    ...(inner === undefined ? {} : { arguments: readArguments(inner, name).value }),
    result: text ?? (failure === null || failure === undefined ? null : asText(raw.error ?? failure)),
    ...(failure === null || failure === undefined ? {} : { error: true }),
  };
}

/** A result that is a list of text parts, also where it was written as JSON text. */
function unwrapParts(value: unknown): unknown {
  const list = unwrapJson(value);
  return Array.isArray(list) &&
    list.length > 0 &&
    list.every((part) => isObject(part) && typeof part.text === 'string')
    ? list
    : value;
}

const PREFIX =
  /^(metadata|langfuse\.trace\.metadata|langsmith\.metadata|ai\.telemetry\.metadata|traceloop\.association\.properties|trace)\./;

/** The name without what exporters put before metadata; names of messages, of which there are many, are left alone. */
function withoutPrefix(name: string): string {
  return name.startsWith('gen_ai.') || name.startsWith('llm.') ? name : name.replace(PREFIX, '');
}

/** Metadata that identify the task, plain or below the usual prefixes. */
export function identityOfSpan(attributes: Attributes): Pick<Span, 'taskId' | 'session' | 'trial'> {
  const metadata = unwrapJson(attributes.get('metadata'));
  const plain: { [key: string]: unknown } = { ...(isObject(metadata) ? metadata : {}) };
  for (const name of attributes.names) plain[withoutPrefix(name)] ??= attributes.get(name);
  const session = attributes.text('session.id', 'gen_ai.conversation.id', 'langfuse.session.id');
  const task = attributes.text('task.id', 'dataset.item.id', 'dataset.example.id');
  return {
    ...identityOf(plain),
    ...(session === undefined ? {} : { session }),
    ...(task === undefined ? {} : { taskId: task }),
  };
}

/** Tools offered to the model. */
function toolsOf(attributes: Attributes) {
  for (const name of ['gen_ai.tool.definitions', 'gen_ai.request.tools', 'llm.request.functions'])
    if (attributes.has(name)) return readToolSchemas(attributes.get(name) ?? attributes.tree(name));
  return [];
}

/** Whether a span follows the GenAI conventions (or OpenLLMetry, from which they came). */
export function isGenAiSpan({ attributes, events }: RawSpan): boolean {
  return (
    attributes.names.some((name) => name.startsWith('gen_ai.') || name.startsWith('traceloop.')) ||
    attributes.has('gen_ai') ||
    events.some((event) => event.name.startsWith('gen_ai.'))
  );
}

/**
 * A span of the OpenTelemetry semantic conventions for generative AI: messages in attributes (semantic conventions
 * 1.37 to 1.41 and the GenAI conventions 0.1.0), in one event for each message (1.28 to 1.36), in
 * `gen_ai.content.*` events (1.27), or flat as OpenLLMetry writes them.
 * @throws RecordError naming the message that cannot be read.
 */
export function readGenAiSpan(raw: RawSpan, field: string): Span {
  const { attributes } = raw;
  const kind = kindOf(attributes);
  const events = messagesOfEvents(raw.events, field);
  const [input, output] = [inputOf(attributes, field), outputOf(attributes, field)];
  const said = {
    input: input.length > 0 ? input : events.input,
    output: output.length > 0 ? output : events.output,
  };
  const tools = kind === 'llm' || kind === 'agent' ? toolsOf(attributes) : [];
  const finish = finishOf(attributes) ?? events.finish;
  const error = raw.error ?? attributes.text('error.type');
  const evaluations = raw.events.flatMap((event) =>
    event.name === EVALUATION ? (readEvaluation(event.attributes) ?? []) : [],
  );
  const responseId = attributes.text('gen_ai.response.id');
  const model = attributes.text('gen_ai.response.model', 'gen_ai.request.model');
  return {
    traceId: raw.traceId,
    id: raw.id,
    parentId: raw.parentId,
    start: timeKey(raw.start),
    kind,
    name: raw.name,
    ...(kind === 'tool' ? { input: [], output: [], tool: toolOf(raw, said) } : said),
    ...(tools.length > 0 ? { tools } : {}),
    ...(error === undefined || error === null ? {} : { error }),
    ...(finish === undefined ? {} : { finish }),
    ...(evaluations.length > 0 ? { evaluations } : {}),
    ...(responseId === undefined ? {} : { responseId }),
    ...(model === undefined ? {} : { model }),
    ...identityOfSpan(attributes),
  };
}

/** An evaluation that came as a log record or as a span of no length, with what it points at; null when it is none. */
export function readLooseEvaluation(
  name: string,
  attributes: Attributes,
  ...targets: readonly string[]
): LooseEvaluation | null {
  if (name !== EVALUATION && attributes.get('gen_ai.evaluation.name') === undefined) return null;
  const evaluation = readEvaluation(attributes);
  const response = attributes.text('gen_ai.response.id');
  const all = [...targets, ...(response === undefined ? [] : [response])].filter((target) => target !== '');
  return evaluation && all.length > 0 ? { targets: all, evaluation } : null;
}

/** What a log record adds to its span: messages that were written as events on their own. */
export function readGenAiLog(log: RawLog, field: string): Span | null {
  if (log.traceId === '' || !log.name.startsWith('gen_ai.')) return null;
  const { input, output, finish } = messagesOfEvents([log], field);
  if (input.length + output.length === 0) return null;
  return {
    traceId: log.traceId,
    id: log.spanId,
    parentId: null,
    start: timeKey(log.time),
    kind: 'llm',
    name: '',
    partial: true,
    input,
    output,
    ...(finish === undefined ? {} : { finish }),
  };
}
