import { isObject } from '../parse.js';
import type { Message } from '../trajectory.js';
import { identityOfSpan, readEvaluation } from './otel-spans.js';
import type { Attributes, RawSpan } from './otlp.js';
import { type Evaluation, firstText, type Span, timeKey, unwrapJson } from './spans.js';
import { lenient, readMessages, readToolOutput, readToolSchemas } from './spans-messages.js';
import { readArguments } from './spans-parts.js';

/** Both words for feedback, and what it is about. */
const FEEDBACK = [
  ['trace.annotations', 'annotation', true],
  ['trace.evaluations', 'evaluation', true],
  ['session.annotations', 'annotation', true],
  ['session.evaluations', 'evaluation', true],
  ['annotations', 'annotation', false],
  ['evaluations', 'evaluation', false],
] as const;

function evaluationsOf({ attributes, events }: RawSpan): Evaluation[] {
  const found = FEEDBACK.flatMap(([prefix, inner, whole]) => {
    const list = attributes.tree(prefix);
    return (Array.isArray(list) ? list : []).flatMap((item): Evaluation[] => {
      const given = isObject(item) ? (item[inner] ?? item) : undefined;
      const evaluation = isObject(given) ? readAnnotation(given) : null;
      return evaluation ? [whole ? { ...evaluation, whole } : evaluation] : [];
    });
  });
  const carried = events.flatMap((event) =>
    event.name === 'gen_ai.evaluation.result' ? (readEvaluation(event.attributes) ?? []) : [],
  );
  return [...found, ...carried];
}

/** An annotation's fields (`name`, `score`, `label`, …); null when it says nothing. */
export function readAnnotation(given: { readonly [key: string]: unknown }): Evaluation | null {
  const score = typeof given.score === 'number' && Number.isFinite(given.score) ? given.score : null;
  const label = firstText(given.label) ?? null;
  if (score === null && label === null) return null;
  const explanation = firstText(given.explanation);
  const by = firstText(given.annotator_kind);
  return {
    name: firstText(given.name) ?? 'annotation',
    score,
    label,
    ...(explanation === undefined ? {} : { explanation }),
    ...(by === undefined ? {} : { by }),
  };
}

const KINDS: ReadonlyMap<string, Span['kind']> = new Map([
  ['LLM', 'llm'],
  ['TOOL', 'tool'],
  ['AGENT', 'agent'],
  ['CHAIN', 'agent'],
]);

function messagesOf(attributes: Attributes, side: 'input' | 'output', field: string): Message[] {
  const fallback = side === 'input' ? 'user' : 'assistant';
  const listed = attributes.tree(`llm.${side}_messages`);
  const messages = readMessages(listed, fallback, `${field}.llm.${side}_messages`);
  if (messages.length > 0) return messages;
  const value = attributes.tree(`${side}.value`);
  // What cannot be read as messages is no fault here: steps take and give anything.
  return lenient(value, fallback, `${field}.${side}.value`);
}

function toolOf({ name, attributes, error }: RawSpan): NonNullable<Span['tool']> {
  const given = attributes.tree('input.value') ?? attributes.tree('tool.parameters');
  const output = attributes.get('output.value');
  const read = output === undefined ? null : readToolOutput(output);
  const callId = attributes.text('tool.id', 'tool_call.id') ?? read?.callId;
  const failed = error !== null || read?.error === true;
  return {
    name: attributes.text('tool.name') ?? name,
    ...(callId === undefined ? {} : { callId }),
    ...(isObject(given) ? { arguments: readArguments(given, name).value } : {}),
    result: read?.text ?? error,
    ...(failed ? { error: true } : {}),
  };
}

function toolsOf(attributes: Attributes) {
  const listed = attributes.tree('llm.tools');
  if (!Array.isArray(listed)) return [];
  return readToolSchemas(
    listed.map((item) => {
      const tool = isObject(item) && isObject(item.tool) ? item.tool : item;
      return isObject(tool) ? (unwrapJson(tool.json_schema) ?? tool) : tool;
    }),
  );
}

/** Whether a span follows OpenInference. */
export function isOpenInferenceSpan({ attributes }: RawSpan): boolean {
  return (
    attributes.get('openinference.span.kind') !== undefined ||
    attributes.has('llm.input_messages') ||
    attributes.has('llm.output_messages')
  );
}

/**
 * A span of the OpenInference semantic conventions (specification of 2026, semconv 0.1.x): flattened messages of model
 * calls, tools with input and output, feedback as annotations or evaluations.
 * @throws RecordError naming the message that cannot be read.
 */
export function readOpenInferenceSpan(raw: RawSpan, field: string): Span {
  const { attributes } = raw;
  const named = attributes.text('openinference.span.kind')?.toUpperCase();
  const kind = named === undefined ? 'llm' : (KINDS.get(named) ?? 'other');
  const tools = kind === 'llm' ? toolsOf(attributes) : [];
  const evaluations = evaluationsOf(raw);
  const finish = attributes.text('llm.finish_reason');
  const model = attributes.text('llm.model_name');
  const said =
    kind === 'llm' || kind === 'agent'
      ? { input: messagesOf(attributes, 'input', field), output: messagesOf(attributes, 'output', field) }
      : { input: [], output: [] };
  return {
    traceId: raw.traceId,
    id: raw.id,
    parentId: raw.parentId,
    start: timeKey(raw.start),
    kind,
    name: raw.name,
    ...said,
    ...(tools.length > 0 ? { tools } : {}),
    ...(kind === 'tool' ? { tool: toolOf(raw) } : {}),
    ...(raw.error === null ? {} : { error: raw.error }),
    ...(finish === undefined ? {} : { finish }),
    ...(evaluations.length > 0 ? { evaluations } : {}),
    ...(model === undefined ? {} : { model }),
    ...identityOfSpan(attributes),
  };
}
