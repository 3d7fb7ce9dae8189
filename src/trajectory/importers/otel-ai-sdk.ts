import { isObject } from '../parse.js';
import type { Message } from '../trajectory.js';
import { identityOfSpan } from './otel-spans.js';
import type { Attributes, RawSpan } from './otlp.js';
import { type Span, timeKey, unwrapJson } from './spans.js';
import { readMessages, readToolSchemas } from './spans-messages.js';
import { readArguments, resultText } from './spans-parts.js';

/** Whether a span comes from the telemetry of the AI SDK. */
export function isAiSdkSpan({ attributes }: RawSpan): boolean {
  return attributes.get('ai.operationId') !== undefined;
}

function outputOf(attributes: Attributes, field: string): Message[] {
  const calls = attributes.tree('ai.response.toolCalls');
  const text = attributes.text('ai.response.text');
  const reasoning = attributes.text('ai.response.reasoning');
  if (calls === undefined && text === undefined) return [];
  const parts = (Array.isArray(calls) ? calls : []).map((call) =>
    isObject(call) ? { ...call, type: 'tool-call' } : call,
  );
  const content = [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning }]),
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...parts,
  ];
  return readMessages({ role: 'assistant', content }, 'assistant', `${field}.ai.response`);
}

function toolOf({ attributes, error }: RawSpan): NonNullable<Span['tool']> {
  const name = attributes.text('ai.toolCall.name') ?? 'tool';
  const callId = attributes.text('ai.toolCall.id');
  const given = attributes.tree('ai.toolCall.args');
  const result = attributes.get('ai.toolCall.result');
  // Results are written as JSON: a text comes in quotes.
  const value = typeof result === 'string' && result.startsWith('"') ? unwrapJson(result) : result;
  return {
    name,
    ...(callId === undefined ? {} : { callId }),
    ...(given === undefined ? {} : { arguments: readArguments(given, name).value }),
    result: value === undefined ? error : resultText(value),
    ...(error === null ? {} : { error: true }),
  };
}

/**
 * A span of the AI SDK's telemetry (versions 4 to 6): `ai.generateText.doGenerate` and its like are the requests,
 * `ai.toolCall` the executions, what is around them the agent.
 * @throws RecordError naming the message that cannot be read.
 */
export function readAiSdkSpan(raw: RawSpan, field: string): Span {
  const { attributes } = raw;
  const operation = attributes.text('ai.operationId') ?? '';
  const kind =
    operation === 'ai.toolCall' ? 'tool' : /\.do(Generate|Stream)$/.test(operation) ? 'llm' : 'agent';
  const prompt = attributes.tree('ai.prompt.messages') ?? attributes.tree('ai.prompt');
  const tools = kind === 'llm' ? readToolSchemas(attributes.tree('ai.prompt.tools')) : [];
  const finish = kind === 'llm' ? attributes.text('ai.response.finishReason') : undefined;
  const model = attributes.text('ai.response.model', 'ai.model.id');
  const responseId = attributes.text('ai.response.id', 'gen_ai.response.id');
  return {
    traceId: raw.traceId,
    id: raw.id,
    parentId: raw.parentId,
    start: timeKey(raw.start),
    kind,
    name: attributes.text('ai.telemetry.functionId') ?? raw.name,
    input: kind === 'tool' ? [] : readMessages(prompt, 'user', `${field}.ai.prompt`),
    output: kind === 'tool' ? [] : outputOf(attributes, field),
    ...(tools.length > 0 ? { tools } : {}),
    ...(kind === 'tool' ? { tool: toolOf(raw) } : {}),
    ...(raw.error === null ? {} : { error: raw.error }),
    ...(finish === undefined ? {} : { finish }),
    ...(responseId === undefined ? {} : { responseId }),
    ...(model === undefined ? {} : { model }),
    ...identityOfSpan(attributes),
  };
}
