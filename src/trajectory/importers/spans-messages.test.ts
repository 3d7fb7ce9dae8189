import { describe, expect, test } from 'vitest';
import { RecordError } from '../parse.js';
import { readMessages, readToolOutput, readToolSchemas } from './spans-messages.js';

const input = (value: unknown) => readMessages(value, 'user', 'input');
const output = (value: unknown) => readMessages(value, 'assistant', 'output');
const call = (id: string, given: object = { q: 1 }) => ({
  id,
  type: 'function',
  function: { name: 'find', arguments: given },
});

describe('one turn with a call, in every form', () => {
  const expected = { role: 'assistant', content: 'Let me look.', tool_calls: [call('c1')] };
  const forms: readonly [string, unknown][] = [
    [
      'OpenAI chat',
      {
        role: 'assistant',
        content: 'Let me look.',
        tool_calls: [{ ...call('c1'), function: { name: 'find', arguments: '{"q":1}' } }],
      },
    ],
    [
      'OpenAI responses',
      [
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Let me look.' }] },
        { type: 'function_call', id: 'fc', call_id: 'c1', name: 'find', arguments: '{"q":1}' },
      ],
    ],
    [
      'Anthropic',
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me look.' },
          { type: 'tool_use', id: 'c1', name: 'find', input: { q: 1 } },
        ],
      },
    ],
    [
      'Bedrock',
      {
        role: 'assistant',
        content: [{ text: 'Let me look.' }, { toolUse: { toolUseId: 'c1', name: 'find', input: { q: 1 } } }],
      },
    ],
    [
      'GenAI conventions',
      {
        role: 'assistant',
        parts: [
          { type: 'text', content: 'Let me look.' },
          { type: 'tool_call', id: 'c1', name: 'find', arguments: { q: 1 } },
        ],
      },
    ],
    [
      'AI SDK',
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me look.' },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'find', input: { q: 1 } },
        ],
      },
    ],
    [
      'LangChain, dumped',
      {
        type: 'ai',
        content: 'Let me look.',
        tool_calls: [{ name: 'find', args: { q: 1 }, id: 'c1', type: 'tool_call' }],
      },
    ],
    [
      'LangChain, serialised, Anthropic’s parts repeated',
      {
        lc: 1,
        type: 'constructor',
        id: ['langchain', 'schema', 'messages', 'AIMessageChunk'],
        kwargs: {
          content: [
            { type: 'text', text: 'Let me look.' },
            { type: 'tool_use', id: 'c1', name: 'find', input: {} },
          ],
          tool_calls: [{ name: 'find', args: { q: 1 }, id: 'c1' }],
        },
      },
    ],
    [
      'LangChain of old',
      {
        type: 'ai',
        data: {
          content: 'Let me look.',
          additional_kwargs: {
            tool_calls: [{ id: 'c1', type: 'function', function: { name: 'find', arguments: '{"q": 1}' } }],
          },
        },
      },
    ],
    [
      'OpenInference',
      {
        message: {
          role: 'assistant',
          content: 'Let me look.',
          tool_calls: [{ tool_call: { id: 'c1', function: { name: 'find', arguments: '{"q":1}' } } }],
        },
      },
    ],
    [
      'a body of choices',
      {
        choices: [
          { message: { role: 'assistant', content: 'Let me look.', tool_calls: [call('c1')] } },
          { message: { role: 'assistant', content: 'other' } },
        ],
      },
    ],
    [
      'LangChain’s generations',
      {
        generations: [
          [
            {
              text: 'Let me look.',
              message: {
                type: 'ai',
                content: 'Let me look.',
                tool_calls: [{ name: 'find', args: { q: 1 }, id: 'c1' }],
              },
            },
          ],
        ],
        llm_output: null,
      },
    ],
  ];
  test.each(forms)('%s', (_name, value) => {
    expect(output(value)).toEqual([expected]);
    expect(output(JSON.stringify(value))).toEqual([expected]);
  });
});

describe('a result of a tool, in every form', () => {
  const forms: readonly [string, unknown][] = [
    ['OpenAI', { role: 'tool', tool_call_id: 'c1', content: 'none' }],
    [
      'Anthropic',
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'none' }] }],
      },
    ],
    [
      'Bedrock',
      {
        role: 'user',
        content: [{ toolResult: { toolUseId: 'c1', status: 'success', content: [{ text: 'none' }] } }],
      },
    ],
    [
      'GenAI conventions',
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'none' }] },
    ],
    [
      'AI SDK',
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: 'c1', output: { type: 'text', value: 'none' } }],
      },
    ],
    ['LangChain', { type: 'tool', tool_call_id: 'c1', content: 'none', status: 'success' }],
    ['OpenAI responses', { type: 'function_call_output', call_id: 'c1', output: 'none' }],
  ];
  test.each(forms)('%s', (_name, value) => {
    expect(input([value])).toEqual([{ role: 'tool', tool_call_id: 'c1', content: 'none' }]);
  });
  test('failures are told by a flag or by the words', () => {
    const [byFlag] = input([
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'no', is_error: true }] },
    ]);
    const [byStatus] = input([{ type: 'tool', tool_call_id: 'c', content: 'no', status: 'error' }]);
    const [byWord] = input([{ role: 'tool', tool_call_id: 'c', content: 'Error: no' }]);
    for (const message of [byFlag, byStatus, byWord])
      expect(message).toMatchObject({ role: 'tool', error: true });
  });
  test('words of the user beside a result stay', () => {
    expect(
      input([
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c', content: 'x' },
            { type: 'text', text: 'go on' },
          ],
        },
      ]),
    ).toEqual([
      { role: 'tool', tool_call_id: 'c', content: 'x' },
      { role: 'user', content: 'go on' },
    ]);
  });
});

test('arguments that are no JSON are the agent’s fault: kept and marked', () => {
  const [message] = output({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c', function: { name: 'find', arguments: '{"q":' } }],
  });
  expect(message).toMatchObject({
    tool_calls: [call('c', {})],
    malformed: expect.stringMatching(/arguments of find are no JSON object: \{"q":/),
  });
  const [invalid] = output({
    type: 'ai',
    content: '',
    tool_calls: [],
    invalid_tool_calls: [{ name: 'find', args: '{', id: 'c', error: 'x' }],
  });
  expect(invalid).toMatchObject({ tool_calls: [call('c', {})], malformed: expect.stringMatching(/find/) });
});

test('thinking is kept apart, media are named, refusals are words', () => {
  expect(
    output({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'Yes.' },
      ],
    }),
  ).toEqual([{ role: 'assistant', content: 'Yes.', reasoning: 'hm' }]);
  expect(
    output([
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
      { role: 'assistant', content: 'Yes.' },
    ]),
  ).toEqual([{ role: 'assistant', content: 'Yes.', reasoning: 'hm' }]);
  expect(
    input([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: 'x' } },
        ],
      },
    ]),
  ).toEqual([{ role: 'user', content: 'What is it?\n[image]' }]);
  expect(output({ role: 'assistant', content: null, refusal: 'No.' })).toEqual([
    { role: 'assistant', content: 'No.' },
  ]);
});

test('what is no message becomes one: plain text, the only text of an object, an object as JSON', () => {
  expect(input('Hello')).toEqual([{ role: 'user', content: 'Hello' }]);
  expect(input({ question: 'Hello' })).toEqual([{ role: 'user', content: 'Hello' }]);
  expect(input({ question: 'Hello', k: 3 })).toEqual([
    { role: 'user', content: '{"question":"Hello","k":3}' },
  ]);
  expect(input({ messages: [[['human', 'Hello']]] })).toEqual([{ role: 'user', content: 'Hello' }]);
  expect(input({ system: 'Be kind', messages: [{ role: 'user', content: 'Hello' }] })).toEqual([
    { role: 'system', content: 'Be kind' },
    { role: 'user', content: 'Hello' },
  ]);
  for (const nothing of [null, undefined, '', [], {}]) expect(input(nothing)).toEqual([]);
  // A user may well write JSON.
  expect(input([{ role: 'user', content: '[{"a": 1}]' }])).toEqual([{ role: 'user', content: '[{"a": 1}]' }]);
});

test('a role that no format knows is named', () => {
  expect(() =>
    input([
      { role: 'user', content: 'a' },
      { role: 'wizard', content: 'b' },
    ]),
  ).toThrow(RecordError);
  expect(() => input([{ role: 'wizard', content: 'b' }])).toThrow(/input\[0\]\.role must be .* "wizard"/);
});

test('outputs of tools: plain, as a message of LangChain, as text parts', () => {
  expect(readToolOutput('{"a":1}')).toEqual({ text: '{"a":1}', error: false });
  expect(readToolOutput({ a: 1 })).toEqual({ text: '{"a":1}', error: false });
  expect(
    readToolOutput({ output: { type: 'tool', content: 'x', tool_call_id: 'c', status: 'error' } }),
  ).toEqual({ text: 'x', callId: 'c', error: true });
  expect(
    readToolOutput([
      { type: 'text', text: 'x' },
      { type: 'text', text: 'y' },
    ]),
  ).toEqual({ text: 'x\ny', error: false });
});

test('schemas of tools', () => {
  const parameters = { type: 'object', properties: { q: { type: 'number' } } };
  const expected = [{ type: 'function', function: { name: 'find', description: 'd', parameters } }];
  expect(
    readToolSchemas([{ type: 'function', function: { name: 'find', description: 'd', parameters } }]),
  ).toEqual(expected);
  expect(
    readToolSchemas(JSON.stringify([{ type: 'function', name: 'find', description: 'd', parameters }])),
  ).toEqual(expected);
  expect(
    readToolSchemas([
      { name: 'find', description: 'd', input_schema: parameters },
      7,
      { type: 'web_search' },
    ]),
  ).toEqual(expected);
});
