import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { capturePrinted } from '../../../test/support/printed.js';
import { packageRoot } from '../../run/package-root.js';
import { ejectPrompts, listPrompts, showPrompt } from './prompts.js';

let project: string;
const printed = capturePrinted();
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'trace-prompts-'));
});
afterEach(() => {
  rmSync(project, { recursive: true, force: true });
});
const json = () => JSON.parse(printed.text) as { prompts: { id: string; origin: string }[] };

test('what is ejected is byte for byte what comes with TRACE, and is read from the project from then on', () => {
  ejectPrompts(['tool-use/label'], { project });
  const file = join(project, 'prompts', 'tool-use', 'label.md');
  const packaged = readFileSync(join(packageRoot(), 'prompts', 'tool-use', 'label.md'), 'utf8');
  expect(readFileSync(file, 'utf8')).toBe(packaged);

  writeFileSync(file, packaged.replace('You are one of several raters', 'You are one of many raters'));
  printed.text = '';
  listPrompts({ project, json: true });
  expect(
    json()
      .prompts.filter(({ origin }) => origin === 'project')
      .map(({ id }) => id),
  ).toEqual(['tool-use/label']);
  printed.text = '';
  showPrompt('tool-use/label', { project });
  expect(printed.text).toBe(readFileSync(file, 'utf8'));
  printed.text = '';
  showPrompt('tool-use/label', { project, json: true });
  expect(JSON.parse(printed.text)).toMatchObject({
    origin: 'project',
    file,
    output: { required: ['labels'] },
  });
});

test('nothing is overwritten unless asked, and nothing is written when one is in the way', () => {
  ejectPrompts(['general/merge'], { project });
  writeFileSync(join(project, 'prompts', 'general', 'merge.md'), 'mine');
  expect(() => ejectPrompts([], { project, all: true })).toThrow(/merge\.md is there already/);
  expect(existsSync(join(project, 'prompts', 'tool-use'))).toBe(false);
  ejectPrompts([], { project, all: true, force: true });
  printed.text = '';
  listPrompts({ project, json: true });
  expect(new Set(json().prompts.map(({ origin }) => origin))).toEqual(new Set(['project']));
});

test('wrong use is told', () => {
  expect(() => ejectPrompts([], { project })).toThrow('no prompt to eject');
  expect(() => showPrompt('tool-use/nothing', { project })).toThrow(/no prompt "tool-use\/nothing"/);
  expect(() => listPrompts({ project: join(project, 'nowhere') })).toThrow('no such folder');
});
