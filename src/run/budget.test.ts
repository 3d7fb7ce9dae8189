import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readBudget } from './budget.js';
import { writeFileWhole, writeJsonWhole } from './files.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-budget-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('an empty run has spent nothing', () => {
  expect(readBudget(folder).total).toBe(0);
});

test('every step counts once, baselines and evaluation apart', () => {
  writeFileWhole(join(folder, 'trajectories', 'base.jsonl'), '{}\n{}\n{}\n');
  writeJsonWhole(join(folder, 'environments', 'a', 'calibration.json'), { rollouts: 20 });
  writeJsonWhole(join(folder, 'environments', 'b', 'calibration.json'), { rollouts: 30 });
  writeJsonWhole(join(folder, 'environments', 'b', 'CARD.md'), '');
  writeJsonWhole(join(folder, 'environments', 'pairs', 'a+b', 'settings.json'), {});
  writeJsonWhole(join(folder, 'adapters', 'a', 'summary.json'), { rollouts: 1000 });
  writeJsonWhole(join(folder, 'adapters', 'elsewhere', 'adapter_config.json'), {});
  writeJsonWhole(join(folder, 'composed', 'composition.json'), { rollouts: 7 });
  writeJsonWhole(join(folder, 'baselines', 'direct-grpo', 'summary.json'), { rollouts: 1060 });
  const budget = readBudget(folder);
  expect(budget.total).toBe(3 + 20 + 30 + 1000 + 7);
  expect(budget.baselines).toEqual({ 'direct-grpo': 1060 });
  expect(budget.unknown).toEqual(['adapters/elsewhere']);
});

test('a summary without a count is named', () => {
  writeJsonWhole(join(folder, 'adapters', 'a', 'summary.json'), { rollouts: '12' });
  expect(() => readBudget(folder)).toThrow(/adapters\/a\/summary\.json: `rollouts` is "12"/);
});
