import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

/** The command as a person or a script meets it: texts, streams, exit codes. */

const main = resolve(import.meta.dirname, '../src/cli/main.ts');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-cli-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function trace(...args: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', main, ...args], {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1', TRACE_DEBUG: '' },
  });
  return { code: status, out: stdout, err: stderr };
}

test('help names every command and ends with 0; every command has its own', () => {
  const { code, out } = trace('--help');
  expect(code).toBe(0);
  for (const name of ['init', 'run', 'rollout', 'diagnose', 'train', 'evaluate', 'status', 'doctor']) {
    expect(out).toMatch(new RegExp(`^  ${name} `, 'm'));
  }
  expect(out).toContain('Exit codes');
  const run = trace('run', '--help');
  expect(run.code).toBe(0);
  for (const option of ['--from', '--until', '--fast', '--seed', '--json', '--run'])
    expect(run.out).toContain(option);
});

test('wrong use ends with 2 and says what is right', () => {
  const unknown = trace('rnu');
  expect(unknown.code).toBe(2);
  expect(unknown.err).toContain('Did you mean run?');
  expect(trace('run', '--seed', 'x').code).toBe(2);
  expect(trace('run', '--until', 'lunch').err).toContain('rollout');
  const none = trace('run', join(folder, 'nowhere'));
  expect(none.code).toBe(2);
  expect(none.err).not.toMatch(/^\s+at /m);
});

test('--json ends with a result, also when it fails', () => {
  writeFileSync(join(folder, 'trace.config.json'), '{"train": {"rnak": 3}}');
  const { code, out } = trace('run', folder, '--json');
  expect(code).toBe(2);
  const last = JSON.parse(out.trimEnd().split('\n').at(-1)!);
  expect(last).toMatchObject({ type: 'result', ok: false, error: { exitCode: 2 } });
  expect(last.error.message).toContain('train.rnak');
});

test('a run name that is no folder name, and a model that is none', () => {
  writeFileSync(join(folder, 'trace.config.json'), '{"model": "./nothing"}');
  expect(trace('run', folder, '--run', '../x').err).toContain('is no run name');
  const model = trace('run', folder);
  expect(model.code).toBe(2);
  expect(model.err).toContain('lacks config.json, tokenizer.json, *.safetensors');
});

test('init writes a project that loads, and touches nothing that is there', () => {
  mkdirSync(join(folder, 'mine'));
  writeFileSync(join(folder, 'mine', 'README.md'), 'my own words');
  const { code, out } = trace('init', join(folder, 'mine'));
  expect(code).toBe(0);
  expect(out).toContain('kept: README.md');
  expect(readFileSync(join(folder, 'mine', 'README.md'), 'utf8')).toBe('my own words');
  const doctor = JSON.parse(trace('doctor', join(folder, 'mine'), '--json').out);
  expect(doctor.findings).toContainEqual(expect.objectContaining({ check: 'configuration', state: 'ok' }));
  expect(doctor.findings).toContainEqual(expect.objectContaining({ check: 'kernels', state: 'ok' }));
  const again = trace('init', join(folder, 'mine'));
  expect(again.code).toBe(2);
  expect(again.err).toContain('is there already');
});

test('status of a project without runs', () => {
  expect(trace('status', folder).out).toContain('has no runs yet');
  expect(JSON.parse(trace('status', folder, '--json').out)).toMatchObject({ ok: true, runs: [] });
  expect(trace('status', folder, '--run', 'x').code).toBe(2);
});
