import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateText, jsonSchema, stepCountIs, tool } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { expect, test } from 'vitest';
import type { Trajectory } from '../trajectory.js';
import { otelImporter } from './otel.js';
import { readSample } from './sample.js';

interface Recorded {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly attributes: { [name: string]: unknown };
  readonly events: unknown[];
  status: object;
}

/** As much of a tracer as the AI SDK uses; it keeps spans as an exporter would write them. */
class Recorder {
  readonly spans: Recorded[] = [];
  readonly #active = new AsyncLocalStorage<Recorded>();

  startSpan(name: string, options: { readonly attributes?: object } = {}) {
    return this.#open(name, options).handle;
  }

  startActiveSpan(name: string, options: { readonly attributes?: object }, run: (span: unknown) => unknown) {
    const { span, handle } = this.#open(name, options);
    return this.#active.run(span, () => run(handle));
  }

  #open(name: string, { attributes = {} }: { readonly attributes?: object }) {
    const parent = this.#active.getStore();
    const number = this.spans.length + 1;
    const span: Recorded = {
      traceId: 'ab'.repeat(16),
      spanId: String(number).padStart(16, '0'),
      ...(parent ? { parentSpanId: parent.spanId } : {}),
      name,
      startTimeUnixNano: String(1_780_000_000_000_000_000n + BigInt(number)),
      attributes: { ...attributes },
      events: [],
      status: {},
    };
    this.spans.push(span);
    const handle = {
      setAttribute: (key: string, value: unknown) => {
        span.attributes[key] = value;
        return handle;
      },
      setAttributes: (more: object) => Object.assign(span.attributes, more) && handle,
      addEvent: () => handle,
      setStatus: (status: object) => {
        span.status = status;
        return handle;
      },
      recordException: () => undefined,
      updateName: () => handle,
      end: () => undefined,
      isRecording: () => true,
      spanContext: () => ({ traceId: span.traceId, spanId: span.spanId, traceFlags: 1 }),
    };
    return { span, handle };
  }
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

test('what the AI SDK itself records of an agent with tools comes back as its conversation', async () => {
  const answers = [
    [{ type: 'tool-call', toolCallId: 'c1', toolName: 'get_order', input: '{"id":"A7"}' }],
    [{ type: 'tool-call', toolCallId: 'c2', toolName: 'cancel_order', input: '{"id":"A7"}' }],
    [{ type: 'text', text: 'It was sent already.' }],
  ];
  let step = 0;
  const model = new MockLanguageModelV3({
    modelId: 'm-1',
    doGenerate: async () => {
      const content = answers[step++] as never;
      const unified = step < 3 ? 'tool-calls' : 'stop';
      return { content, finishReason: { unified, raw: undefined }, usage, warnings: [] };
    },
  });
  const tracer = new Recorder();
  const schema = jsonSchema<{ id: string }>({
    type: 'object',
    properties: { id: { type: 'string' } },
    required: ['id'],
  });
  await generateText({
    model,
    system: 'You help customers.',
    prompt: 'Cancel A7.',
    tools: {
      get_order: tool({
        description: 'Look it up',
        inputSchema: schema,
        execute: async () => ({ status: 'sent' }),
      }),
      cancel_order: tool({
        inputSchema: schema,
        execute: async (): Promise<string> => {
          throw new Error('sent already');
        },
      }),
    },
    stopWhen: stepCountIs(5),
    experimental_telemetry: {
      isEnabled: true,
      functionId: 'shop',
      metadata: { taskId: 't-1' },
      tracer: tracer as never,
    },
  });

  const folder = mkdtempSync(join(tmpdir(), 'trace-ai-sdk-test-'));
  try {
    const path = join(folder, 'spans.jsonl');
    writeFileSync(path, tracer.spans.map((span) => JSON.stringify(span)).join('\n'));
    expect(otelImporter.matches(await readSample(path))).toBe(true);
    const trajectories: Trajectory[] = [];
    for await (const found of otelImporter.read(path, {})) trajectories.push(found);
    const [trajectory] = trajectories;
    expect(trajectory).toMatchObject({
      taskId: 't-1',
      outcome: 'excluded',
      termination: 'stop',
      metadata: { excluded: 'no verdict', model: 'm-1', name: 'shop' },
      tools: [
        { function: { name: 'get_order', description: 'Look it up' } },
        { function: { name: 'cancel_order' } },
      ],
    });
    const call = (id: string, name: string) => ({
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name, arguments: { id: 'A7' } } }],
    });
    expect(trajectory!.messages).toMatchObject([
      { role: 'system', content: 'You help customers.' },
      { role: 'user', content: 'Cancel A7.' },
      call('c1', 'get_order'),
      { role: 'tool', tool_call_id: 'c1', content: '{"status":"sent"}' },
      call('c2', 'cancel_order'),
      { role: 'tool', tool_call_id: 'c2', content: 'sent already', error: true },
      { role: 'assistant', content: 'It was sent already.' },
    ]);
    expect(trajectory!.messages).toHaveLength(7);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
