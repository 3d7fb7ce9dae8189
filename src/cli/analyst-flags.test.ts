import { expect, test } from 'vitest';
import { parseConfig } from '../config/load.js';
import { analystFrom } from './analyst-flags.js';

const base = parseConfig(
  {
    analyst: {
      kind: 'llm',
      model: 'big',
      baseUrl: 'http://localhost:1/v1',
      concurrency: 3,
      budget: { tokens: 9 },
    },
  },
  'x',
).analyst;

test('options come before the configuration, field by field', () => {
  expect(analystFrom({}, 'offline')).toBe('offline');
  expect(analystFrom({}, base)).toEqual(base);
  expect(analystFrom({ model: 'small', budgetUsd: '2.5', price: '3/15/0.3' }, base)).toEqual({
    kind: 'llm',
    model: 'small',
    baseUrl: 'http://localhost:1/v1',
    concurrency: 3,
    budget: { tokens: 9, usd: 2.5 },
    price: { input: 3, output: 15, cachedInput: 0.3 },
  });
  expect(analystFrom({ analyst: 'offline' }, base)).toBe('offline');
  expect(analystFrom({ analyst: 'handoff', showReference: true }, base)).toEqual({
    kind: 'handoff',
    showReference: true,
  });
  // A model alone means a language model.
  expect(analystFrom({ model: 'm' }, 'offline')).toEqual({ kind: 'llm', model: 'm' });
});

test.each([
  [{ analyst: 'magic' }, 'there is no such analyst'],
  [{ analyst: 'llm' }, 'needs a model'],
  [{ model: 'm', budgetTokens: 'many' }, '--budget-tokens: many is no number'],
  [{ model: 'm', price: '3' }, '--price 3: two numbers'],
  [{ model: 'm', concurrency: '0' }, 'analyst.concurrency'],
  [{ model: 'm', baseUrl: 'nowhere' }, 'analyst.baseUrl'],
  [{ model: 'm', apiKeyEnv: 'sk-1234' }, 'never the key itself'],
])('%o is refused', (flags, words) => {
  expect(() => analystFrom(flags, 'offline')).toThrow(words);
  expect(() => analystFrom(flags, 'offline')).toThrow(expect.objectContaining({ exitCode: 2 }));
});

test.each([
  [{ kind: 'llm' }, 'analyst.model'],
  [{ kind: 'llm', model: 'm', apiKey: 'sk-1' }, 'keys stand in no file; name the environment variable'],
  [{ kind: 'llm', model: 'm', tries: 0 }, 'analyst.tries'],
  [{ kind: 'magic' }, 'there are offline, handoff and llm'],
  ['magic', 'analyst: '],
])('in a configuration %o is refused with its field', (analyst, words) => {
  expect(() => parseConfig({ analyst }, 'trace.config.json')).toThrow(words);
});
