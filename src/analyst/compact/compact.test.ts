import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Message } from '../../trajectory/trajectory.js';
import { compactTrajectory, quoteStands, type ShownTrajectory } from './compact.js';
import { estimateTokens, shorten } from './tokens.js';

const call = (id: string, name: string, args: object): Message => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: { ...args } } }],
});
const result = (id: string, content: string, error?: boolean): Message => ({
  role: 'tool',
  tool_call_id: id,
  content,
  ...(error === undefined ? {} : { error }),
});
const of = (messages: readonly Message[], more: Partial<ShownTrajectory> = {}): ShownTrajectory => ({
  messages,
  tools: [],
  metadata: {},
  ...more,
});
const long = 'record '.repeat(2_000);
const messages: readonly Message[] = [
  { role: 'system', content: 'The policy.' },
  { role: 'user', content: 'The request.' },
  call('a', 'find_things', { like: 'x' }),
  result('a', long),
  call('b', 'change_thing', { id: 'T1', to: 'blue' }),
  result('b', 'Error: not allowed', true),
  call('c', 'change_thing', { id: 'T2', to: 'blue' }),
  result('c', 'ok'),
  { role: 'assistant', content: 'T2 is blue.' },
];

describe('tool use', () => {
  const view = compactTrajectory(of(messages), { family: 'tool-use', tokens: 2_000 });

  test('policy, request, calls with arguments, errors and what stood at the end', () => {
    expect(view.policy).toBe('The policy.');
    expect(view.transcript).toContain('[1] user: The request.');
    expect(view.transcript).toContain(
      '[4] agent calls: {"name":"change_thing","arguments":{"id":"T1","to":"blue"}}',
    );
    expect(view.transcript).toContain('[5] error of change_thing: Error: not allowed');
    expect(view.transcript).toContain('[7] result of change_thing: ok');
    // Of the two changes only one took effect.
    expect(view.ending).toContain('- [6] {"name":"change_thing"');
    expect(view.ending).not.toContain('T1');
    expect(view.reference).toBeNull();
  });

  test('the long result is cut, and the reader is told how much, and the budget', () => {
    expect(view.transcript).toMatch(/\[3\] result of find_things: record .*\[…[\d,]+ characters left out…\]/);
    expect(view.note).toBe('Shown in at most 2,000 tokens: 1 texts shortened.');
    const whole = compactTrajectory(of(messages), { family: 'tool-use', tokens: 20_000 });
    expect(whole.transcript).toContain(long);
    expect(whole.note).toContain('nothing was left out');
  });

  test('without any change', () => {
    const looked = compactTrajectory(of(messages.slice(0, 4)), { family: 'tool-use', tokens: 2_000 });
    expect(looked.ending).toBe('No call changed anything.\nThe agent said nothing.');
  });
});

test('code repair: the final patch, and the last lines of outputs', () => {
  const patch = 'diff --git a/x b/x\n+fixed';
  const output = `${'line\n'.repeat(3_000)}1 failed: test_that_matters`;
  const view = compactTrajectory(
    of([call('a', 'bash', { command: 'pytest' }), result('a', output)], { metadata: { patch } }),
    {
      family: 'code-repair',
      tokens: 1_000,
    },
  );
  expect(view.ending).toContain(patch);
  expect(view.transcript).toContain('test_that_matters');
  expect(compactTrajectory(of([]), { family: 'code-repair', tokens: 1_000 }).ending).toContain(
    'none in the record',
  );
});

test('a very long attempt keeps its beginning and its end', () => {
  const many: Message[] = [{ role: 'user', content: 'The request.' }];
  for (let i = 0; i < 600; i++)
    many.push(call(`c${i}`, 'look_at', { page: i }), result(`c${i}`, `page ${i}`));
  many.push({ role: 'assistant', content: 'The end.' });
  const view = compactTrajectory(of(many), { family: 'tool-use', tokens: 2_000 });
  expect(view.transcript).toContain('[0] user: The request.');
  expect(view.transcript).toContain('[1201] agent: The end.');
  expect(view.transcript).toMatch(/\[… \d+ entries left out here …\]/);
  expect(view.note).toMatch(/\d+ messages in the middle left out/);
});

test('whatever comes, the view stays within its budget and every entry names its message', () => {
  const message: fc.Arbitrary<Message> = fc.oneof(
    fc.record({ role: fc.constant('user' as const), content: fc.string({ maxLength: 4000 }) }),
    fc.record({
      role: fc.constant('assistant' as const),
      content: fc.option(fc.string({ maxLength: 4000 })),
    }),
    fc.record({
      role: fc.constant('tool' as const),
      content: fc.string({ maxLength: 9000, unit: 'grapheme' }),
      tool_call_id: fc.string(),
    }),
    fc.string({ maxLength: 500 }).map((name) => call('x', name, { name })),
  );
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 60 }),
      fc.constantFrom('general', 'tool-use', 'code-repair'),
      (list, family) => {
        const tokens = 1_500;
        const view = compactTrajectory(of(list), { family: family as 'general', tokens });
        const total = [view.policy, view.tools, view.transcript, view.ending].reduce(
          (sum, text) => sum + estimateTokens(text),
          0,
        );
        // Texts of several bytes a character are measured in bytes but cut in characters.
        const wide = list.some((one) => Buffer.byteLength(one.content ?? '') > (one.content ?? '').length);
        expect(total).toBeLessThanOrEqual(tokens * (wide ? 4.5 : 1.1));
      },
    ),
    { numRuns: 60 },
  );
});

test('shortening keeps both ends and says what is gone', () => {
  expect(shorten('short', 10)).toBe('short');
  const text = `${'a'.repeat(100)}${'z'.repeat(100)}`;
  const cut = shorten(text, 100);
  expect(cut.length).toBeLessThanOrEqual(102);
  const [, left] = /…(\d+) characters/.exec(cut)!;
  expect(cut.replace(/ \[….*…\] /, '').length + Number(left)).toBe(200);
  expect(cut.startsWith('aaa') && cut.endsWith('zzz')).toBe(true);
});

test('quotes are looked for in what was said, thought and called', () => {
  const message: Message = { role: 'assistant', content: 'Said  this.', reasoning: 'Thought that.' };
  expect(quoteStands(message, 'Said\nthis.')).toBe(true);
  expect(quoteStands(message, 'Thought that.')).toBe(true);
  expect(quoteStands(message, 'Said that.')).toBe(false);
  expect(quoteStands(message, ' ')).toBe(false);
  expect(quoteStands(call('a', 'do', { x: [1, 'y'] }), '"arguments":{"x":[1,"y"]}')).toBe(true);
});
