import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { capturePrinted } from '../../../test/support/printed.js';
import { InputError } from '../../run/errors.js';
import { parseTrajectory } from '../../trajectory/parse.js';
import { importCommand } from './import.js';

let folder: string;
const printed = capturePrinted();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-import-command-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const write = (name: string, text: string) => {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
};
const chat = (id: string, beside: object) =>
  JSON.stringify({ id, messages: [{ role: 'user', content: 'q' }], ...beside });
const result = (task: number, reward: number, name = 'cancel') => ({
  task_id: task,
  trial: 0,
  reward,
  info: { task: { actions: [{ name, kwargs: {} }], outputs: [] } },
  traj: [{ role: 'user', content: 'q' }],
});
const stored = (path: string) =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => parseTrajectory(JSON.parse(line)));

test('a folder of several formats becomes one file; ids and tasks are kept apart; the rest is named', async () => {
  const logs = join(folder, 'logs');
  write(
    'logs/a/chats.jsonl',
    [chat('x', { reward: 1 }), chat('y', {}), chat('z', { error: 'e' })].join('\n'),
  );
  write('logs/b/airline.json', JSON.stringify([result(0, 1), result(1, 0)]));
  write('logs/b/retail.json', JSON.stringify([result(0, 1, 'return')]));
  write('logs/notes.json', '{"hello": 1}');
  write('logs/README.md', 'text');
  const out = join(folder, 'out.jsonl');
  await importCommand([logs], { out, json: true });
  expect(JSON.parse(printed.text)).toMatchObject({
    ok: true,
    out,
    attempts: 6,
    passed: 3,
    failed: 1,
    excluded: { 'no verdict': 1, 'the run broke': 1 },
    files: [
      { format: 'openai-chat', trajectories: 3 },
      { format: 'tau-bench', trajectories: 2 },
      { format: 'tau-bench', trajectories: 1 },
    ],
    unread: [{ path: join(logs, 'notes.json'), reason: expect.stringContaining('hello') }],
  });
  const read = stored(out);
  expect(read.map((t) => t.id)).toEqual(['x', 'y', 'z', '0-0', '1-0', 'retail.json:0-0']);
  // Task 0 of the other file is another task.
  expect(read.map((t) => t.taskId).slice(3)).toEqual(['0', '1', 'retail.json:0']);
  expect(readdirSync(folder).sort()).toEqual(['logs', 'out.jsonl']);
});

test('people read what happened; damaged records are left out and listed', async () => {
  const path = write(
    'chats.jsonl',
    [chat('a', { reward: 1 }), '{"id": ', chat('b', { reward: 0 })].join('\n'),
  );
  const out = join(folder, 'out.jsonl');
  await expect(importCommand([path], { out })).rejects.toThrow(`${path}: record 2: not JSON`);
  expect(existsSync(out)).toBe(false);
  await importCommand([path], { out, skipInvalid: true });
  expect(printed.text).toContain('openai-chat, 2 attempts: 1 passed, 1 failed, 1 records left out');
  expect(printed.text).toContain('record 2: not JSON');
  expect(stored(out)).toHaveLength(2);
});

test('a file that is cut off keeps what stands before the cut, where that is allowed', async () => {
  const whole = JSON.stringify([result(0, 1), result(1, 0)]);
  const path = write('cut.json', whole.slice(0, -30));
  const out = join(folder, 'out.jsonl');
  await expect(importCommand([path], { out })).rejects.toThrow('cut off');
  await importCommand([path], { out, skipInvalid: true });
  expect(printed.text).toContain('only 1 attempts');
  expect(stored(out)).toHaveLength(1);
});

test('what is canonical already comes out as it went in', async () => {
  const chats = write('chats.jsonl', chat('a', { reward: 1 }));
  await importCommand([chats], { out: join(folder, 'one.jsonl') });
  await importCommand([join(folder, 'one.jsonl')], { out: join(folder, 'two.jsonl') });
  expect(readFileSync(join(folder, 'two.jsonl'))).toEqual(readFileSync(join(folder, 'one.jsonl')));
});

test('a threshold, a sidecar, a format by name', async () => {
  const path = write('chats.jsonl', [chat('a', { score: 0.7 }), chat('b', { score: 0.9 })].join('\n'));
  const out = join(folder, 'out.jsonl');
  const outcomes = () => stored(out).map((t) => t.outcome);
  await importCommand([path], { out, passAt: '0.7', format: 'openai-chat' });
  expect(outcomes()).toEqual(['passed', 'passed']);
  await importCommand([path], { out, verdicts: write('v.csv', 'id,passed\na,yes\n') });
  expect(outcomes()).toEqual(['passed', 'failed']);
  expect(printed.text).toContain('verdicts: 1 rows, 0 of no attempt read');
  await expect(importCommand([path], { out, passAt: 'high' })).rejects.toThrow(
    '--pass-at: high is no number',
  );
  await expect(importCommand([path], { out, format: 'tau3' })).rejects.toThrow(
    /no format "tau3".*openai-chat/,
  );
  await expect(importCommand([path], { out, verdicts: 'none.csv' })).rejects.toThrow('there is no such file');
});

test('nothing readable leaves an earlier import alone', async () => {
  const out = write('out.jsonl', 'precious');
  await expect(importCommand([write('a.json', '{"x": 1}')], { out })).rejects.toThrow(InputError);
  await expect(
    importCommand([write('b.jsonl', '{"messages": 5, "taskId": 1, "trial": 0}')], { out, skipInvalid: true }),
  ).rejects.toThrow('no attempt could be read');
  await expect(importCommand([], { out })).rejects.toThrow(InputError);
  expect(readFileSync(out, 'utf8')).toBe('precious');
});

test('--list prints every format with how it is known', async () => {
  await importCommand([], { list: true });
  for (const name of ['canonical', 'tau2', 'openai-chat', 'anthropic', 'otel', 'inspect', 'atif'])
    expect(printed.text).toMatch(new RegExp(`^${name} +\\S`, 'm'));
});
