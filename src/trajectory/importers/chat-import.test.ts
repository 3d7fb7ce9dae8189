import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetWriteFile } from 'hyparquet-writer';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Trajectory } from '../trajectory.js';
import { detectFormat, type ImportOptions, importTrajectories } from './detect.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-chats-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function all(path: string, options: ImportOptions = {}) {
  const items: Trajectory[] = [];
  for await (const item of importTrajectories(path, options)) items.push(item);
  return items;
}
function lines(records: readonly unknown[], name = 'chats.jsonl') {
  const path = join(folder, name);
  writeFileSync(path, records.map((record) => JSON.stringify(record)).join('\n'));
  return path;
}
const ask = { role: 'user', content: 'Where is order 1?' };
const answer = { role: 'assistant', content: 'On its way.' };
const call = (id: string | undefined, args: unknown) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'get_order', arguments: args } }],
});

describe('chats in OpenAI’s form', () => {
  test('calls, results, tools, ids, notes', async () => {
    const tools = [{ type: 'function', function: { name: 'get_order', parameters: { type: 'object' } } }];
    const path = lines([
      {
        id: 'a',
        task_id: 7,
        model: 'm',
        reward: 0.5,
        tools,
        messages: [
          { role: 'developer', content: 'policy' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'See' },
              { type: 'image_url', image_url: {} },
            ],
          },
          call('c', '{"id":1}'),
          { role: 'tool', tool_call_id: 'c', content: 'Error: no such order' },
          call('d', '{"id":'),
          { role: 'assistant', content: 'Sorry.', reasoning_content: 'hm' },
        ],
      },
    ]);
    expect(await detectFormat(path)).toBe('openai-chat');
    const [t] = await all(path);
    expect(t).toMatchObject({ id: 'a', taskId: '7', trial: 0, reward: 0.5, outcome: 'failed', tools });
    expect(t!.metadata).toEqual({ model: 'm' });
    expect(t!.messages).toEqual([
      { role: 'system', content: 'policy' },
      { role: 'user', content: 'See\n[image_url]' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'get_order', arguments: { id: 1 } } }],
      },
      { role: 'tool', content: 'Error: no such order', tool_call_id: 'c', name: 'get_order', error: true },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'd', type: 'function', function: { name: 'get_order', arguments: {} } }],
        // What the agent wrote is kept.
        malformed: 'arguments of get_order are no JSON: {"id":',
      },
      { role: 'assistant', content: 'Sorry.', reasoning: 'hm' },
    ]);
    expect((await all(path, { passAt: 0.5 }))[0]).toMatchObject({ reward: 0.5, outcome: 'passed' });
  });

  test('the older function_call: calls get ids, results find them by name and order', async () => {
    const older = (name: string, text: string) => ({
      role: 'assistant',
      content: null,
      function_call: { name, arguments: text },
    });
    const messages = [
      ask,
      older('a', '{}'),
      { role: 'function', name: 'a', content: '1' },
      {
        ...call(undefined, { id: 1 }),
        tool_calls: [
          { name: 'b', arguments: {} },
          { name: 'c', arguments: {} },
        ],
      },
      { role: 'tool', name: 'c', content: '3' },
      { role: 'tool', content: { two: 2 } },
    ];
    const [t] = await all(lines([{ messages, success: 'yes' }]));
    const calls = t!.messages.flatMap((m) => (m.role === 'assistant' ? (m.tool_calls ?? []) : []));
    const results = t!.messages.filter((m) => m.role === 'tool');
    const nameOf = (id: string) => calls.find((c) => c.id === id)!.function.name;
    expect(new Set(calls.map((c) => c.id)).size).toBe(3);
    expect(results.map((r) => [nameOf(r.tool_call_id), r.content])).toEqual([
      ['a', '1'],
      ['c', '3'],
      ['b', '{"two":2}'],
    ]);
  });

  test.each([
    [{ reward: 1 }, 'passed', 1],
    [{ reward: '0.25' }, 'failed', 0.25],
    [{ score: 0.999_999_9 }, 'passed', 0.999_999_9],
    [{ success: true, reward: 0.8 }, 'passed', 0.8],
    [{ success: 0 }, 'failed', 0],
    [{ resolved: 'Unresolved' }, 'failed', 0],
    [{ label: 'PASS' }, 'passed', 1],
    [{ label: 'airline' }, 'excluded', null],
    [{ target: false }, 'failed', 0],
    [{ metadata: { correct: 'C' } }, 'passed', 1],
    [{ score: 85 }, 'excluded', null],
    [{ reward: null }, 'excluded', null],
    [{ reward: 'NaN' }, 'excluded', null],
    [{}, 'excluded', null],
  ])('the verdict of %j is %s, %s', async (beside, outcome, reward) => {
    const [t] = await all(lines([{ messages: [ask, answer], ...beside }]));
    expect([t!.outcome, t!.reward]).toEqual([outcome, reward]);
    if (outcome === 'excluded') expect(t!.metadata.excluded).toEqual(expect.any(String));
  });

  test('a score on another scale with a threshold', async () => {
    const path = lines([85, 50, -1].map((score) => ({ messages: [ask], score })));
    expect((await all(path, { passAt: 80 })).map((t) => t.outcome)).toEqual(['passed', 'failed', 'failed']);
  });

  test('without ids equal beginnings are trials of one task; a repeated id names the task', async () => {
    const path = lines([
      { messages: [ask, answer], label: 1 },
      { messages: [ask], label: 0 },
      { messages: [answer], label: 0 },
      { id: 'x', messages: [ask], label: 0 },
      { id: 'x', messages: [answer], label: 0 },
    ]);
    const read = await all(path);
    expect(new Set(read.map((t) => t.id)).size).toBe(5);
    expect(read.map((t) => t.trial)).toEqual([0, 1, 0, 0, 1]);
    expect(read[0]!.taskId).toBe(read[1]!.taskId);
    expect(read[2]!.taskId).not.toBe(read[0]!.taskId);
    expect(read.slice(3).map((t) => t.taskId)).toEqual(['x', 'x']);
  });

  test('lists, objects that hold the list, one conversation a file, from and value', async () => {
    const record = { messages: [ask, answer], label: 1 };
    const write = (value: unknown, name: string) => {
      const path = join(folder, name);
      writeFileSync(path, JSON.stringify(value, null, 1));
      return path;
    };
    expect(await all(write([record, record], 'a.json'))).toHaveLength(2);
    expect(await all(write({ about: 'x', data: [record, record] }, 'b.json'))).toHaveLength(2);
    expect(await all(write(record, 'c.json'))).toHaveLength(1);
    expect((await all(write([ask, answer], 'case-9.json')))[0]).toMatchObject({
      id: 'case-9',
      outcome: 'excluded',
      messages: [ask, answer],
    });
    const told = [
      { from: 'human', value: 'q' },
      { from: 'gpt', value: 'a' },
    ];
    expect((await all(write([{ conversations: told }], 'd.json')))[0]!.messages).toEqual([
      { role: 'user', content: 'q' },
      { role: 'assistant', content: 'a' },
    ]);
  });
});

test('Anthropic messages: blocks become calls, results, thinking and words', async () => {
  const record = {
    id: 'a',
    system: [{ type: 'text', text: 'policy' }],
    tools: [{ name: 'get_order', description: 'd', input_schema: { type: 'object' } }],
    stop_reason: 'end_turn',
    resolved: true,
    messages: [
      { role: 'user', content: 'Where?' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'look it up', signature: 's' },
          { type: 'text', text: 'One moment.' },
          { type: 'tool_use', id: 't1', name: 'get_order', input: { id: 1 } },
          { type: 'tool_use', id: 't2', name: 'get_order', input: { id: 2 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'sent' }] },
          { type: 'tool_result', tool_use_id: 't2', content: 'none', is_error: true },
          { type: 'text', text: 'Hurry.' },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'Sent.' }] },
    ],
  };
  const path = lines([record]);
  expect(await detectFormat(path)).toBe('anthropic');
  const [t] = await all(path);
  const calls = [1, 2].map((id) => ({
    id: `t${id}`,
    type: 'function',
    function: { name: 'get_order', arguments: { id } },
  }));
  expect(t).toMatchObject({
    source: 'anthropic',
    systemPrompt: 'policy',
    outcome: 'passed',
    termination: 'end_turn',
  });
  expect(t!.tools[0]!.function).toEqual({
    name: 'get_order',
    description: 'd',
    parameters: { type: 'object' },
  });
  expect(t!.messages).toEqual([
    { role: 'user', content: 'Where?' },
    { role: 'assistant', content: 'One moment.', tool_calls: calls, reasoning: 'look it up' },
    { role: 'tool', content: 'sent', tool_call_id: 't1', name: 'get_order' },
    { role: 'tool', content: 'none', tool_call_id: 't2', name: 'get_order', error: true },
    { role: 'user', content: 'Hurry.' },
    { role: 'assistant', content: 'Sent.' },
  ]);
});

describe('Parquet', () => {
  test('JSON text columns, whole numbers, several row groups', async () => {
    const path = join(folder, 'rows.parquet');
    const rows = Array.from({ length: 700 }, (_, i) => [
      { role: 'user', content: `question ${i}` },
      call('c', JSON.stringify({ id: i })),
    ]);
    parquetWriteFile({
      filename: path,
      rowGroupSize: 300,
      columnData: [
        { name: 'id', data: rows.map((_, i) => BigInt(i)), type: 'INT64' },
        { name: 'messages', data: rows.map((row) => JSON.stringify(row)), type: 'STRING' },
        { name: 'reward', data: rows.map((_, i) => (i % 3 === 0 ? 1 : 0)), type: 'DOUBLE' },
      ],
    });
    expect(await detectFormat(path)).toBe('openai-chat');
    const read = await all(path);
    expect(read.map((t) => t.id)).toEqual(rows.map((_, i) => String(i)));
    expect(read.filter((t) => t.outcome === 'passed')).toHaveLength(234);
    expect(read[699]!.messages[1]).toMatchObject({ tool_calls: [{ function: { arguments: { id: 699 } } }] });
  });

  test('nested columns: members that are null are those of other rows', async () => {
    const path = join(folder, 'nested.parquet');
    const messages = [
      [
        { role: 'user', content: 'q', tool_calls: null },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c', name: 'get', n: 9007199254740993n }] },
      ],
    ];
    const struct = (name: string, children: number) => ({
      name,
      repetition_type: 'OPTIONAL' as const,
      num_children: children,
    });
    const list = (name: string) => [
      { ...struct(name, 1), converted_type: 'LIST' as const },
      { name: 'list', repetition_type: 'REPEATED' as const, num_children: 1 },
    ];
    const text = (name: string) => ({
      name,
      type: 'BYTE_ARRAY' as const,
      converted_type: 'UTF8' as const,
      repetition_type: 'OPTIONAL' as const,
    });
    parquetWriteFile({
      filename: path,
      columnData: [
        { name: 'messages', data: messages },
        { name: 'success', data: [true] },
      ],
      schema: [
        { name: 'root', num_children: 2 },
        ...list('messages'),
        struct('element', 3),
        text('role'),
        text('content'),
        ...list('tool_calls'),
        struct('element', 3),
        text('id'),
        text('name'),
        { name: 'n', type: 'INT64', repetition_type: 'OPTIONAL' },
        { name: 'success', type: 'BOOLEAN', repetition_type: 'OPTIONAL' },
      ],
    });
    const [t] = await all(path);
    expect(t).toMatchObject({ outcome: 'passed' });
    expect(t!.messages).toEqual([
      { role: 'user', content: 'q' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'get', arguments: {} } }],
      },
    ]);
  });
});
