import { describe, expect, test } from 'vitest';
import { Random } from '../../run/random.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { compactTrajectory } from '../compact/compact.js';
import { PromptLibrary } from '../prompts/library.js';
import { userText } from '../prompts/render.js';
import { discoverTask } from './discover-task.js';
import { domainWords } from './domain.js';
import { labelTask } from './label-task.js';
import { mergeTask } from './merge-task.js';

const trajectory: Trajectory = {
  id: 'the-id-nobody-shows',
  taskId: 'task-7',
  trial: 0,
  source: 'chat',
  messages: [
    { role: 'system', content: 'Rules: look first.' },
    { role: 'user', content: 'Extend my loan   of the\natlas, please.' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'extend_loan', arguments: { loan: 'L7' } } },
      ],
    },
    {
      role: 'tool',
      content: 'Error: it has been extended before',
      tool_call_id: 'a',
      name: 'extend_loan',
      error: true,
    },
    { role: 'assistant', content: 'It is extended.' },
  ],
  tools: [],
  reward: 0.4242,
  outcome: 'failed',
  termination: 'termination_of_the_source',
  checks: [{ name: 'check_of_the_verifier', passed: false, detail: 'detail_of_the_check' }],
  reference: {
    actions: [{ name: 'refuse_politely', arguments: { loan: 'L7' }, kind: 'other' }],
    requiredFacts: ['the loan ends on Monday'],
    toolKinds: { extend_loan: 'write' },
  },
  metadata: { domain: 'library', note: 'metadata_of_the_source' },
};
const candidates = ['first_look', 'second_look', 'third_look', 'fourth_look', 'fifth_look'].map((name) => ({
  name,
  definition: `What ${name} means.`,
}));
const library = new PromptLibrary(null);

const label = (rater: number, showReference = false, attempts = trajectory) =>
  labelTask({
    id: 'label',
    prompt: library.of('tool-use', 'label'),
    trajectory: attempts,
    view: compactTrajectory(attempts, { family: 'tool-use', tokens: 4000, reference: showReference }),
    candidates,
    rater,
    random: new Random(1),
  });
const whole = (
  task: { prompt(attempt: number): { system: string; user: readonly string[] } },
  attempt = 0,
) => {
  const prompt = task.prompt(attempt);
  return `${prompt.system}\n${prompt.user.join('\n')}`;
};

describe('a rater is shown the conversation and nothing of the verdict', () => {
  const hidden = [
    trajectory.id,
    '0.4242',
    'termination_of_the_source',
    'check_of_the_verifier',
    'detail_of_the_check',
    'metadata_of_the_source',
    'task-7',
  ];
  for (const family of ['general', 'tool-use', 'code-repair'])
    test(`${family}`, () => {
      const view = compactTrajectory(trajectory, { family: family as 'general', tokens: 4000 });
      const task = labelTask({
        id: 'label',
        prompt: library.of(family, 'label'),
        trajectory,
        view,
        candidates,
        rater: 0,
        random: new Random(1),
      });
      const text = whole(task);
      for (const word of [...hidden, 'refuse_politely', 'the loan ends on Monday'])
        expect(text).not.toContain(word);
      expect(text).toContain('It is extended.');
      // Flipping the verdict changes not one character.
      const flipped = { ...trajectory, outcome: 'passed' as const, reward: 1, termination: null, checks: [] };
      expect(whole(label(0, false, flipped))).toBe(whole(label(0)));
    });

  test('discovery contrasts the kinds, but shows no reward, check or termination either', () => {
    const view = compactTrajectory(trajectory, { family: 'tool-use', tokens: 4000 });
    const text = whole(
      discoverTask({
        id: 'discover',
        prompt: library.of('tool-use', 'discover'),
        attempts: [{ trajectory, view }],
        candidates: 10,
        domain: domainWords([trajectory]),
      }),
    );
    for (const word of hidden) expect(text).not.toContain(word);
  });

  test('the reference solution only where it is allowed', () => {
    expect(whole(label(0, true))).toContain('refuse_politely');
    expect(whole(label(0, true))).toContain('the loan ends on Monday');
  });
});

test('raters see the candidates in their own order, and every candidate once', () => {
  const orderOf = (rater: number, attempt = 0) =>
    [...userText(label(rater).prompt(attempt)).matchAll(/^- ([a-z]+_look): /gm)].map((match) => match[1]!);
  const orders = Array.from({ length: 10 }, (_, rater) => orderOf(rater).join());
  expect(new Set(orders).size).toBeGreaterThan(5);
  expect(orderOf(3)).toEqual(orderOf(3));
  expect(orderOf(3)).not.toEqual(orderOf(3, 1));
  for (const order of orders)
    expect(order.split(',').sort()).toEqual(candidates.map(({ name }) => name).sort());
});

describe('labels are judged pair by pair', () => {
  const good = candidates.map(({ name }) => ({
    capability: name,
    reason: 'r',
    label: 'NA',
    evidence: null as unknown,
  }));
  const judged = (change: (labels: typeof good) => unknown) =>
    label(0).check({ labels: change(structuredClone(good)) });

  test('all well', () => {
    const { value, problems } = judged((labels) => labels);
    expect(problems).toEqual([]);
    expect(value).toHaveLength(5);
  });

  test.each([
    ['a call, as it is shown', 2, '{"name":"extend_loan","arguments":{"loan":"L7"}}'],
    ['white space counts as one space', 1, 'loan of the atlas'],
    ['what a tool said', 3, 'it has been extended before'],
  ])('evidence that stands there: %s', (_, message, quote) => {
    const { value, problems } = judged((labels) => {
      labels[1] = {
        capability: 'second_look',
        reason: 'why',
        label: 'LACKING',
        evidence: { message, quote },
      };
      return labels;
    });
    expect(problems).toEqual([]);
    expect(value![1]).toEqual({
      capability: 'second_look',
      label: 'LACKING',
      evidence: { message, quote, note: 'why' },
    });
  });

  test.each([
    ['none', null, 'LACKING needs evidence'],
    [
      'another message',
      { message: 4, quote: 'has been extended before' },
      'not stand in message 4, but in 3',
    ],
    ['no such message', { message: 9, quote: 'It is extended.' }, 'there is no message 9'],
    ['the rules', { message: 0, quote: 'Rules: look first.' }, 'there is no message 0'],
    ['invented', { message: 4, quote: 'It was extended by me.' }, 'stands nowhere in message 4'],
    ['empty', { message: 4, quote: '  ' }, 'the quote is empty'],
    ['two letters', { message: 4, quote: 'It' }, 'too short'],
  ])('evidence that does not: %s', (_, evidence, words) => {
    const { value, problems } = judged((labels) => {
      labels[2] = { capability: 'third_look', reason: 'why', label: 'LACKING', evidence };
      return labels;
    });
    expect(problems.join()).toContain(words);
    expect(value!.map((pair) => pair.capability)).not.toContain('third_look');
    expect(value).toHaveLength(4);
  });

  test('a name that is none, one that is missing, one given twice, another label', () => {
    const wrong = judged((labels) => [
      { ...labels[0]!, capability: 'First Look' },
      labels[1]!,
      labels[2]!,
      labels[2]!,
      { ...labels[4]!, label: 'MAYBE' },
    ]);
    expect(wrong.value!.map((pair) => pair.capability)).toEqual(['second_look']);
    for (const word of ['First Look', 'third_look is labelled twice', 'labels[4].label'])
      expect(wrong.problems.join('; ')).toContain(word);
    expect(label(0).check({ result: [] }).value).toBeNull();
    expect(label(0).check([]).value).toBeNull();
  });

  test('good parts of two answers go together, and are complete when every candidate has a label', () => {
    const task = label(0);
    const [a, b] = [
      judged((labels) => labels.slice(0, 3)).value!,
      judged((labels) => labels.slice(2)).value!,
    ];
    expect(task.isComplete(a)).toBe(false);
    expect(task.isComplete(task.combine(a, b))).toBe(true);
  });
});

describe('joining proposals', () => {
  const definition =
    'When a thing is asked for under conditions, the agent looks at them first and only then acts upon it.';
  const proposals = [
    { name: 'condition_checking', definition, examples: [{ trajectory: 'x', note: 'n' }] },
    {
      name: 'looking_first',
      definition: 'Another matter of quite different words, told apart by all of them here.',
      examples: [{ trajectory: 'y', note: 'n' }],
    },
  ];
  const task = mergeTask({
    id: 'merge',
    prompt: library.of('tool-use', 'merge'),
    proposals,
    candidates: 2,
    domain: domainWords([trajectory]),
  });

  test('examples go with their proposals', () => {
    const { value, problems } = task.check({
      capabilities: [{ name: 'precondition_verification', definition, members: [1, 2] }],
      left_out: [],
    });
    expect(problems).toEqual([]);
    expect(value).toEqual([
      {
        name: 'precondition_verification',
        definition,
        examples: [
          { trajectory: 'x', note: 'n' },
          { trajectory: 'y', note: 'n' },
        ],
      },
    ]);
  });

  test('each proposal stands in one place', () => {
    const of = (members: number[][], left: number[]) =>
      task
        .check({
          capabilities: members.map((list, i) => ({ ...proposals[i]!, members: list })),
          left_out: left.map((member) => ({ member, reason: 'r' })),
        })
        .problems.join('; ');
    expect(of([[1], [2]], [])).toBe('');
    expect(of([[1]], [])).toContain('proposals 2 stand nowhere');
    expect(of([[1, 2], [2]], [])).toContain('proposal 2 stands in condition_checking and in looking_first');
    expect(of([[1, 3]], [2])).toContain('there is no proposal 3');
  });
});
