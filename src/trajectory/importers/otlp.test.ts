import { describe, expect, test } from 'vitest';
import { attributesOf, readOtlp, spanId } from './otlp.js';
import { timeKey } from './spans.js';

const TRACE = '5b8efff798038103d269b633813fc60c';
const SPAN = 'eee19b7ec3c1b174';

describe('forms of one span', () => {
  const otlp = {
    traceId: TRACE,
    spanId: SPAN,
    parentSpanId: '',
    name: 'chat',
    startTimeUnixNano: '1544712660000000000',
    attributes: [
      { key: 'a', value: { stringValue: 'x' } },
      { key: 'n', value: { intValue: '3' } },
      { key: 'd', value: { doubleValue: 0.5 } },
      { key: 'l', value: { arrayValue: { values: [{ boolValue: true }, { stringValue: 'y' }] } } },
      { key: 'o', value: { kvlistValue: { values: [{ key: 'k', value: { stringValue: 'v' } }] } } },
    ],
    status: { code: 'STATUS_CODE_ERROR', message: 'timeout' },
  };
  const plain = { a: 'x', n: 3, d: 0.5, l: [true, 'y'], o: { k: 'v' } };
  const forms: readonly [string, object][] = [
    ['OTLP', otlp],
    ['OTLP in a request', { resourceSpans: [{ resource: {}, scopeSpans: [{ scope: {}, spans: [otlp] }] }] }],
    ['OTLP of before 2022', { resourceSpans: [{ instrumentationLibrarySpans: [{ spans: [otlp] }] }] }],
    ['Tempo', { batches: [{ resource: {}, scopeSpans: [{ spans: [otlp] }] }] }],
    [
      'Tempo, version 2 of its interface',
      { trace: { resourceSpans: [{ scopeSpans: [{ spans: [otlp] }] }] } },
    ],
    [
      'Protobuf’s names and base64',
      {
        resource_spans: [
          {
            scope_spans: [
              {
                spans: [
                  {
                    trace_id: Buffer.from(TRACE, 'hex').toString('base64'),
                    span_id: Buffer.from(SPAN, 'hex').toString('base64'),
                    name: 'chat',
                    start_time_unix_nano: '1544712660000000000',
                    attributes: [
                      { key: 'a', value: { string_value: 'x' } },
                      { key: 'n', value: { int_value: 3 } },
                      { key: 'd', value: { double_value: 0.5 } },
                      {
                        key: 'l',
                        value: { array_value: { values: [{ bool_value: true }, { string_value: 'y' }] } },
                      },
                      {
                        key: 'o',
                        value: { kvlist_value: { values: [{ key: 'k', value: { string_value: 'v' } }] } },
                      },
                    ],
                    status: { code: 2, message: 'timeout' },
                  },
                ],
              },
            ],
          },
        ],
      },
    ],
    [
      'console of the Python SDK',
      {
        name: 'chat',
        context: { trace_id: `0x${TRACE}`, span_id: `0x${SPAN}`, trace_state: '[]' },
        kind: 'SpanKind.CLIENT',
        parent_id: null,
        start_time: '2018-12-13T14:51:00.000000Z',
        status: { status_code: 'ERROR', description: 'timeout' },
        attributes: plain,
        events: [],
      },
    ],
    [
      'console of the JavaScript SDK',
      {
        traceId: TRACE,
        id: SPAN,
        parentSpanContext: undefined,
        name: 'chat',
        timestamp: 1544712660000000,
        attributes: plain,
        status: { code: 2, message: 'timeout' },
        events: [],
      },
    ],
    [
      'file of the JavaScript SDK',
      {
        traceId: TRACE,
        spanId: SPAN,
        name: 'chat',
        startTime: [1544712660, 0],
        attributes: plain,
        status: { code: 2, message: 'timeout' },
      },
    ],
    [
      'Phoenix’s table',
      {
        name: 'chat',
        'context.trace_id': TRACE,
        'context.span_id': SPAN,
        parent_id: null,
        start_time: '2018-12-13T14:51:00+00:00',
        status_code: 'ERROR',
        status_message: 'timeout',
        'attributes.a': 'x',
        'attributes.n': 3,
        'attributes.d': 0.5,
        'attributes.l': [true, 'y'],
        'attributes.o': { k: 'v' },
        'attributes.none': null,
      },
    ],
  ];
  test.each(forms)('%s', (_name, record) => {
    const { spans } = readOtlp(record);
    expect(spans).toHaveLength(1);
    const [span] = spans;
    expect(span).toMatchObject({
      traceId: TRACE,
      id: SPAN,
      parentId: null,
      name: 'chat',
      error: 'timeout',
      events: [],
    });
    expect(timeKey(span!.start)).toBe('01544712660000000000');
    expect(
      Object.fromEntries(span!.attributes.names.map((name) => [name, span!.attributes.get(name)])),
    ).toEqual(plain);
  });
});

test('moments of any exporter sort together', () => {
  const moments = [
    '1544712660000000000',
    1544712660000,
    1544712660,
    '2018-12-13T14:51:00Z',
    '2018-12-13 14:51:00',
    '2018-12-13T15:51:00.000+01:00',
    '20181213T145100000000Z0a1b',
  ];
  for (const moment of moments) expect(timeKey(moment)).toBe('01544712660000000000');
  expect(timeKey('2018-12-13T14:51:00.1234567Z')).toBe('01544712660123456700');
  for (const none of ['', 'soon', null, undefined, -1, Number.NaN, {}, '2018-99-99T00:00:00Z'])
    expect(timeKey(none)).toBe('');
});

test('ids', () => {
  expect(spanId('0000000000000000')).toBe('');
  expect(spanId('0xABCDEF0123456789')).toBe('abcdef0123456789');
  expect(spanId('run-1')).toBe('run-1');
  expect(spanId(null)).toBe('');
});

test('dotted names, nested objects and JSON text are the same tree', () => {
  const tree = [
    { message: { role: 'user', content: 'Hi' } },
    { message: { role: 'assistant', content: 'Yes?' } },
  ];
  const flat = {
    'llm.input_messages.1.message.role': 'assistant',
    'llm.input_messages.1.message.content': 'Yes?',
    'llm.input_messages.0.message.role': 'user',
    'llm.input_messages.0.message.content': 'Hi',
    'llm.model_name': 'm',
  };
  const dotted = [
    { 'message.role': 'user', 'message.content': 'Hi' },
    { 'message.role': 'assistant', 'message.content': 'Yes?' },
  ];
  for (const attributes of [
    flat,
    { llm: { input_messages: tree } },
    { 'llm.input_messages': tree },
    { 'llm.input_messages': JSON.stringify(tree) },
    { 'llm.input_messages': dotted },
  ])
    expect(attributesOf(attributes, 'a').tree('llm.input_messages')).toEqual(tree);
  // Ten and more are in the order of numbers; a huge index makes no huge list.
  const many = Object.fromEntries([11, 2, 999_999_999, 1].map((i) => [`x.${i}`, i]));
  expect(attributesOf(many, 'a').tree('x')).toEqual([1, 2, 11, 999_999_999]);
  expect(attributesOf({ '__proto__.polluted': 1 }, 'a').tree('__proto__')).toEqual({ polluted: 1 });
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
});

test('what is no span is named', () => {
  expect(() => readOtlp({ resourceSpans: [{ scopeSpans: [{ spans: [{ name: 'x' }] }] }] })).toThrow(
    /\(record\)\.resourceSpans\[0\]\.scopeSpans\[0\]\.spans\[0\]\.traceId is missing/,
  );
  expect(() => readOtlp({ resourceSpans: [7] })).toThrow(/resourceSpans\[0\] must be an object/);
});
