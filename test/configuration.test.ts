import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildSteps } from '../src/cli/pipeline.js';
import { Session } from '../src/cli/session.js';
import { configFields, parseConfig } from '../src/config/load.js';
import type { TraceConfig } from '../src/config/schema.js';
import { Journal } from '../src/run/journal.js';

/** docs/configuration.md is what people read: it has to name every field with the default that is used. */

const text = readFileSync(join(import.meta.dirname, '../docs/configuration.md'), 'utf8');
const documented = new Map(
  [...text.matchAll(/^\| `([a-zA-Z.]+)` \| (.+?) \| /gm)].map((row) => [row[1]!, row[2]!]),
);

function steps(config: TraceConfig, fast: boolean): Map<string, Record<string, unknown>> {
  const journal = new Journal(':memory:');
  const session = new Session(config, '/nowhere', '/nowhere');
  const built = buildSteps({ config, fast, common: {}, session, journal });
  journal.close();
  return new Map(built.map((step) => [step.name, step.settings.options as Record<string, unknown>]));
}

test('every field is documented, and nothing else is', () => {
  expect([...documented.keys()].sort()).toEqual(configFields().sort());
});

test('documented defaults are the ones used', () => {
  const config = parseConfig({}, 'none');
  const used = steps(config, false);
  for (const [field, shown] of documented) {
    const [section, name] = field.split('.') as [string, string | undefined];
    const value = name === undefined ? config[section as keyof TraceConfig] : used.get(section)![name];
    // A field without a default says so in a word; booleans of the baselines are the step's own.
    if (value === undefined) expect(['all', '`true`'], field).toContain(shown);
    else expect(shown, field).toBe(`\`${JSON.stringify(value)}\``);
  }
});

test('the configuration reaches its step, and --fast only lowers', () => {
  const config = parseConfig({ train: { rank: 4, iterations: 2 }, evaluate: { tasks: 1000 } }, 'none');
  const normal = steps(config, false);
  expect(normal.get('train')).toMatchObject({ rank: 4, iterations: 2 });
  expect(normal.get('baselines')).toMatchObject({ rank: 4 });
  expect(normal.get('evaluate')).toMatchObject({ tasks: 1000 });
  const fast = steps(config, true);
  expect(fast.get('train')).toMatchObject({ rank: 4, iterations: 2 });
  expect(fast.get('evaluate')!.tasks).toBe(64);
});

test('settings that a step refuses are the configuration’s mistake', () => {
  const config = parseConfig({ diagnose: { ratersNeeded: 11 } }, 'none');
  expect(() => steps(config, false)).toThrow(expect.objectContaining({ exitCode: 2 }));
});
