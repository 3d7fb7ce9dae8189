import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAssistantText } from './tool-calls.js';

const call = (name: string, args: Record<string, unknown>, number = 0) => ({
  id: `call_${number}`,
  type: 'function',
  function: { name, arguments: args },
});

describe('what can be read', () => {
  test('plain text', () => {
    expect(parseAssistantText(' Done. ')).toEqual({ role: 'assistant', content: 'Done.' });
  });

  test('a bare call, and several of them', () => {
    expect(parseAssistantText('{"name":"get","arguments":{"id":"1}"}}')).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [call('get', { id: '1}' })],
    });
    const two = parseAssistantText('{"name":"a","arguments":{}}\n{"name":"b","arguments":{"x":[{}]}}', 4);
    expect(two.tool_calls).toEqual([call('a', {}, 4), call('b', { x: [{}] }, 5)]);
  });

  test('tagged calls with text and thinking', () => {
    const text =
      '<think>\nlook first\n</think>\n\nOne moment.\n<tool_call>\n{"name": "a", "arguments": {"n": 1}}\n</tool_call>\n' +
      '<tool_call>{"name":"b","arguments":{}}</tool_call>';
    expect(parseAssistantText(text)).toEqual({
      role: 'assistant',
      content: 'One moment.',
      reasoning: 'look first',
      tool_calls: [call('a', { n: 1 }, 0), call('b', {}, 1)],
    });
  });

  test('thinking that the header of the turn already opened', () => {
    expect(parseAssistantText('hm</think>yes')).toEqual({
      role: 'assistant',
      content: 'yes',
      reasoning: 'hm',
    });
  });

  test('a brace inside a text is text', () => {
    expect(parseAssistantText('use {x}')).toEqual({ role: 'assistant', content: 'use {x}' });
  });
});

describe('what cannot be read is malformed and loses nothing', () => {
  test.each([
    ['{"name":"get","arguments":{"id":1}', 'not valid JSON'],
    ['{"name":"get","arguments":{id:1}}', 'not valid JSON'],
    ['{"arguments":{}}', 'without a name'],
    ['{"name":"get"}', 'not a JSON object'],
    ['{"name":"get","arguments":"{}"}', 'not a JSON object'],
    ['{"name":"get","arguments":[]}', 'not a JSON object'],
    ['{"name":"get","arguments":{}} now', 'beside a bare tool call'],
    ['<tool_call>{"name":"get","arguments":{}}', 'never closed'],
    ['{"name":"get","arguments":{}}</tool_call>', 'without <tool_call>'],
    ['<tool_call>[1]</tool_call>', 'has to be a JSON object'],
    ['<think>on and on', 'never closed'],
    ['', 'empty'],
    ['<think>x</think>', 'empty'],
  ])('%s', (text, reason) => {
    const message = parseAssistantText(text);
    expect(message.malformed).toContain(reason);
    expect(message.content).toBe(text);
    expect(message.tool_calls).toBeUndefined();
  });
});

test('any calls survive writing and reading, tagged or bare', () => {
  const json = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 });
  const calls = fc.array(fc.record({ name: fc.string({ minLength: 1 }), arguments: json }), {
    minLength: 1,
    maxLength: 3,
  });
  const clean = (text: string) => !/tool_call>|think>/.test(text);
  fc.assert(
    fc.property(calls, fc.boolean(), fc.constantFrom('', ' ', '\n'), (list, tagged, gap) => {
      const texts = list.map((c) => JSON.stringify(c));
      fc.pre(texts.every(clean));
      const text = texts.map((t) => (tagged ? `<tool_call>${gap}${t}${gap}</tool_call>` : t)).join(gap);
      const read = parseAssistantText(text);
      // JSON.stringify turns -0 into 0, so compare with what was written.
      expect(read.tool_calls?.map((c) => c.function)).toEqual(texts.map((t) => JSON.parse(t)));
      expect(read.malformed).toBeUndefined();
    }),
    { seed: 1, numRuns: 300 },
  );
});

test('no text makes it throw, and nothing is both malformed and a call', () => {
  const piece = fc.constantFrom(
    '<tool_call>',
    '</tool_call>',
    '<think>',
    '</think>',
    '{',
    '}',
    '"',
    '\\',
    'a',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const message = parseAssistantText(pieces.join(''));
      if (message.malformed !== undefined) expect(message.content).toBe(pieces.join(''));
      expect(message.malformed !== undefined && message.tool_calls !== undefined).toBe(false);
    }),
    { seed: 2, numRuns: 2000 },
  );
});
