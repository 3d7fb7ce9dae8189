import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { configFields, findConfig, loadConfig, parseConfig } from './load.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-config-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

test('the same configuration from TypeScript, JavaScript, YAML and JSON', async () => {
  const texts: [string, string][] = [
    [
      'trace.config.ts',
      `import { defineConfig } from 'trace-agents';\nconst rank: number = 4;\nexport default defineConfig({ seed: 7, train: { rank } });`,
    ],
    ['trace.config.js', `module.exports = { seed: 7, train: { rank: 4 } };`],
    ['trace.config.mjs', `export default { seed: 7, train: { rank: 4 } };`],
    ['trace.config.yaml', `seed: 7\ntrain:\n  rank: 4\n`],
    ['trace.config.json', `{"seed": 7, "train": {"rank": 4}}`],
  ];
  for (const [name, text] of texts) {
    write(name, text);
    const { config, project, file } = await loadConfig(folder);
    expect(config, name).toMatchObject({ target: 'desk', model: 'desk-base', seed: 7, train: { rank: 4 } });
    expect(project).toBe(folder);
    expect(file).toBe(join(folder, name));
    // The file may be named itself.
    expect((await loadConfig(file)).config).toEqual(config);
    rmSync(join(folder, name));
  }
});

test('an empty configuration is the embedded default', () => {
  expect(parseConfig({}, 'x')).toMatchObject({
    target: 'desk',
    model: 'desk-base',
    seed: 1,
    analyst: 'offline',
  });
  expect(parseConfig(null, 'x')).toEqual(parseConfig({}, 'x'));
});

test('a wrong field is named with its path, all of them at once', () => {
  const wrong = { train: { rank: 0, groupSize: 'eight' }, seed: 1.5, evaluate: { splits: ['exam'] } };
  let message = '';
  try {
    parseConfig(wrong, 'trace.config.yaml');
  } catch (error) {
    message = (error as Error).message;
    expect(error).toMatchObject({ exitCode: 2, mend: expect.stringContaining('docs/configuration.md') });
  }
  for (const field of ['train.rank', 'train.groupSize', 'seed', 'evaluate.splits.0']) {
    expect(message).toContain(`trace.config.yaml: ${field}: `);
  }
});

test('an unknown field is refused with the nearest name', () => {
  expect(() => parseConfig({ train: { iteratons: 3 } }, 'c')).toThrow(
    'c: train.iteratons: there is no such field; did you mean iterations?',
  );
  expect(() => parseConfig({ modle: 'x' }, 'c')).toThrow('did you mean model?');
  expect(() => parseConfig({ zzzzzzzz: 1 }, 'c')).toThrow(/zzzzzzzz: there is no such field$/);
});

test('broken files: YAML with its line, modules that throw, without default export', async () => {
  write('trace.config.yaml', 'seed: 1\ntrain: {rank: 4\nmodel: x\n');
  await expect(loadConfig(folder)).rejects.toThrow(/trace\.config\.yaml:\d+: /);
  rmSync(join(folder, 'trace.config.yaml'));
  write('trace.config.ts', 'throw new Error("no key set");');
  await expect(loadConfig(folder)).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('no key set'),
  });
  write('trace.config.ts', 'export const config = {};');
  await expect(loadConfig(folder)).rejects.toMatchObject({ mend: expect.stringContaining('export default') });
  write('trace.config.ts', 'export default { seed: ');
  await expect(loadConfig(folder)).rejects.toThrow(/trace\.config\.ts/);
});

test('no folder, no configuration, several of them', async () => {
  await expect(loadConfig(join(folder, 'nowhere'))).rejects.toMatchObject({ exitCode: 2 });
  await expect(loadConfig(folder)).rejects.toMatchObject({ mend: expect.stringContaining('trace init') });
  expect(findConfig(folder)).toBeNull();
  write('trace.config.ts', 'export default {}');
  write('trace.config.json', '{}');
  expect(() => findConfig(folder)).toThrow('trace.config.ts, trace.config.json');
  mkdirSync(join(folder, 'other'));
  write('other/notes.txt', '');
  await expect(loadConfig(join(folder, 'other/notes.txt'))).rejects.toThrow(/no configuration file/);
});

test('configFields lists every field by its path', () => {
  const fields = configFields();
  for (const field of ['target', 'seed', 'train.rank', 'evaluate.splits']) expect(fields).toContain(field);
  expect(fields).not.toContain('train');
});
