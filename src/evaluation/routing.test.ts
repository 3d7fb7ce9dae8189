import { expect, test } from 'vitest';
import { labelTokens } from './routing.js';

/** A tokenizer whose tokens are the given words. */
function words(list: readonly string[]) {
  return {
    tokenizer: {
      encode: () => [],
      decode: (tokens: readonly number[]) => tokens.map((token) => list[token]).join(''),
      tokenId: () => undefined,
      eosTokenIds: [],
    },
    tokens: list.map((_, i) => i),
  };
}

test('roles are read off the marks of Qwen templates, tool answers inside the user turn included', () => {
  const text = [
    ...['<|im_start|>', 'system', '\n', 'Policy', '<|im_end|>', '\n'],
    ...['<|im_start|>', 'user', '\n', '<tool_response>', 'red', '</tool_response>', 'hi', '<|im_end|>'],
    ...['<|im_start|>', 'assistant', '\n', 'Hello', '<|im_end|>'],
  ];
  const { tokenizer, tokens } = words(text);
  const sampled = text.map((_, t) => t >= 17);
  const routes = text.map((_, t) => (sampled[t] ? [0, t] : []));
  const labelled = labelTokens(tokenizer, tokens, sampled, routes);
  expect(labelled.map(({ role }) => role)).toEqual([
    ...['template', 'template', 'template', 'system', 'template', 'system'],
    ...['template', 'template', 'template', 'template', 'tool', 'template', 'user', 'template'],
    ...['template', 'template', 'template', 'assistant', 'assistant'],
  ]);
  expect(labelled[17]).toEqual({ text: 'Hello', role: 'assistant', slots: [0, 17] });
  expect(labelled[3]).toEqual({ text: 'Policy', role: 'system' });
});

test('templates with one mark a role', () => {
  const text = ['<|system|>', 'a', '<|user|>', 'b', '<|tool|>', 'c', '<|assistant|>', 'd'];
  const { tokenizer, tokens } = words(text);
  const labelled = labelTokens(
    tokenizer,
    tokens,
    text.map((word) => word === 'd'),
  );
  expect(labelled.filter(({ role }) => role !== 'template')).toEqual([
    { text: 'a', role: 'system' },
    { text: 'b', role: 'user' },
    { text: 'c', role: 'tool' },
    { text: 'd', role: 'assistant' },
  ]);
});
