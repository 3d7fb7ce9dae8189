import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { instantiateEnvironment, loadCapabilityEnvironment, MAX_SOURCE_BYTES } from './load-generated.js';

const WHOLE = `
import type { CapabilityEnvironment } from 'trace-agents';
interface Settings { readonly n: number }
export default (settings: Settings) => ({
  name: 'n' + settings.n, capability: 'c', rationale: 'r', tools: [], toolKinds: {}, maxTurns: 3,
  systemPrompt: () => '', scenario: (seed: number) => ({ seed, id: String(seed), n: settings.n }),
  open: () => { throw new Error('not played') }, oracle: () => [], mistakes: () => [],
} satisfies CapabilityEnvironment);
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'generated-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('reads the module and hands it the settings beside it', async () => {
  writeFileSync(join(folder, 'environment.ts'), WHOLE);
  writeFileSync(join(folder, 'settings.json'), '{"n": 4}');
  const environment = await loadCapabilityEnvironment(folder);
  expect(environment.name).toBe('n4');
  expect(environment.scenario(7)).toEqual({ seed: 7, id: '7', n: 4 });
});

test('every load is a fresh module', () => {
  const source = `let calls = 0;${WHOLE.replace("'n' + settings.n", 'String(++calls)')}`;
  expect(instantiateEnvironment(source, {}).name).toBe('1');
  expect(instantiateEnvironment(source, {}).name).toBe('1');
});

test.each([
  ["import { readFileSync } from 'node:fs';\nconst read = readFileSync;", 'node:fs'],
  ["import 'node:child_process';", 'node:child_process'],
  ["const fs = await import('node:fs');", 'dynamic import'],
  ["const fs = require('fs');", '"fs"'],
])('refuses to import anything but types: %s', (line, named) => {
  expect(() => instantiateEnvironment(`${line}\n${WHOLE}`, { n: 1 }, 'here/environment.ts')).toThrow(named);
  expect(() => instantiateEnvironment(`${line}\n${WHOLE}`, { n: 1 }, 'here/environment.ts')).toThrow(
    'here/environment.ts',
  );
});

test.each([
  ['Math.random()', 'random'],
  ['Date.now()', 'Date'],
  ['process.exit()', 'process'],
  ["new Function('return 1')()", 'Code generation'],
])('has no chance, clock, process or eval: %s', (expression, named) => {
  expect(() => instantiateEnvironment(`const x = ${expression};\n${WHOLE}`, { n: 1 })).toThrow(named);
});

test('says what is missing from the contract', () => {
  const source = WHOLE.replace('oracle: () => [], ', '').replace("capability: 'c'", 'capability: 3');
  expect(() => instantiateEnvironment(source, { n: 1 })).toThrow(/oracle, capability missing/);
  expect(() => instantiateEnvironment('export const other = 1;', {})).toThrow(/does not export/);
});

test('refuses what it cannot read, by file name', async () => {
  await expect(loadCapabilityEnvironment(join(folder, 'none'))).rejects.toThrow(join(folder, 'none'));
  writeFileSync(join(folder, 'environment.ts'), 'export default {{');
  await expect(loadCapabilityEnvironment(folder)).rejects.toThrow(/environment\.ts/);
  writeFileSync(join(folder, 'environment.ts'), WHOLE);
  writeFileSync(join(folder, 'settings.json'), '{');
  await expect(loadCapabilityEnvironment(folder)).rejects.toThrow(/settings\.json is not valid JSON/);
  expect(() => instantiateEnvironment(`//${' '.repeat(MAX_SOURCE_BYTES)}`, {})).toThrow(/larger than/);
});
