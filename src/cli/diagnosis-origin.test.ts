import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { commandOrigin } from './diagnosis-origin.js';

test('the command can be typed again; where results go is left out', () => {
  const flags = { raters: '4', skipInvalid: true, out: 'x', json: true, resume: true, keep: undefined };
  const origin = commandOrigin(['logs/a.json', 'b c.json'], flags);
  expect(origin.command).toBe("npx trace diagnose logs/a.json 'b c.json' --raters 4 --skip-invalid");
  expect(origin.more).toEqual([
    "npx trace diagnose logs/a.json 'b c.json' MORE-RESULTS --raters 4 --skip-invalid",
  ]);
  expect(origin.title).toBe('a.json, b c.json');
});

test('absolute and relative paths give the same', () => {
  expect(commandOrigin([resolve('logs/a.json')], {})).toEqual(commandOrigin(['logs/a.json'], {}));
});

test('rater files alone', () => {
  expect(commandOrigin([], { importRaters: 'labels/raters' })).toMatchObject({
    title: 'raters',
    command: 'npx trace diagnose --import-raters labels/raters',
  });
});
