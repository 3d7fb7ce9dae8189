import { expect, test } from 'vitest';
import { diagnosed } from '../../test/support/diagnosed.js';
import type { Message } from '../trajectory/trajectory.js';
import { originOfFiles } from './diagnosis-origin.js';
import { diagnosisView } from './diagnosis-view.js';

const says = (role: 'user' | 'assistant', content: string): Message => ({ role, content });
const calls = (name: string, given: object): Message => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: name, type: 'function', function: { name, arguments: { ...given } } }],
});
const result = (name: string): Message => ({ role: 'tool', content: 'ok', tool_call_id: name });

/** A conversation that begins with a request; message 2 is where the evidence of `diagnosed` points. */
const talk = (request: string, ...turns: Message[]) => [
  { role: 'system', content: 'policy' } as const,
  says('user', request),
  ...turns,
];

const cases = (
  failed: { task: string; messages: readonly Message[] },
  passed: readonly { task: string; labels?: string; messages: readonly Message[] }[],
) => {
  const told = diagnosed({
    capabilities: [{ name: 'care' }],
    attempts: [
      { ...failed, outcome: 'failed', labels: 'L' },
      ...passed.map((item) => ({ labels: 'P', ...item, outcome: 'passed' as const })),
    ],
  });
  return diagnosisView(told.file, { ...told, origin: originOfFiles(['a.json']) }).cases[0]!;
};

test('the same task first; there, the call of the same tool with other values', () => {
  const found = cases(
    { task: 'x', messages: talk('cancel it', calls('cancel', { id: 2, why: 'late' }), result('cancel')) },
    [
      { task: 'y', messages: talk('cancel it', calls('cancel', { id: 2 }), result('cancel')) },
      {
        task: 'x',
        messages: talk('cancel it', calls('get', {}), result('get'), calls('cancel', { why: 'late', id: 1 })),
      },
    ],
  );
  expect(found.sameTask).toBe(true);
  expect(found.passed!.trajectory.id).toBe('x-1');
  expect(found.passed!.step).toEqual({ message: 4, why: 'the same tool, id otherwise', differing: ['id'] });
  expect(found.failed.step).toMatchObject({ message: 2, differing: ['id'] });
});

test('an omission: the first change that the failed attempt never made', () => {
  const found = cases({ task: 'x', messages: talk('two things', says('assistant', 'Done.')) }, [
    {
      task: 'x',
      messages: talk(
        'two things',
        calls('get_user', { id: 1 }),
        result('get_user'),
        calls('book', { id: 1 }),
      ),
    },
  ]);
  expect(found.passed!.step).toMatchObject({ message: 4, why: 'the failed attempt never made this call' });
});

test('a call that should not have been: how the passed attempt ended without it', () => {
  const found = cases(
    { task: 'x', messages: talk('refund me', calls('refund', { id: 1 }), result('refund')) },
    [
      {
        task: 'x',
        messages: talk('refund me', calls('get_order', { id: 1 }), says('assistant', 'I cannot.')),
      },
    ],
  );
  expect(found.passed!.step).toMatchObject({ message: 3, why: 'it ended like this, without any refund' });
});

test('without a pass of the task the most alike one, by tools and words, and it says so', () => {
  const found = cases({ task: 'x', messages: talk('please cancel my order', calls('cancel', { id: 1 })) }, [
    { task: 'y', messages: talk('book a flight', calls('book', { id: 1 })) },
    { task: 'z', messages: talk('please cancel the trip', calls('cancel', { id: 3 })) },
  ]);
  expect(found.sameTask).toBe(false);
  expect(found.passed!.trajectory.taskId).toBe('z');
  // Words: {please, cancel} of {please, cancel, order, the, trip}.
  expect(found.chosen).toContain('1 of 1 tools shared, 40 % of the user’s words');
});

test('a passed attempt that lacks it too is no example; without any the failed one stands alone', () => {
  const alone = cases({ task: 'x', messages: talk('a', says('assistant', 'b')) }, [
    { task: 'x', labels: 'L', messages: talk('a', says('assistant', 'b')) },
  ]);
  expect(alone.passed).toBeNull();
  expect(alone.chosen).toBe('No attempt that shows it passed, so there is none to compare with.');
});
