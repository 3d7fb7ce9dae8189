import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Journal } from './journal.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-journal-'));
  path = join(folder, 'journal.sqlite');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a step goes from running to done, and time adds up over processes', () => {
  const first = new Journal(path);
  first.begin('train', 'in', '{}');
  first.addSeconds('train', 4);
  first.close();

  const second = new Journal(path);
  const began = second.step('train')!.startedAt;
  second.begin('train', 'in', '{}');
  second.finish('train', 'four adapters', 3);
  expect(second.step('train')).toMatchObject({
    state: 'done',
    summary: 'four adapters',
    seconds: 7,
    startedAt: began,
  });
  // Begun anew, its time starts from nothing.
  second.markStale(['train', 'evaluate']);
  expect(second.step('train')!.state).toBe('stale');
  expect(second.step('evaluate')).toBeUndefined();
  second.begin('train', 'in 2', '{"rank":8}');
  expect(second.step('train')).toMatchObject({ state: 'running', seconds: 0, summary: null, input: 'in 2' });
  second.close();
});

test('can be read while another holds it open', () => {
  const writer = new Journal(path);
  writer.begin('rollout', 'in', '{}');
  const reader = new Journal(path, { readOnly: true });
  expect(reader.steps().map((step) => step.name)).toEqual(['rollout']);
  writer.finish('rollout', 'done', 1);
  expect(reader.step('rollout')!.state).toBe('done');
  reader.close();
  writer.close();
});

test('a journal without a word in it reads as empty, and stays as it is', () => {
  writeFileSync(path, '');
  const reader = new Journal(path, { readOnly: true });
  expect(reader.steps()).toEqual([]);
  expect(reader.countRollouts('rollout')).toEqual({});
  reader.close();
  expect(readFileSync(path, 'utf8')).toBe('');
});

test('counts the indexed rollouts, and indexing again replaces them', () => {
  const journal = new Journal(path);
  const rollout = (id: string, outcome: string) => ({
    id,
    taskId: 't',
    trial: 0,
    outcome,
    reward: outcome === 'passed' ? 1 : 0,
    termination: null,
  });
  journal.indexRollouts('rollout', [rollout('a', 'passed'), rollout('b', 'failed'), rollout('c', 'failed')]);
  expect(journal.countRollouts('rollout')).toEqual({ passed: 1, failed: 2 });
  journal.indexRollouts('rollout', [rollout('a', 'excluded')]);
  expect(journal.countRollouts('rollout')).toEqual({ excluded: 1 });
  journal.close();
});

test('refuses a journal of a newer version, and a file that is none', () => {
  new Journal(path).close();
  const database = new Database(path);
  database.pragma('user_version = 99');
  database.close();
  expect(() => new Journal(path)).toThrow(/newer TRACE/);
  writeFileSync(
    path,
    'this is no database, but long enough to have a header of one hundred bytes. '.repeat(3),
  );
  expect(() => new Journal(path)).toThrow();
});

test('answers are kept by request; what a replaced one took stays counted', () => {
  const answer = {
    request: 'hash',
    purpose: 'label',
    model: 'm',
    text: '{',
    finish: 'length',
    maxOutputTokens: 10,
    inputTokens: 100,
    cachedTokens: 40,
    outputTokens: 10,
  };
  const first = new Journal(path);
  expect(first.answer('hash')).toBeNull();
  first.keepAnswer(answer);
  first.keepAnswer({ ...answer, text: '{}', finish: 'stop', maxOutputTokens: 20, outputTokens: 12 });
  first.keepAnswer({ ...answer, request: 'other' });
  first.setNote('command', 'one');
  first.setNote('command', 'two');
  first.close();
  const second = new Journal(path, { readOnly: true });
  expect(second.answer('hash')).toMatchObject({ text: '{}', finish: 'stop', maxOutputTokens: 20 });
  expect(second.answerTotals()).toEqual({
    answers: 2,
    inputTokens: 300,
    cachedTokens: 120,
    outputTokens: 32,
  });
  expect([second.note('command'), second.note('nothing')]).toEqual(['two', null]);
  second.close();
});

test('a journal of the first version is read as it is, and gets the newer tables when it is opened for work', () => {
  new Journal(path).close();
  const old = new Database(path);
  old.exec('DROP TABLE answers; DROP TABLE notes; PRAGMA user_version = 1;');
  old.exec(
    "INSERT INTO steps (name, state, input, settings, started_at) VALUES ('train', 'done', 'in', '{}', 't')",
  );
  old.close();
  const reader = new Journal(path, { readOnly: true });
  expect(reader.step('train')!.state).toBe('done');
  reader.close();
  const writer = new Journal(path);
  expect(writer.step('train')!.state).toBe('done');
  expect(writer.answerTotals().answers).toBe(0);
  writer.close();
});
