import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { capturePrinted } from '../../test/support/printed.js';
import { InputError } from '../run/errors.js';
import { diagnoseFiles } from './diagnose.js';

let folder: string;
const printed = capturePrinted();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-diagnose-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A τ-bench result in which an order is read and then, if at all, the named one is cancelled. */
function result(task: number, trial: number, cancelled: string | null, golden = `#W${task}1`) {
  const call = (id: string, name: string, args: object) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
  });
  const orders = [`#W${task}1`, `#W${task}2`];
  return {
    task_id: task,
    trial,
    reward: cancelled === golden ? 1 : 0,
    info: { task: { actions: [{ name: 'cancel_order', kwargs: { order_id: golden } }], outputs: [] } },
    traj: [
      { role: 'system', content: 'policy' },
      { role: 'user', content: 'Cancel my last order.' },
      call('a', 'get_user', { user_id: `user_${task}` }),
      { role: 'tool', tool_call_id: 'a', name: 'get_user', content: JSON.stringify({ orders }) },
      ...(cancelled
        ? [
            call('b', 'cancel_order', { order_id: cancelled }),
            { role: 'tool', tool_call_id: 'b', name: 'cancel_order', content: '{"status":"cancelled"}' },
          ]
        : []),
      { role: 'assistant', content: 'Done.' },
      { role: 'user', content: '###STOP###' },
    ],
  };
}
const write = (name: string, value: unknown) => {
  const path = join(folder, name);
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
};
/** Twelve tasks, each passed once and failed once by cancelling the other order. */
const mixed = () =>
  Array.from({ length: 12 }, (_, task) => [
    result(task, 0, `#W${task}1`),
    result(task, 1, `#W${task}2`),
  ]).flat();

test('--json prints one object with what was found', async () => {
  await diagnoseFiles([write('a.json', mixed())], { json: true });
  const found = JSON.parse(printed.text);
  expect(found.trajectories).toEqual({ passed: 12, failed: 12, excluded: 0 });
  expect(found.capabilities).toHaveLength(1);
  expect(found.capabilities[0]).toMatchObject({
    name: 'structured_data_reasoning',
    retained: true,
    coverage: 1,
    gap: 1,
    ratersPassed: 10,
  });
  expect(found.capabilities[0].evidence[0]).toMatchObject({
    trajectory: '0-1',
    message: 4,
    quote: '{"name":"cancel_order","arguments":{"order_id":"#W02"}}',
  });
  expect(found.unexplained).toEqual([]);
  expect(found.files).toMatchObject([
    { file: join(folder, 'a.json'), format: 'tau-bench', trajectories: 24, skipped: [] },
  ]);
});

test('people get a table, the definition, evidence and, with --out, files and a report', async () => {
  await diagnoseFiles([write('a.json', mixed())], { out: join(folder, 'out') });
  expect(printed.text).toContain('12 failed against 12 passed attempts');
  expect(printed.text).toMatch(/✓ structured_data_reasoning +100\.0 %/);
  expect(printed.text).toContain('#W02');
  const files = ['capabilities.json', 'candidates.json', 'selected_capabilities.json', 'raters/10.json'];
  for (const name of files) JSON.parse(readFileSync(join(folder, 'out', name), 'utf8'));
  const page = readFileSync(join(folder, 'out', 'report.html'), 'utf8');
  expect(page).toContain('A failed attempt beside a passed one of the same task');
  expect(page).not.toMatch(/<script|https?:\/\//);
});

test('settings of the method may be changed; contradictions are wrong use', async () => {
  const path = write('a.json', [
    ...mixed(),
    ...Array.from({ length: 13 }, (_, i) => result(20 + i, 0, null)),
  ]);
  await diagnoseFiles([path], { json: true, raters: '4', keep: '2', rho: '0.5', delta: '0.3' });
  const { settings, capabilities } = JSON.parse(printed.text);
  expect(settings).toMatchObject({ raters: 4, ratersNeeded: 2, coverage: 0.5, gap: 0.3, seed: 1 });
  // 12 and 13 of 25 failed ones: only the second reaches one half.
  expect(capabilities.map((c: { name: string; retained: boolean }) => [c.name, c.retained])).toEqual([
    ['action_execution', true],
    ['structured_data_reasoning', false],
  ]);
  await expect(diagnoseFiles([path], { raters: '3', keep: '4' })).rejects.toThrow(InputError);
  await expect(diagnoseFiles([path], { rho: 'much' })).rejects.toThrow('--rho: much is no number');
  await expect(diagnoseFiles([], {})).rejects.toThrow(InputError);
});

test('two files with the same ids are kept apart, tasks by their reference', async () => {
  const first = write('a.json', mixed());
  const second = write(
    'b.json',
    mixed().map((item) => ({ ...item, info: { task: { ...item.info.task, outputs: ['1'] } } })),
  );
  const third = write('c.json', [result(0, 0, '#W02', '#W02'), result(0, 1, '#W01', '#W02')]);
  await diagnoseFiles([first, second, third], { json: true, out: join(folder, 'out') });
  expect(JSON.parse(printed.text).trajectories).toMatchObject({ passed: 25, failed: 25 });
  const rater = readFileSync(join(folder, 'out', 'raters', '01.json'), 'utf8');
  expect(rater).toContain('"c.json:0-1"');
});

test('a bad record ends it with file, record and mend, or is left out and listed', async () => {
  const path = write('a.json', [...mixed(), { task_id: 99, traj: 5 }]);
  const reading = diagnoseFiles([path], { out: join(folder, 'out') });
  await expect(reading).rejects.toThrow(`${path}: record 25: field traj must be a list, but is a number`);
  await expect(reading).rejects.toMatchObject({
    exitCode: 2,
    mend: expect.stringContaining('--skip-invalid'),
  });
  expect(existsSync(join(folder, 'out'))).toBe(false);
  await diagnoseFiles([path], { skipInvalid: true });
  expect(printed.text).toContain('1 records left out');
  expect(printed.text).toContain('record 25: field traj must be a list');
});

test.each([
  ['missing.json', null, 'there is no such file'],
  ['text.json', 'hello', 'it begins with neither'],
  ['other.json', '{"a":1}', 'no importer knows its fields'],
  ['cut.json', JSON.stringify(mixed()).slice(0, -30), 'cut off'],
])('%s is refused as wrong input', async (name, text, reason) => {
  const path = text === null ? join(folder, name) : write(name, text);
  const reading = diagnoseFiles([path], {});
  await expect(reading).rejects.toThrow(InputError);
  await expect(reading).rejects.toThrow(reason);
});

test('rater files come out and in again with the same numbers, with the attempts and without', async () => {
  const path = write('a.json', mixed());
  const [out, exported] = [join(folder, 'out'), join(folder, 'exported')];
  const numbers = () => {
    const { capabilities, trajectories, tasks } = JSON.parse(printed.text);
    printed.text = '';
    const { mean_cov, std_delta, coverageInterval, stability, n_runs_passed } = capabilities[0];
    return { trajectories, tasks, mean_cov, std_delta, coverageInterval, stability, n_runs_passed };
  };
  await diagnoseFiles([path], { json: true, out, export: exported });
  const first = numbers();
  expect(existsSync(join(exported, 'capabilities.json'))).toBe(false);
  await diagnoseFiles([path], { json: true, importRaters: exported });
  expect(numbers()).toEqual(first);
  // Without the attempts each counts as a task of its own; what the raters say stays.
  await diagnoseFiles([], { json: true, importRaters: out });
  expect(JSON.parse(printed.text).warnings).toContain(
    'Rater files do not name tasks: each attempt counts as a task of its own.',
  );
  const { tasks, coverageInterval, stability, ...same } = first;
  expect(numbers()).toMatchObject(same);
  await expect(diagnoseFiles([], { importRaters: out, keep: '11' })).rejects.toThrow('11 cannot be needed');
  await expect(diagnoseFiles([], { importRaters: join(folder, 'none') })).rejects.toThrow('no such folder');
});
