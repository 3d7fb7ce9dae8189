import { describe, expect, test } from 'vitest';
import type { Message } from '../trajectory.js';
import type { Span, ToolRun } from './spans.js';
import { conversationOf, fillResults } from './spans-conversation.js';

const system: Message = { role: 'system', content: 'policy' };
const user = (content: string): Message => ({ role: 'user', content });
const said = (content: string): Message => ({ role: 'assistant', content });
const calls = (...ids: string[]): Message => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'find', arguments: { id } } })),
});
const result = (id: string, content = `result of ${id}`): Message => ({
  role: 'tool',
  tool_call_id: id,
  content,
});
const span = (
  start: number,
  kind: Span['kind'],
  input: Message[],
  output: Message[],
  more: Partial<Span> = {},
): Span => ({
  traceId: 't',
  id: `s${start}`,
  parentId: 'root',
  start: String(start),
  kind,
  name: '',
  input,
  output,
  ...more,
});
const tool = (start: number, run: ToolRun) => span(start, 'tool', [], [], { tool: run });
const llm = (start: number, input: Message[], output: Message[]) => span(start, 'llm', input, output);
const messages = (...spans: Span[]) => conversationOf(spans).messages;

describe('histories', () => {
  test('each request repeats what was before: the last one has it all', () => {
    const spans = [
      llm(1, [system, user('a')], [calls('1')]),
      llm(2, [system, user('a'), calls('1'), result('1')], [said('b')]),
      llm(3, [system, user('a'), calls('1'), result('1'), said('b'), user('c')], [said('d')]),
    ];
    expect(messages(...spans)).toEqual([
      system,
      user('a'),
      calls('1'),
      result('1'),
      said('b'),
      user('c'),
      said('d'),
    ]);
    expect(conversationOf(spans)).toMatchObject({ otherThreads: 0, last: { id: 's3' } });
  });

  test('a window that shows the newest messages only goes on from what it overlaps', () => {
    const before = [user('a'), said('b'), user('c'), said('d'), user('e')];
    expect(
      messages(
        llm(1, [system, ...before], [said('f')]),
        llm(2, [system, user('e'), said('f'), user('g')], [said('h')]),
      ),
    ).toEqual([system, ...before, said('f'), user('g'), said('h')]);
  });

  test('results alone are sent to a server that keeps the rest', () => {
    expect(
      messages(llm(1, [user('a')], [calls('1', '2')]), llm(2, [result('1'), result('2')], [said('b')])),
    ).toEqual([user('a'), calls('1', '2'), result('1'), result('2'), said('b')]);
  });

  test('a second try is no second turn', () => {
    const again = [
      llm(1, [user('a')], [said('oops')]),
      llm(2, [user('a')], [said('b')]),
      llm(3, [user('a'), said('b'), user('c')], [said('d')]),
    ];
    expect(messages(...again)).toEqual([user('a'), said('b'), user('c'), said('d')]);
    expect(conversationOf(again).otherThreads).toBe(1);
  });

  test('sub-agents, judges and simulated users stay out: the longest is the agent’s', () => {
    const found = conversationOf([
      llm(1, [system, user('a')], [calls('1')]),
      llm(2, [{ role: 'system', content: 'search' }, user('find 1')], [said('found')]),
      llm(3, [system, user('a'), calls('1'), result('1')], [said('b')]),
      llm(4, [{ role: 'system', content: 'judge' }, user('was b good?')], [said('yes')]),
    ]);
    expect(found.messages).toEqual([system, user('a'), calls('1'), result('1'), said('b')]);
    expect(found.otherThreads).toBe(2);
  });

  test('of equally long ones the one that calls tools, then the later', () => {
    expect(messages(llm(1, [user('a')], [calls('1')]), llm(2, [user('x')], [said('y')]))).toEqual([
      user('a'),
      calls('1'),
    ]);
    expect(messages(llm(1, [user('a')], [said('query')]), llm(2, [user('b')], [said('answer')]))).toEqual([
      user('b'),
      said('answer'),
    ]);
  });

  test('ids and spaces that one side lacks do not part a conversation', () => {
    const nameless: Message = {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: '', type: 'function', function: { name: 'find', arguments: { id: '1' } } }],
    };
    expect(
      messages(llm(1, [user('a ')], [nameless]), llm(2, [user('a'), calls('1'), result('1')], [said('b')])),
    ).toHaveLength(4);
  });
});

describe('results from the tools’ own spans', () => {
  test('what no later request shows is filled in, by the id of the call', () => {
    const run = { name: 'find', callId: '1', result: 'here', error: true };
    expect(messages(llm(1, [user('a')], [calls('1')]), tool(2, run))).toEqual([
      user('a'),
      calls('1'),
      { role: 'tool', tool_call_id: '1', name: 'find', content: 'here', error: true },
    ]);
  });

  test('by arguments, and by order where they were not captured', () => {
    const byArguments = [
      { name: 'find', arguments: { id: '2' }, result: 'two' },
      { name: 'find', arguments: { id: '1' }, result: 'one' },
    ];
    const contents = (runs: readonly ToolRun[]) =>
      fillResults([calls('1', '2')], runs)
        .slice(1)
        .map((message) => message.content);
    expect(contents(byArguments)).toEqual(['one', 'two']);
    expect(contents(byArguments.map(({ name, result: text }) => ({ name, result: text })))).toEqual([
      'two',
      'one',
    ]);
  });

  test('a told result comes once; a broken execution marks it', () => {
    const run: ToolRun = { name: 'find', callId: '1', result: 'same', error: true };
    expect(fillResults([calls('1'), result('1', 'same'), said('b')], [run])).toEqual([
      calls('1'),
      { ...result('1', 'same'), error: true },
      said('b'),
    ]);
    expect(
      fillResults([calls('1'), { ...result('', 'same') }], [{ name: 'find', result: 'same' }]),
    ).toHaveLength(2);
  });

  test('executions of other agents are no one’s results here', () => {
    expect(fillResults([calls('1')], [{ name: 'other', callId: '9', result: 'x' }])).toEqual([calls('1')]);
  });
});

describe('no request captured', () => {
  const root = span(0, 'agent', [user('a')], [said('b')], { parentId: null });
  test('the outermost step and the executions tell it', () => {
    const run: ToolRun = { name: 'find', arguments: { id: '1' }, result: 'one' };
    expect(messages(root, tool(1, run))).toEqual([
      user('a'),
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call-1', type: 'function', function: { name: 'find', arguments: { id: '1' } } }],
      },
      { role: 'tool', content: 'one', tool_call_id: 'call-1', name: 'find' },
      said('b'),
    ]);
    expect(conversationOf([root]).last).toBeNull();
  });
  test('an agent’s state that holds the whole conversation is taken as it is', () => {
    const whole = [user('a'), calls('1'), result('1'), said('b')];
    expect(
      messages(
        span(0, 'agent', [user('a')], whole, { parentId: null }),
        tool(1, { name: 'find', callId: '1', result: 'x' }),
      ),
    ).toEqual(whole);
  });
});
