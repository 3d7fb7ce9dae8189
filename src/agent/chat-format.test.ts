import { describe, expect, test } from 'vitest';
import { PairTokenizer } from '../../test/support/pair-tokenizer.js';
import { FORGETFUL_TEMPLATE, LOCAL_TEMPLATE, NUMBERED_TEMPLATE } from '../../test/support/templates.js';
import type { Message, ToolSchema } from '../trajectory/trajectory.js';
import { ChatFormat } from './chat-format.js';

const TOOLS: ToolSchema[] = [{ type: 'function', function: { name: 'look', parameters: {} } }];
const system: Message = { role: 'system', content: 'rules' };
const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string, reasoning?: string) =>
  ({ role: 'assistant', content, ...(reasoning !== undefined && { reasoning }) }) as const;
const format = (template: string) => new ChatFormat(new PairTokenizer(), template);

test('renders what the template says, tools and header included', () => {
  const text = format(LOCAL_TEMPLATE).render([system, user('hi')], TOOLS);
  expect(text).toBe(
    '<|im_start|>system\nrules\n{"type": "function", "function": {"name": "look", "parameters": {}}}\n<|im_end|>\n' +
      '<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n',
  );
});

test('the end of turn that the template writes is a stop token beside those of the model', () => {
  const tokenizer = new PairTokenizer();
  const other = LOCAL_TEMPLATE.replaceAll('<|im_end|>', '<|end|>');
  expect(new ChatFormat(tokenizer, other).stop.map((t) => tokenizer.decode([t]))).toEqual([
    '<|im_end|>',
    '<|end|>',
  ]);
});

test('a missing or broken template is an error that says so', () => {
  expect(() => new ChatFormat(new PairTokenizer(), null)).toThrow('no chat template');
  expect(() => format('{% for %}')).toThrow('chat template:');
  expect(() => format('no messages')).toThrow('does not write the content');
});

describe('continuation', () => {
  test('templates are told apart by what follows a turn', () => {
    expect(format(LOCAL_TEMPLATE).local).toBe(true);
    expect(format(FORGETFUL_TEMPLATE).local).toBe(true);
    expect(format(NUMBERED_TEMPLATE).local).toBe(false);
  });

  test('is the rest of the whole conversation after the turn', () => {
    const messages = [system, user('a'), assistant('b'), user('c'), assistant('d')];
    const added = [user('e')];
    for (const template of [LOCAL_TEMPLATE, FORGETFUL_TEMPLATE, NUMBERED_TEMPLATE]) {
      const f = format(template);
      const whole = f.render([...messages, ...added], TOOLS);
      const rest = whole.slice(f.render(messages.slice(0, -1), TOOLS).length + 'd'.length);
      const segments = f.segments([...messages, ...added], TOOLS, 0);
      expect(segments?.at(-1)).toBe(rest);
      expect(segments?.[0]).toBe(f.render(messages.slice(0, 2), TOOLS));
      if (f.local) expect(f.localContinuation(added)).toBe(rest);
      else expect(f.localContinuation(added)).toBeNull();
    }
  });

  test('thinking that the template leaves out later is no extension', () => {
    const f = format(FORGETFUL_TEMPLATE);
    const result: Message = { role: 'tool', content: 'r', tool_call_id: 'call_0' };
    const thought = [system, user('a'), assistant('b', 'hm')];
    expect(f.segments([...thought, result], TOOLS, 0)).toHaveLength(2);
    expect(f.segments([...thought, user('c')], TOOLS, 0)).toBeNull();
  });

  test('a message with the mark in it is never searched', () => {
    expect(format(NUMBERED_TEMPLATE).segments([user('\uE000turn0\uE000'), assistant('b')], [], 0)).toBeNull();
  });
});
