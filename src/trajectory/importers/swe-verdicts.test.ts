import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fileOf, folderOf } from '../../../test/support/importer-files.js';
import { RecordError } from '../parse.js';
import { InvalidRecordError } from '../store.js';
import { findSweVerdicts, SweVerdicts } from './swe-verdict-files.js';
import { readInstanceReport, readTestResult, sweOutcome } from './swe-verdicts.js';

function verdictsOf(content: unknown, name = 'verdicts.json'): SweVerdicts {
  const verdicts = new SweVerdicts();
  verdicts.add(fileOf(name, content));
  return verdicts;
}

test('tests decide where an older report does not say resolved', () => {
  const tests = (failure: string[]) => ({
    patch_exists: true,
    patch_successfully_applied: true,
    tests_status: { FAIL_TO_PASS: { success: ['a'], failure }, PASS_TO_PASS: { success: [], failure: [] } },
  });
  expect(readInstanceReport('x', tests([])).outcome).toBe('passed');
  expect(readInstanceReport('x', tests(['b'])).outcome).toBe('failed');
  expect(() => readInstanceReport('x', { patch_exists: true, patch_successfully_applied: true })).toThrow(
    /report of x says neither/,
  );
  expect(
    readInstanceReport('x', { patch_is_None: true, patch_exists: false, resolved: false }).checks,
  ).toEqual([{ name: 'patch_exists', passed: false, detail: 'the patch is empty' }]);
});

test('many failing tests are counted, not all listed', () => {
  const failure = Array.from({ length: 50 }, (_, i) => `t${i}`);
  const [check] = readInstanceReport('x', {
    resolved: false,
    tests_status: { FAIL_TO_PASS: { success: [], failure } },
  }).checks;
  expect(check!.detail).toMatch(/^50 of 50 tests still fail: t0, .*t19, and 30 more$/);
});

test('test_result of OpenHands', () => {
  const result = (report: object) => readTestResult({ report: { resolved: false, ...report } });
  expect(result({ resolved: true })!.outcome).toBe('passed');
  expect(result({ empty_generation: true })).toMatchObject({
    outcome: 'failed',
    checks: [{ name: 'patch_exists' }],
  });
  expect(result({ failed_apply_patch: true })).toMatchObject({ checks: [{ name: 'patch_applied' }] });
  expect(result({ error_eval: true })!.outcome).toBe('excluded');
  expect(result({ test_timeout: true })).toMatchObject({
    outcome: 'failed',
    checks: [{ name: 'tests_finish' }],
  });
  expect(readTestResult({ git_patch: '' })).toBeNull();
});

test('tables: CSV, JSONL, a list', () => {
  const csv = verdictsOf('instance_id,resolved\na__b-1,true\na__b-2,0\n', 'v.csv');
  const lines = verdictsOf(
    '{"instance_id":"a__b-1","resolved":true}\n{"id":"a__b-2","resolved":false}\n',
    'v.jsonl',
  );
  const list = verdictsOf([
    { id: 'a__b-1', resolved: 'passed' },
    { id: 'a__b-2', reward: 0 },
  ]);
  for (const verdicts of [csv, lines, list])
    expect(['a__b-1', 'a__b-2', 'c'].map((id) => verdicts.of(id)?.outcome)).toEqual([
      'passed',
      'failed',
      undefined,
    ]);
});

test.each([
  ['resolved\ntrue\n', /row 1 needs instance_id/],
  ['instance_id,resolved\na,perhaps\n', /row 1 needs instance_id .* resolved/],
  ['instance_id,resolved\n', /no verdict/],
  ['{"id":"a","resolved":true}\n{"id":', /JSON/],
  [{ resolved_ids: ['a'], unresolved_ids: ['a'] }, /a stands in resolved_ids and in unresolved_ids/],
])('what is no verdict is refused: %j', (content, message) => {
  const path = fileOf('v.json', content);
  expect(() => findSweVerdicts(path, { verdicts: path })).toThrow(message);
});

test('sources that disagree are not chosen from; the report beside the attempt counts', () => {
  const entry = (resolved: boolean) => ({ x: { resolved, patch_successfully_applied: true } });
  const folder = folderOf({ 'one/report.json': entry(true), 'two/report.json': entry(false) });
  const verdicts = findSweVerdicts(folder, {});
  expect(verdicts.of('x', join(folder, 'two'))!.outcome).toBe('failed');
  expect(() => verdicts.of('x')).toThrow(RecordError);
  expect(() => verdicts.of('x')).toThrow(/one\/report\.json and .*two\/report\.json disagree about x/);
});

test('an empty report.json, as a run that broke leaves it, is refused by name', () => {
  const folder = folderOf({ 'x/report.json': '' });
  expect(() => findSweVerdicts(folder, {})).toThrow(/report\.json: record 1: not JSON/);
});

test('an attempt that the infrastructure broke counts only where it passed', () => {
  const passed = readInstanceReport('x', { resolved: true });
  const failed = readInstanceReport('x', { resolved: false });
  expect(sweOutcome(passed, 'diff', 'APIError').outcome).toBe('passed');
  expect(sweOutcome(failed, 'diff', 'APIError')).toMatchObject({ outcome: 'excluded', reward: null });
  expect(sweOutcome(failed, ' \n', null)).toMatchObject({
    outcome: 'failed',
    checks: [{ name: 'patch_exists' }],
  });
});

test('whatever a report holds, it is read or refused by name', () => {
  const path = fileOf('report.json', {});
  const json = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constant(JSON.parse('{"toString":null,"__proto__":1}')),
  );
  const some = (keys: readonly string[], value: fc.Arbitrary<unknown>) =>
    fc.record(Object.fromEntries(keys.map((key) => [key, value])), { requiredKeys: [] });
  const tests = some(['FAIL_TO_PASS', 'PASS_TO_PASS'], fc.oneof(json, some(['success', 'failure'], json)));
  const flags = ['resolved', 'patch_exists', 'patch_is_None', 'infra_failure', 'infra_failure_reason'];
  const entry = fc
    .tuple(some(flags, fc.oneof(json, fc.boolean())), fc.oneof(json, tests))
    .map(([report, tests_status]) => ({ ...report, tests_status }));
  const lists = ['resolved_ids', 'unresolved_ids', 'error_ids', 'infra_failure_ids', 'failure_reasons'];
  const ids = fc.oneof(json, fc.array(fc.constantFrom('a', 'b')));
  const rows = fc.array(fc.oneof(json, some(['id', 'instance_id', 'resolved'], json)));
  const content = fc.oneof(json, fc.dictionary(fc.string(), fc.oneof(json, entry)), some(lists, ids), rows);
  const check = fc.property(content, (value) => {
    writeFileSync(path, JSON.stringify(value));
    try {
      const verdicts = findSweVerdicts(path, { verdicts: path });
      expect(['passed', 'failed', 'excluded', undefined]).toContain(verdicts.of('a')?.outcome);
    } catch (error) {
      if (!(error instanceof InvalidRecordError && error.message.startsWith(path))) throw error;
    }
  });
  fc.assert(check, { numRuns: 300 });
});
