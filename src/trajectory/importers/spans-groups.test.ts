import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Groups } from './spans-groups.js';

test('in memory or on disk: each key once, in the order of first sight, items in the order of coming', () => {
  const item = fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), text: fc.string() });
  const property = fc.property(fc.array(item, { maxLength: 40 }), fc.nat(60), (items, most) => {
    const groups = new Groups<{ readonly text: string }>(most);
    const expected = new Map<string, { readonly text: string }[]>();
    try {
      for (const { key, text } of items) {
        groups.add(key, { text }, text.length + 1);
        expected.set(key, [...(expected.get(key) ?? []), { text }]);
      }
      expect(groups.keys).toBe(expected.size);
      expect([...groups.take()].map(({ key, items: held }) => [key, held])).toEqual([...expected]);
    } finally {
      groups.close();
    }
  });
  fc.assert(property, { numRuns: 60 });
});

test('nothing stays in the folder of temporary files', () => {
  const ours = () =>
    readdirSync(tmpdir()).filter((name) => name.startsWith('trace-spans-') && !name.includes('test'));
  const before = ours();
  const groups = new Groups<string>(0);
  groups.add('a', 'x'.repeat(100), 100);
  expect([...groups.take()]).toEqual([{ key: 'a', items: ['x'.repeat(100)] }]);
  groups.close();
  expect(ours()).toEqual(before);
});
