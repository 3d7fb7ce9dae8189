import { expect, test } from 'vitest';
import { diagnosed } from '../../../test/support/diagnosed.js';
import { originOfFiles } from '../../report/diagnosis-origin.js';
import { diagnosisView } from '../../report/diagnosis-view.js';
import { colorsFor } from './colors.js';
import { diagnosisText } from './diagnosis-text.js';
import { visibleWidth } from './format.js';
import { safeLine } from './safe-text.js';

const plain = colorsFor({ isTTY: false });
const text = (told: Parameters<typeof diagnosed>[0], columns: number) => {
  const { file, raters, trajectories } = diagnosed(told);
  const view = diagnosisView(file, { raters, trajectories, origin: originOfFiles(['a.json']) });
  return diagnosisText(view, plain, columns);
};

const told = {
  capabilities: [{ name: 'care' }, { name: 'speed', retained: false, mean_cov: 0.05 }],
  attempts: [
    { task: 'x', outcome: 'failed', labels: 'LN' },
    { task: 'y', outcome: 'failed', labels: 'PN' },
    { task: 'x', outcome: 'passed', labels: 'PL' },
  ],
  warnings: ['Only 2 attempts failed.'],
} as const;

test('the terminal says what the page says; the answer and the commands stand last', () => {
  const shown = text(told, 100);
  expect(shown).toMatch(/^ 1 ✓ care +50\.0 %/m);
  expect(shown).toMatch(/^ 1 {2}█○│○$/m);
  expect(shown).toMatch(/^ 2 {2}··│█$/m);
  expect(shown).toContain('failed x-0, message 2: note: a quote');
  expect(shown).toContain('speed: coverage 5.0 % is below 10.0 %');
  expect(shown).toContain('! Only 2 attempts failed.');
  const last = shown.slice(shown.indexOf('One capability is missing, and that is firm.'));
  expect(last).toContain('2 failed against 1 passed attempts.');
  expect(last).toContain('$ npx trace diagnose a.json MORE-RESULTS');
});

test.each([60, 80, 100, 200])('no line is longer than %i columns', (columns) => {
  const long = { ...told, text: 'word '.repeat(100), warnings: ['x'.repeat(500)] };
  // The table and the plane need their places.
  for (const line of text(long, columns).split('\n'))
    expect(visibleWidth(line)).toBeLessThanOrEqual(Math.max(columns, 96));
});

test('text from logs cannot steer the terminal', () => {
  const hostile = '\u001b[31mred\u001b]0;title\u0007\u009b2J\u202eabc\r\n';
  const shown = text(
    { ...told, capabilities: [{ name: `care${hostile}`, definition: hostile }], text: hostile },
    100,
  );
  expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  expect(safeLine(hostile)).toBe('[31mred]0;title2Jabc');
});
