import { expect, it } from 'vitest';
import { dumps } from './python/json.js';
import { parseToml } from './toml.js';

it('reads tables, arrays of tables in tables, and values with their types', () => {
  const text = `
top = "a # no comment" # a comment
[device.settings]
name = "x"
port = 8_0
rate = 1.50
[[bills]]
id = "B1"
lines = ["L1", "a,b"]
[[bills.items]]
amount = -5.0
[[bills]]
id = 'B2'
lines = []
paid = false
since = 2025-01-20
`;
  expect(dumps(parseToml(text))).toBe(
    '{"top": "a # no comment", "device": {"settings": {"name": "x", "port": 80, "rate": 1.5}}, ' +
      '"bills": [{"id": "B1", "lines": ["L1", "a,b"], "items": [{"amount": -5.0}]}, ' +
      '{"id": "B2", "lines": [], "paid": false, "since": "2025-01-20"}]}',
  );
});

it.each([
  ['a = ', 'line 1'],
  ['\na = 1\na = 2', 'line 3: a is set twice'],
  ['a = 1\n[a]', 'line 2: a is no table'],
  ['x = {y = 1}', 'a value that cannot be read'],
])('says which line it cannot read: %j', (text, message) => {
  expect(() => parseToml(text)).toThrow(message);
});
