import { beforeAll, expect, test } from 'vitest';
import { GARAGE_TOOLS, garage, garageTrajectories } from '../../../../test/support/garage-target.js';
import type { Trajectory } from '../../../trajectory/trajectory.js';
import { learnWorld } from './learn-world.js';
import type { World } from './service/world.js';

// The garage has other words, keys and result shapes than the embedded target: lists of objects, numbers, keys that
// are repeated in results, answers in plain text, ids of two words.
let trajectories: Trajectory[];
let world: World;
beforeAll(async () => {
  trajectories = await garageTrajectories(40, 6);
  world = learnWorld({ target: garage, trajectories, seed: 1 });
});

test('finds which tool plays which part, and the form of its results', () => {
  expect(world.account).toEqual({
    tool: 'find_client',
    parameter: 'client',
    result: { client: '{client.key}', vouchers: ['{vouchers.word} {vouchers.id}'] },
  });
  expect(world.entity).toEqual({
    tool: 'find_job',
    parameter: 'job',
    result: {
      job: '{job.key}',
      stage: '{job.stage}',
      paid_with: '{job.paid_with_1} {job.paid_with_2}',
      parts: [{ kind: '{parts.kind}', code: 'p-{parts.code}' }],
    },
    status: 'job.stage',
  });
  expect(world.catalog).toMatchObject({ tool: 'list_parts', list: 'offers', key: 'parts.kind' });
  expect(world.lists).toEqual({ vouchers: [1, 3], parts: [1, 2], offers: [4, 4] });
});

test('explains every argument by the record it comes from', () => {
  expect(Object.fromEntries(world.writes.map((write) => [write.tool, write.arguments]))).toEqual({
    drop_job: { job: '{job.key}' },
    fit_part: {
      job: '{job.key}',
      old_code: 'p-{parts.code}',
      new_code: 'n-{offers.code}',
      voucher: '{job.paid_with_1} {job.paid_with_2}',
    },
    move_job: { job: '{job.key}', bay: '{#move_job.bay}' },
  });
  expect(world.reference).toEqual({
    list: 'vouchers',
    attributes: { 'job.paid_with_1': 'vouchers.word', 'job.paid_with_2': 'vouchers.id' },
  });
});

test('learns which stages allow a write, as far as they were seen', () => {
  const stages = Object.fromEntries(world.writes.map((write) => [write.tool, write]));
  expect(stages.drop_job).toMatchObject({ allowed: ['open'], forbidden: ['closed', 'paused', 'started'] });
  expect(stages.fit_part).toMatchObject({ allowed: ['paused', 'started'], forbidden: ['closed', 'open'] });
  expect(stages.move_job).toMatchObject({ allowed: ['open', 'started'], forbidden: ['closed', 'paused'] });
});

test('learns how requests, answers and reports are worded', () => {
  expect(world.opening).toBe('Client {client.key} here. ');
  expect(world.joints).toEqual([' and ', ' and ', '!']);
  expect(world.writes.find(({ tool }) => tool === 'fit_part')!.wordings).toEqual([
    {
      text: 'please swap the {parts.kind} on job {job.key} for the {offers.grade} one from {offers.maker}',
      stated: ['offers.maker', 'offers.grade'],
    },
    {
      text: 'please swap the {parts.kind} on job {job.key} for the cheapest from {offers.maker}',
      stated: ['offers.maker'],
      extreme: { attribute: 'offers.euros', sign: 1, agreeing: [2, 2] },
    },
  ]);
  expect(world.dialogue).toEqual([{ question: 'Which bay?', answer: 'Bay {move_job.bay} please.' }]);
  expect(world.reply).toEqual({ before: '', between: ', and ', after: '. Bye!' });
  expect(world.writes.map(({ fact }) => fact)).toEqual([
    '{job.key} is dropped',
    '{job.key} is fitted',
    '{job.key} is moved',
  ]);
  expect(world.handover).toMatchObject({
    tool: 'escalate',
    arguments: { job: '{job.key}' },
    fact: '{job.key} is escalated',
  });
  expect(world.unknown).toEqual({ failed: 'no such thing' });
  expect(world.systemPrompt).toBe(garage.systemPrompt(garage.scenario(1)));
});

test('keeps forms and vocabularies, no id and no request of a task', () => {
  const text = JSON.stringify({ ...world, tools: [] });
  for (const { messages } of trajectories) {
    expect(text).not.toContain(messages[1]!.content!);
    for (const [id] of messages[1]!.content!.matchAll(/[JC]-\d+/g)) expect(text).not.toContain(id);
  }
  expect(world.tools).toEqual(GARAGE_TOOLS);
});

test('says which part of the archetype has no counterpart', () => {
  expect(() => learnWorld({ target: garage, trajectories: [], seed: 1 })).toThrow(/no read tool/);
  const readsOnly = trajectories.map(
    (trajectory) => ({ ...trajectory, reference: undefined }) as unknown as Trajectory,
  );
  expect(() => learnWorld({ target: garage, trajectories: readsOnly, seed: 1 })).toThrow(/lookup whose key/);
});
