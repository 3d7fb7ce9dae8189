/**
 * One episode of an agent, and how each tracing tool would have recorded it, written by hand from the tools'
 * specifications. The encoders know nothing of the importers.
 */

/** A call of a tool and what came of it. */
export interface TracedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: { readonly id: string };
  readonly result: string;
  readonly failed: boolean;
}

export interface TracedEpisode {
  readonly trace: string;
  readonly task: string;
  readonly request: string;
  readonly passed: boolean;
  /** Absent: an order is looked up, and its cancelling fails. */
  readonly calls?: readonly TracedCall[];
}

export const SYSTEM = 'You help customers with their orders.';
export const SCHEMAS = [
  {
    name: 'get_order',
    description: 'Look an order up',
    parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  },
  {
    name: 'cancel_order',
    description: 'Cancel an order',
    parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  },
];
const CALLS: readonly TracedCall[] = [
  {
    id: 'call_1',
    name: 'get_order',
    arguments: { id: 'A7' },
    result: '{"id":"A7","status":"sent"}',
    failed: false,
  },
  {
    id: 'call_2',
    name: 'cancel_order',
    arguments: { id: 'A7' },
    result: 'Error: it was sent already',
    failed: true,
  },
];
const ANSWER = 'I am sorry, it was sent already.';

/** The conversation that every importer has to tell. */
export function expectedMessages({ request, calls = CALLS }: TracedEpisode) {
  return [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: request },
    ...calls.flatMap(({ id, name, arguments: given, result, failed }) => [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: { name, arguments: given } }],
      },
      { role: 'tool', content: result, tool_call_id: id, ...(failed ? { error: true } : {}) },
    ]),
    { role: 'assistant', content: ANSWER },
  ];
}

/** What the model saw before its `n`-th request, and what it said then, as turns: text, a call, a result. */
type Turn =
  | { readonly role: 'system' | 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text?: string; readonly call?: TracedCall }
  | { readonly role: 'tool'; readonly of: TracedCall };

function requestsOf(episode: TracedEpisode): { readonly history: Turn[]; readonly said: Turn }[] {
  const history: Turn[] = [
    { role: 'system', text: SYSTEM },
    { role: 'user', text: episode.request },
  ];
  const requests = (episode.calls ?? CALLS).map((call) => {
    const request = { history: [...history], said: { role: 'assistant', call } as Turn };
    history.push({ role: 'assistant', call }, { role: 'tool', of: call });
    return request;
  });
  return [...requests, { history, said: { role: 'assistant', text: ANSWER } }];
}

const hex = (text: string, length: number) =>
  [...text]
    .map((letter) => letter.charCodeAt(0).toString(16))
    .join('')
    .padEnd(length, '0')
    .slice(0, length);
/** Moments: the root at 0, model and tool spans in turn after it. */
const at = (step: number) => 1_780_000_000 + step;
const nano = (step: number) => `${at(step)}000000000`;
const iso = (step: number) => new Date(at(step) * 1000).toISOString();

const value = (given: unknown): unknown =>
  typeof given === 'string'
    ? { stringValue: given }
    : typeof given === 'boolean'
      ? { boolValue: given }
      : Number.isInteger(given)
        ? { intValue: String(given) }
        : typeof given === 'number'
          ? { doubleValue: given }
          : { arrayValue: { values: (given as unknown[]).map(value) } };
const attributes = (given: object) =>
  Object.entries(given).map(([key, inner]) => ({ key, value: value(inner) }));

const genAiMessage = (turn: Turn) => {
  if (turn.role === 'tool')
    return {
      role: 'tool',
      parts: [{ type: 'tool_call_response', id: turn.of.id, response: turn.of.result }],
    };
  if (turn.role !== 'assistant') return { role: turn.role, parts: [{ type: 'text', content: turn.text }] };
  const { call } = turn;
  return {
    role: 'assistant',
    parts: call
      ? [{ type: 'tool_call', id: call.id, name: call.name, arguments: call.arguments }]
      : [{ type: 'text', content: turn.text }],
    finish_reason: call ? 'tool_call' : 'stop',
  };
};

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: unknown[];
  readonly events?: unknown[];
  readonly status: object;
}

/** A span of OTLP; step 0 is the root. */
function otlpSpan(
  episode: TracedEpisode,
  step: number,
  name: string,
  given: object,
  more: object = {},
): OtlpSpan {
  return {
    traceId: hex(episode.trace, 32),
    spanId: hex(`${episode.trace}${step}`, 16),
    ...(step === 0 ? {} : { parentSpanId: hex(`${episode.trace}0`, 16) }),
    name,
    kind: 1,
    startTimeUnixNano: nano(step),
    endTimeUnixNano: nano(step === 0 ? 9 : step + 1),
    attributes: attributes(given),
    status: {},
    ...more,
  };
}

const failedStatus = { status: { code: 2, message: 'ToolError' } };

/** GenAI conventions: messages in attributes, an evaluation as an event of the agent's span. */
export function genAiSpans(episode: TracedEpisode): OtlpSpan[] {
  const requests = requestsOf(episode);
  return [
    otlpSpan(
      episode,
      0,
      'invoke_agent shop',
      {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'shop',
        'dataset.item.id': episode.task,
      },
      {
        events: [
          {
            name: 'gen_ai.evaluation.result',
            timeUnixNano: nano(9),
            attributes: attributes({
              'gen_ai.evaluation.name': 'task_success',
              'gen_ai.evaluation.score.value': episode.passed ? 1 : 0,
              'gen_ai.evaluation.score.label': episode.passed ? 'pass' : 'fail',
              'gen_ai.evaluation.explanation': 'compared with the database',
            }),
          },
        ],
      },
    ),
    ...requests.map(({ history, said }, i) =>
      otlpSpan(episode, 2 * i + 1, 'chat m-1', {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'm-1',
        'gen_ai.response.id': `${episode.trace}-r${i}`,
        'gen_ai.response.finish_reasons': ['call' in said && said.call ? 'tool_calls' : 'stop'],
        'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: SYSTEM }]),
        'gen_ai.input.messages': JSON.stringify(history.slice(1).map(genAiMessage)),
        'gen_ai.output.messages': JSON.stringify([genAiMessage(said)]),
        'gen_ai.tool.definitions': JSON.stringify(SCHEMAS.map((schema) => ({ type: 'function', ...schema }))),
      }),
    ),
    ...(episode.calls ?? CALLS).map((call, i) =>
      otlpSpan(
        episode,
        2 * i + 2,
        `execute_tool ${call.name}`,
        {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': call.name,
          'gen_ai.tool.call.id': call.id,
          'gen_ai.tool.call.arguments': JSON.stringify(call.arguments),
          'gen_ai.tool.call.result': call.result,
        },
        call.failed ? failedStatus : {},
      ),
    ),
  ];
}

/** Conventions up to 1.36: an event for each message. */
export function eventSpans(episode: TracedEpisode): OtlpSpan[] {
  const toolCalls = (call: TracedCall) => [
    {
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    },
  ];
  const event = (turn: Turn, step: number) => ({
    name: `gen_ai.${turn.role}.message`,
    timeUnixNano: nano(step),
    attributes: attributes(
      turn.role === 'tool'
        ? { 'gen_ai.system': 'openai', id: turn.of.id, content: turn.of.result }
        : turn.role === 'assistant'
          ? { 'gen_ai.system': 'openai', tool_calls: JSON.stringify(toolCalls(turn.call!)) }
          : { 'gen_ai.system': 'openai', content: turn.text },
    ),
  });
  const [root, ...others] = genAiSpans(episode);
  const chats = requestsOf(episode).map(({ history, said }, i) => {
    const { call, text } = said as { call?: TracedCall; text?: string };
    const message = { role: 'assistant', ...(call ? { tool_calls: toolCalls(call) } : { content: text }) };
    return otlpSpan(
      episode,
      2 * i + 1,
      'chat m-1',
      { 'gen_ai.operation.name': 'chat', 'gen_ai.system': 'openai', 'gen_ai.request.model': 'm-1' },
      {
        events: [
          ...history.map((turn) => event(turn, 2 * i + 1)),
          {
            name: 'gen_ai.choice',
            timeUnixNano: nano(2 * i + 1),
            attributes: attributes({
              'gen_ai.system': 'openai',
              index: 0,
              finish_reason: call ? 'tool_calls' : 'stop',
              message: JSON.stringify(message),
            }),
          },
        ],
      },
    );
  });
  return [root!, ...chats, ...others.filter(({ name }) => name.startsWith('execute_tool'))];
}

function openInferenceTurn(turn: Turn, prefix: string): object {
  if (turn.role === 'tool')
    return {
      [`${prefix}.message.role`]: 'tool',
      [`${prefix}.message.content`]: turn.of.result,
      [`${prefix}.message.tool_call_id`]: turn.of.id,
    };
  if (turn.role !== 'assistant')
    return { [`${prefix}.message.role`]: turn.role, [`${prefix}.message.content`]: turn.text };
  const { call } = turn;
  const calls = `${prefix}.message.tool_calls.0.tool_call`;
  return {
    [`${prefix}.message.role`]: 'assistant',
    ...(call
      ? {
          [`${calls}.id`]: call.id,
          [`${calls}.function.name`]: call.name,
          [`${calls}.function.arguments`]: JSON.stringify(call.arguments),
        }
      : { [`${prefix}.message.content`]: turn.text }),
  };
}

/** Attributes of OpenInference, flattened, by step of the episode. */
function openInferenceSteps(
  episode: TracedEpisode,
): { step: number; name: string; kind: string; given: object; failed?: boolean }[] {
  const root = {
    'openinference.span.kind': 'AGENT',
    'input.value': episode.request,
    'output.value': ANSWER,
    metadata: JSON.stringify({ example_id: episode.task }),
    'trace.evaluations.0.evaluation.name': 'correctness',
    'trace.evaluations.0.evaluation.label': episode.passed ? 'correct' : 'incorrect',
    'trace.evaluations.0.evaluation.score': episode.passed ? 1 : 0,
    'trace.evaluations.0.evaluation.annotator_kind': 'CODE',
    'annotations.0.annotation.name': 'politeness',
    'annotations.0.annotation.score': 0.25,
  };
  const chats = requestsOf(episode).map(({ history, said }, i) => ({
    step: 2 * i + 1,
    name: 'ChatCompletion',
    kind: 'LLM',
    given: {
      'openinference.span.kind': 'LLM',
      'llm.model_name': 'm-1',
      'input.mime_type': 'application/json',
      ...Object.assign({}, ...history.map((turn, j) => openInferenceTurn(turn, `llm.input_messages.${j}`))),
      ...openInferenceTurn(said, 'llm.output_messages.0'),
      ...Object.assign(
        {},
        ...SCHEMAS.map((schema, j) => ({
          [`llm.tools.${j}.tool.json_schema`]: JSON.stringify({ type: 'function', function: schema }),
        })),
      ),
    },
  }));
  const tools = (episode.calls ?? CALLS).map((call, i) => ({
    step: 2 * i + 2,
    name: call.name,
    kind: 'TOOL',
    given: {
      'openinference.span.kind': 'TOOL',
      'tool.name': call.name,
      'input.value': JSON.stringify(call.arguments),
      'output.value': call.result,
    },
    failed: call.failed,
  }));
  return [{ step: 0, name: 'shop', kind: 'AGENT', given: root }, ...chats, ...tools];
}

export function openInferenceSpans(episode: TracedEpisode): OtlpSpan[] {
  return openInferenceSteps(episode).map(({ step, name, given, failed }) =>
    otlpSpan(episode, step, name, given, failed ? failedStatus : {}),
  );
}

/** Spans as Phoenix's interface lists them (`GET /v1/projects/…/spans`). */
export function phoenixSpans(episode: TracedEpisode) {
  return openInferenceSteps(episode).map(({ step, name, kind, given, failed }) => ({
    id: `U3Bhbjo${step}`,
    name,
    context: { trace_id: hex(episode.trace, 32), span_id: hex(`${episode.trace}${step}`, 16) },
    span_kind: kind,
    parent_id: step === 0 ? null : hex(`${episode.trace}0`, 16),
    start_time: iso(step),
    end_time: iso(step + 1),
    status_code: failed ? 'ERROR' : 'OK',
    status_message: failed ? 'ToolError' : '',
    attributes: given,
    events: [],
  }));
}

/** OTLP's export request around spans. */
export const otlpRequest = (spans: readonly object[]) => ({
  resourceSpans: [
    {
      resource: { attributes: attributes({ 'service.name': 'shop' }) },
      scopeSpans: [{ scope: { name: 'shop.tracing', version: '1' }, spans }],
    },
  ],
});

const openAiMessage = (turn: Turn): object => {
  if (turn.role === 'tool') return { role: 'tool', content: turn.of.result, tool_call_id: turn.of.id };
  if (turn.role !== 'assistant') return { role: turn.role, content: turn.text };
  const { call } = turn;
  if (!call) return { role: 'assistant', content: turn.text };
  const called = { name: call.name, arguments: JSON.stringify(call.arguments) };
  return {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: call.id, type: 'function', function: called }],
  };
};

const langChainClass = {
  system: 'SystemMessage',
  user: 'HumanMessage',
  assistant: 'AIMessage',
  tool: 'ToolMessage',
};
const langChainMessage = (turn: Turn): object => {
  const of = (kwargs: object) => ({
    lc: 1,
    type: 'constructor',
    id: ['langchain', 'schema', 'messages', langChainClass[turn.role]],
    kwargs,
  });
  if (turn.role === 'tool')
    return of({
      content: turn.of.result,
      type: 'tool',
      name: turn.of.name,
      tool_call_id: turn.of.id,
      status: turn.of.failed ? 'error' : 'success',
    });
  if (turn.role !== 'assistant')
    return of({ content: turn.text, type: turn.role === 'user' ? 'human' : 'system' });
  const { call } = turn;
  return of({
    content: turn.text ?? '',
    type: 'ai',
    tool_calls: call ? [{ name: call.name, args: call.arguments, id: call.id, type: 'tool_call' }] : [],
    invalid_tool_calls: [],
  });
};

const uuid = (episode: TracedEpisode, step: number) => {
  const digits = hex(`${step}${episode.trace}`, 32);
  return [8, 12, 16, 20, 32].map((end, i, ends) => digits.slice(i === 0 ? 0 : ends[i - 1], end)).join('-');
};

/** LangSmith's runs; `form` is how the model's client writes messages. */
export function langSmithRuns(episode: TracedEpisode, form: 'langchain' | 'openai') {
  const root = uuid(episode, 0);
  const order = (step: number) =>
    `${iso(step).replace(/[-:.]/g, '').replace('Z', '000Z')}${uuid(episode, step)}`;
  const run = (
    step: number,
    name: string,
    type: string,
    inputs: object,
    outputs: object | null,
    more: object = {},
  ) => ({
    id: uuid(episode, step),
    trace_id: root,
    parent_run_id: step === 0 ? null : root,
    dotted_order: step === 0 ? order(0) : `${order(0)}.${order(step)}`,
    name,
    run_type: type,
    start_time: iso(step).replace('Z', '000'),
    end_time: iso(step + 1).replace('Z', '000'),
    inputs,
    outputs,
    error: null,
    extra: { metadata: { ls_model_name: 'm-1' } },
    tags: [],
    session_id: '11111111-2222-3333-4444-555555555555',
    ...more,
  });
  const tools = SCHEMAS.map((schema) => ({ type: 'function', function: schema }));
  const message = form === 'openai' ? openAiMessage : langChainMessage;
  return [
    run(
      0,
      'shop',
      'chain',
      { input: episode.request },
      { output: ANSWER },
      {
        reference_example_id: episode.task,
        feedback_stats: { correctness: { n: 1, avg: episode.passed ? 1 : 0, values: {} } },
      },
    ),
    ...requestsOf(episode).map(({ history, said }, i) => {
      const messages = history.map(message);
      return run(
        2 * i + 1,
        'ChatOpenAI',
        'llm',
        form === 'openai' ? { messages, model: 'm-1', tools } : { messages: [messages] },
        form === 'openai'
          ? {
              choices: [
                {
                  index: 0,
                  finish_reason: 'call' in said && said.call ? 'tool_calls' : 'stop',
                  message: message(said),
                },
              ],
            }
          : {
              generations: [
                [
                  {
                    text: '',
                    type: 'ChatGeneration',
                    generation_info: { finish_reason: 'call' in said && said.call ? 'tool_calls' : 'stop' },
                    message: message(said),
                  },
                ],
              ],
            },
        form === 'openai'
          ? {}
          : { extra: { metadata: { ls_model_name: 'm-1' }, invocation_params: { model: 'm-1', tools } } },
      );
    }),
    ...(episode.calls ?? CALLS).map((call, i) =>
      run(
        2 * i + 2,
        call.name,
        'tool',
        { input: `{'id': '${call.arguments.id}'}` },
        { output: (langChainMessage({ role: 'tool', of: call }) as { kwargs: object }).kwargs },
      ),
    ),
  ];
}

/** Langfuse: a trace with its observations and scores, as `GET /api/public/traces/…` gives it. */
export function langfuseTrace(episode: TracedEpisode) {
  const id = hex(episode.trace, 32);
  const observation = (
    step: number,
    type: string,
    name: string,
    input: unknown,
    output: unknown,
    more: object = {},
  ) => ({
    id: hex(`${episode.trace}${step}`, 16),
    traceId: id,
    parentObservationId: null,
    type,
    name,
    startTime: iso(step),
    endTime: iso(step + 1),
    level: 'DEFAULT',
    statusMessage: null,
    input,
    output,
    metadata: {},
    ...more,
  });
  return {
    id,
    timestamp: iso(0),
    name: 'shop',
    input: { question: episode.request },
    output: ANSWER,
    sessionId: null,
    userId: null,
    metadata: { task_id: episode.task },
    tags: [],
    public: false,
    observations: [
      ...requestsOf(episode).map(({ history, said }, i) =>
        observation(
          2 * i + 1,
          'GENERATION',
          'OpenAI-generation',
          {
            messages: history.map(openAiMessage),
            tools: SCHEMAS.map((schema) => ({ type: 'function', function: schema })),
          },
          openAiMessage(said),
          { model: 'm-1' },
        ),
      ),
      ...(episode.calls ?? CALLS).map((call, i) =>
        observation(
          2 * i + 2,
          'TOOL',
          call.name,
          call.arguments,
          call.result,
          call.failed ? { level: 'ERROR' } : {},
        ),
      ),
    ],
    scores: [
      {
        id: `s-${episode.trace}`,
        traceId: id,
        observationId: null,
        name: 'success',
        value: episode.passed ? 1 : 0,
        stringValue: episode.passed ? 'True' : 'False',
        dataType: 'BOOLEAN',
        source: 'API',
        comment: 'compared with the database',
      },
      {
        id: `h-${episode.trace}`,
        traceId: id,
        observationId: null,
        name: 'helpfulness',
        value: 0.5,
        dataType: 'NUMERIC',
        source: 'EVAL',
      },
    ],
  };
}

/** Some episodes: two tasks, two attempts each, one passed and one failed. */
export const EPISODES: readonly TracedEpisode[] = [
  { trace: 'aa1', task: 'task-1', request: 'Please cancel A7.', passed: true },
  { trace: 'bb2', task: 'task-1', request: 'Please cancel A7.', passed: false },
  { trace: 'cc3', task: 'task-2', request: 'Cancel order A7 now!', passed: false },
  { trace: 'dd4', task: 'task-2', request: 'Cancel order A7 now!', passed: true },
];
