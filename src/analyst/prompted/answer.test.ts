import { describe, expect, test } from 'vitest';
import { readAnswer, schemaProblems } from './answer.js';

describe('reading an answer', () => {
  test.each([
    ['bare', '{"a": 1}'],
    ['fenced', 'Here:\n```json\n{"a": 1}\n```\nThat is all.'],
    ['fenced without a language, on Windows', '```\r\n{"a": 1}\r\n```'],
    ['after thinking', '<think>maybe {"a": 2}?</think>\n{"a": 1}'],
    ['between words', 'The answer is {"a": 1}, I think.'],
    ['after braces that are no JSON', 'As {asked}: {"a": 1}'],
    ['the last of two fences', '```json\n{"a": 0}\n```\nBetter:\n```json\n{"a": 1}\n```'],
  ])('%s', (_, text) => expect(readAnswer(text)).toEqual({ value: { a: 1 } }));

  test('brackets and quotes inside of texts do not end an object', () => {
    const value = { quote: 'he said "}" and {', list: [{ b: '\\' }] };
    expect(readAnswer(`So: ${JSON.stringify(value)} …`)).toEqual({ value });
  });

  test.each([
    ['nothing', '  ', 'empty'],
    ['words', 'I cannot help with that.', 'no JSON object'],
    ['cut off', '{"labels": [{"capability": "x", "lab', 'no valid JSON'],
    ['a bare value', '"PRESENT"', 'no JSON object'],
  ])('%s is a problem, never mended', (_, text, words) =>
    expect(readAnswer(text)).toEqual({ problem: expect.stringContaining(words) }),
  );
});

test('violations of a schema name their place; what is said beyond it is none', () => {
  const schema = {
    type: 'object',
    additionalProperties: false,
    required: ['items'],
    properties: {
      items: {
        type: 'array',
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['label', 'evidence'],
          properties: {
            label: { type: 'string', enum: ['NA', 'LACKING'] },
            evidence: {
              anyOf: [
                { type: 'object', required: ['message'], properties: { message: { type: 'integer' } } },
                { type: 'null' },
              ],
            },
          },
        },
      },
    },
  };
  expect(schemaProblems(schema, { items: [{ label: 'NA', evidence: null, sure: 0.9 }], more: 1 })).toEqual(
    [],
  );
  expect(schemaProblems(schema, {})).toEqual([expect.stringMatching(/^items: /)]);
  expect(schemaProblems(schema, { items: [{ label: 'MAYBE', evidence: { message: 1.5 } }] })).toEqual([
    expect.stringMatching(/^items\[0\]\.label: .*"NA"/),
    expect.stringMatching(/^items\[0\]\.evidence\.message: .*int/),
  ]);
});
