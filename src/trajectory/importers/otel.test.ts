import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Trajectory } from '../trajectory.js';
import type { ImporterOptions } from './importer.js';
import { openInferenceImporter } from './openinference.js';
import { otelImporter } from './otel.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-otel-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const read = async (
  records: readonly unknown[],
  options: ImporterOptions = {},
  importer = otelImporter,
): Promise<Trajectory[]> => {
  const path = join(folder, 'spans.jsonl');
  writeFileSync(path, records.map((record) => JSON.stringify(record)).join('\n'));
  const all: Trajectory[] = [];
  for await (const trajectory of importer.read(path, options)) all.push(trajectory);
  return all;
};

const TRACE = 'a'.repeat(32);
/** A span as the Python SDK's console writes it: attributes are plain there. */
const span = (id: string, attributes: object, more: object = {}) => ({
  name: 'span',
  context: { trace_id: `0x${TRACE}`, span_id: `0x${id.padStart(16, '0')}` },
  parent_id: null,
  start_time: `2026-01-01T00:00:0${id.slice(-1)}Z`,
  attributes,
  events: [],
  ...more,
});
const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' };
const plainChat = [
  { role: 'user', content: 'Hi' },
  { role: 'assistant', content: 'Hello.' },
];

test('messages in log records of their own join their span', async () => {
  const log = (name: string, body: object) => ({
    traceId: TRACE,
    spanId: '0000000000000001',
    timeUnixNano: '1767225601000000000',
    severityNumber: 9,
    eventName: name,
    attributes: [{ key: 'gen_ai.system', value: { stringValue: 'openai' } }],
    body: { kvlistValue: { values: Object.entries(body).map(([key, value]) => ({ key, value })) } },
  });
  const text = (stringValue: string) => ({ stringValue });
  const message = {
    kvlistValue: {
      values: [
        { key: 'role', value: text('assistant') },
        { key: 'content', value: text('Hello.') },
      ],
    },
  };
  const [trajectory] = await read([
    {
      resourceLogs: [
        {
          scopeLogs: [
            {
              logRecords: [
                log('gen_ai.user.message', { content: text('Hi') }),
                log('gen_ai.choice', { index: { intValue: 0 }, finish_reason: text('stop'), message }),
              ],
            },
          ],
        },
      ],
    },
    span('1', chat),
  ]);
  expect(trajectory).toMatchObject({
    messages: plainChat,
    termination: 'stop',
    outcome: 'excluded',
    metadata: { excluded: 'no verdict', model: 'm' },
  });
});

test('the event of 1.37 that carries the span’s messages', async () => {
  const attributes = {
    'gen_ai.system_instructions': '[{"type":"text","content":"Be kind"}]',
    'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"Hi"}]}]',
    'gen_ai.output.messages':
      '[{"role":"assistant","parts":[{"type":"text","content":"Hello."}],"finish_reason":"stop"}]',
  };
  const [trajectory] = await read([
    span('1', chat, { events: [{ name: 'gen_ai.client.inference.operation.details', attributes }] }),
  ]);
  expect(trajectory!.messages).toEqual([{ role: 'system', content: 'Be kind' }, ...plainChat]);
});

test('content events of 1.27, and OpenLLMetry’s flat attributes', async () => {
  const events = [
    { name: 'gen_ai.content.prompt', attributes: { 'gen_ai.prompt': JSON.stringify([plainChat[0]]) } },
    {
      name: 'gen_ai.content.completion',
      attributes: { 'gen_ai.completion': JSON.stringify([plainChat[1]]) },
    },
  ];
  expect((await read([span('1', chat, { events })]))[0]!.messages).toEqual(plainChat);
  const flat = {
    'gen_ai.request.model': 'm',
    'gen_ai.prompt.0.role': 'user',
    'gen_ai.prompt.0.content': 'Hi',
    'gen_ai.completion.0.role': 'assistant',
    'gen_ai.completion.0.finish_reason': 'tool_calls',
    'gen_ai.completion.0.tool_calls.0.id': 'c',
    'gen_ai.completion.0.tool_calls.0.name': 'find',
    'gen_ai.completion.0.tool_calls.0.arguments': '{"q":1}',
    'llm.request.functions.0.name': 'find',
    'llm.request.functions.0.parameters': '{"type":"object"}',
  };
  const tool = {
    'traceloop.span.kind': 'tool',
    'traceloop.entity.name': 'find',
    'traceloop.entity.output': '42',
  };
  const [trajectory] = await read([span('1', flat), span('2', tool)]);
  expect(trajectory).toMatchObject({
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', function: { name: 'find', arguments: { q: 1 } } }],
      },
      { role: 'tool', tool_call_id: 'c', name: 'find', content: '42' },
    ],
    tools: [{ function: { name: 'find', parameters: { type: 'object' } } }],
    termination: 'tool_calls',
  });
});

test('evaluations: as a log, by the id of the response, as a span of no length', async () => {
  const messages = {
    'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"Hi"}]}]',
    'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"text","content":"Hello."}]}]',
  };
  const one = span('1', { ...chat, ...messages, 'gen_ai.response.id': 'r1' });
  const judged = {
    'gen_ai.evaluation.name': 'correctness',
    'gen_ai.evaluation.score.label': 'pass',
    'gen_ai.evaluation.score.value': 0.8,
  };
  const log = { timeUnixNano: '1', severityNumber: 9, eventName: 'gen_ai.evaluation.result' };
  const pairs = (given: object) =>
    Object.entries(given).map(([key, value]) => ({
      key,
      value: typeof value === 'number' ? { doubleValue: value } : { stringValue: value },
    }));
  const forms = [
    { ...log, traceId: TRACE, spanId: '0000000000000001', attributes: pairs(judged) },
    { ...log, attributes: pairs({ ...judged, 'gen_ai.response.id': 'r1' }) },
    span('2', judged, { name: 'gen_ai.evaluation.result', parent_id: '0x0000000000000001' }),
  ];
  for (const form of forms)
    for (const records of [
      [one, form],
      [form, one],
    ])
      expect(await read(records)).toMatchObject([
        { outcome: 'passed', reward: 0.8, metadata: { scores: { correctness: 0.8 } } },
      ]);
  // The threshold counts before the label.
  expect(await read([one, forms[0]!], { passAt: 0.9 })).toMatchObject([{ outcome: 'failed', reward: 0.8 }]);
});

test('the task: an example’s id, else the session, else the first request', async () => {
  const messages = {
    'gen_ai.prompt': JSON.stringify([plainChat[0]]),
    'gen_ai.completion': JSON.stringify([plainChat[1]]),
  };
  const other = (id: string, trace: string, attributes: object) =>
    span(
      id,
      { ...chat, ...messages, ...attributes },
      { context: { trace_id: trace.repeat(32), span_id: id.padStart(16, '0') } },
    );
  const trajectories = await read([
    other('1', '1', { 'metadata.task_id': 't-1', 'session.id': 's-1' }),
    other('2', '2', { 'gen_ai.conversation.id': 's-2' }),
    other('3', '3', {}),
    other('4', '4', {}),
  ]);
  const [, , third] = trajectories;
  expect(third!.taskId).toMatch(/^task-[0-9a-f]{12}$/);
  expect(trajectories.map(({ taskId, trial }) => [taskId, trial])).toEqual([
    ['t-1', 0],
    ['s-2', 0],
    [third!.taskId, 0],
    [third!.taskId, 1],
  ]);
});

test('OpenInference: rows of annotations, nested attributes, inputs that are bodies of requests', async () => {
  const nested = {
    openinference: { span: { kind: 'LLM' } },
    llm: {
      input_messages: [{ message: { role: 'user', content: 'Hi' } }],
      output_messages: [{ message: { role: 'assistant', content: 'Hello.' } }],
    },
  };
  const body = {
    'openinference.span.kind': 'LLM',
    'input.value': JSON.stringify({ model: 'm', messages: [plainChat[0]] }),
    'input.mime_type': 'application/json',
    'output.value': JSON.stringify({ choices: [{ message: plainChat[1] }] }),
  };
  const row = {
    id: 'x',
    span_id: '0000000000000001',
    name: 'correctness',
    annotator_kind: 'HUMAN',
    result: { label: 'incorrect', score: 0, explanation: 'no' },
  };
  for (const attributes of [nested, body]) {
    const [trajectory] = await read([span('1', attributes), row], {}, openInferenceImporter);
    expect(trajectory).toMatchObject({
      source: 'openinference',
      messages: plainChat,
      outcome: 'failed',
      checks: [{ name: 'correctness', passed: false, detail: 'no' }],
    });
  }
});
