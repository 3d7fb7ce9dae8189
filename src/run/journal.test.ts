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
