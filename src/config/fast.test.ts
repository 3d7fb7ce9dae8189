import { expect, test } from 'vitest';
import { capSettings, FAST_CAPS } from './fast.js';
import { configFields } from './load.js';

test('caps lower what is higher, and leave what is lower and what is not capped', () => {
  const cap = FAST_CAPS.train!.iterations!;
  expect(capSettings({ iterations: cap + 20, rank: 8 }, 'train')).toMatchObject({ iterations: cap, rank: 8 });
  expect(capSettings({ iterations: cap - 1 }, 'train').iterations).toBe(cap - 1);
});

test('every cap is a field of the configuration', () => {
  const fields = configFields();
  for (const [section, caps] of Object.entries(FAST_CAPS)) {
    for (const field of Object.keys(caps)) expect(fields).toContain(`${section}.${field}`);
  }
});
