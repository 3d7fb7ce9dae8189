import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InputError } from '../run/errors.js';
import {
  type CapabilitiesFile,
  parseCapabilitiesFile,
  parseSelectedCapabilities,
  readCapabilitiesFile,
  selectedCapabilities,
} from './capabilities-file.js';

const selected = {
  skill: 'checking',
  description: 'Checking first.',
  mean_cov: 0.4,
  std_cov: 0.1,
  mean_delta: 0.5,
  std_delta: 0.2,
  n_runs_passed: 9,
  n_runs_total: 10,
  passes_consistency: true,
  example_failed_cases: ['a', 'b'],
  status: 'PENDING' as const,
};

const file: CapabilitiesFile = {
  trajectories: { passed: 1, failed: 2, excluded: 0 },
  tasks: { total: 3, repeated: 0, mixed: 0 },
  capabilities: [
    {
      name: 'checking',
      definition: 'Checking first.',
      retained: true,
      coverage: 0.5,
      coverageInterval: [0.1, 0.9],
      coverageMethod: 'wilson',
      gap: 1,
      gapInterval: [-0.1, 1],
      gapMethod: 'newcombe',
      ratersPassed: 9,
      raters: 10,
      lackingFailed: 1,
      presentFailed: 0,
      lackingPassed: 0,
      presentPassed: 1,
      lackingTasks: 1,
      p: 1,
      q: 1,
      kappa: null,
      kappaLow: false,
      agreement: null,
      contribution: 1,
      stability: 0.7,
      missingLabels: 0,
      cautions: [],
      evidence: [{ trajectory: 'a', task: 't', message: 3, quote: 'q', note: 'n' }],
      ...selected,
    },
  ],
  explained: { failures: 1, of: 2, share: 0.5, interval: [0.1, 0.9], method: 'wilson' },
  unexplained: [{ id: 'b', task: 'u', termination: null, lacking: [] }],
  overlaps: [],
  attempts: [{ id: 'a', task: 't', trial: 0, outcome: 'failed', labels: 'L' }],
  passRates: { passHat: [{ k: 1, tasks: 3, rate: 0.3, interval: [0.1, 0.6] }], passAt: [] },
  resamples: 1000,
  settings: { analyst: 'offline', seed: 1, raters: 10, ratersNeeded: 8, coverage: 0.1, gap: 0.2 },
  warnings: ['few'],
};
const copy = () => JSON.parse(JSON.stringify(file)) as { [key: string]: unknown };

test('a file is read as it was written; fields of a later version are left out', () => {
  expect(parseCapabilitiesFile({ ...copy(), later: 1 })).toEqual(file);
});

test.each<[string, (value: { [key: string]: unknown }) => void, string]>([
  ['a missing field', (value) => delete value.explained, 'field explained'],
  [
    'a missing number',
    (value) => delete (value.capabilities as { p?: number }[])[0]!.p,
    'field capabilities[0].p',
  ],
  [
    'a share above 1',
    (value) => Object.assign((value.capabilities as object[])[0]!, { stability: 2 }),
    'capabilities[0].stability',
  ],
  [
    'another letter',
    (value) => Object.assign((value.attempts as object[])[0]!, { labels: 'X' }),
    'attempts[0].labels',
  ],
])('%s is refused by its name', (_, spoil, field) => {
  const value = copy();
  spoil(value);
  expect(() => parseCapabilitiesFile(value)).toThrow(InputError);
  expect(() => parseCapabilitiesFile(value)).toThrow(field);
});

test('a file that is cut off is named', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trace-capabilities-'));
  const path = join(folder, 'capabilities.json');
  writeFileSync(path, JSON.stringify(file));
  expect(readCapabilitiesFile(path)).toEqual(file);
  writeFileSync(path, JSON.stringify(file).slice(0, -5));
  expect(() => readCapabilitiesFile(path)).toThrow(`${path} is no JSON`);
  rmSync(folder, { recursive: true });
});

test("the reference's entries: out of this file, as a list, with numbers for ids and without status", () => {
  expect(selectedCapabilities(file)).toEqual([selected]);
  expect(parseSelectedCapabilities(copy())).toEqual([selected]);
  const { status, ...without } = selected;
  expect(parseSelectedCapabilities([{ ...without, example_failed_cases: [4, 'b'] }])).toEqual([
    { ...selected, example_failed_cases: ['4', 'b'], status },
  ]);
  expect(() => parseSelectedCapabilities([{ ...selected, mean_cov: 'much' }])).toThrow('[0].mean_cov');
});

test('no value crashes the readers', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      for (const parse of [parseCapabilitiesFile, parseSelectedCapabilities])
        try {
          parse(value);
        } catch (error) {
          expect(error).toBeInstanceOf(InputError);
        }
    }),
  );
});
