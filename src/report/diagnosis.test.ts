import { expect, test } from 'vitest';
import { diagnosed, type ToldAttempt } from '../../test/support/diagnosed.js';
import { elements } from '../../test/support/elements.js';
import type { Message } from '../trajectory/trajectory.js';
import { cut, cutMiddle } from './cut.js';
import { diagnosisPage } from './diagnosis.js';
import { diagnosisJson } from './diagnosis-json.js';
import { originOfFiles, originOfRun } from './diagnosis-origin.js';
import { diagnosisView } from './diagnosis-view.js';

const HOSTILE = `"><img src=x onerror=alert(1)>'</style><script>alert(2)</script>&amp;\u202e]]>${'"'.repeat(1_000_000)}`;

const page = (told: Parameters<typeof diagnosed>[0], files = ['a.json']) => {
  const { file, raters, trajectories } = diagnosed(told);
  return diagnosisPage(diagnosisView(file, { raters, trajectories, origin: originOfFiles(files) }));
};

const attempts = (n: number, width: number): ToldAttempt[] =>
  Array.from({ length: n }, (_, i) => ({
    task: `t${i >> 2}`,
    outcome: i % 3 === 0 ? 'passed' : 'failed',
    labels: Array.from({ length: width }, (_, c) => 'LPN-'[(i + c) % 4]!).join(''),
  }));

test('hostile text anywhere stays text, and endless text is cut in sight', () => {
  const text = page(
    {
      capabilities: [
        { name: HOSTILE, definition: HOSTILE, cautions: [HOSTILE] },
        { name: `b${HOSTILE}`, retained: false },
      ],
      attempts: attempts(12, 2).map((attempt) => ({ ...attempt, task: `${attempt.task}${HOSTILE}` })),
      warnings: [HOSTILE],
      text: HOSTILE,
    },
    [HOSTILE],
  );
  const names = new Set(elements(text));
  for (const name of ['script', 'img', 'iframe', 'object', 'link', 'form']) expect(names).not.toContain(name);
  expect(text).not.toMatch(/\b(?:src|href)="(?!#)|url\(|@import|https?:/);
  expect(text).not.toContain('\u202e');
  expect(text).toContain('characters left out]');
  expect(Buffer.byteLength(text)).toBeLessThan(1_000_000);
});

test('500 attempts at their worst stay under 3 MB, and every one is drawn in every row', () => {
  const long = 'é"<'.repeat(2_000);
  const text = page({
    capabilities: Array.from({ length: 10 }, (_, c) => ({ name: `capability_${c}`, definition: long })),
    attempts: attempts(500, 10).map((attempt) => ({ ...attempt, labels: 'LLLLLLLLLL' })),
    text: long,
  });
  expect(Buffer.byteLength(text)).toBeLessThan(3_000_000);
  expect(text.match(/<button class="L/g)).toHaveLength(5000);
  expect(new Set(text.match(/popover="auto" id="attempt-\d+"/g)).size).toBe(500);
  elements(text);
});

test('what is opened exists: every button and link of the page has its target', () => {
  const text = page({
    capabilities: [{ name: 'a' }, { name: 'b', retained: false }],
    attempts: attempts(700, 2),
  });
  const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  const targets = [...text.matchAll(/ (?:popovertarget|href)="#?([^"]+)"/g)].map(([, id]) => id);
  expect(targets.length).toBeGreaterThan(500);
  for (const target of targets) expect(ids).toContain(target);
  expect(text).toContain('500 of 700 attempts are drawn');
});

test('without attempts there is a page too, and it says so', () => {
  const text = page({ capabilities: [], attempts: [], warnings: ['No attempt passed.'] });
  elements(text);
  expect(text).toContain('Nothing to diagnose');
  expect(text).toContain('No attempt passed.');
});

test('JSON holds verdict, votes, cases with what stands at their steps, and next steps', () => {
  const call: Message = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: '1', type: 'function', function: { name: 'cancel', arguments: { id: 7 } } }],
  };
  const talk: Message[] = [{ role: 'system', content: '' }, { role: 'user', content: 'cancel' }, call];
  const { file, raters, trajectories } = diagnosed({
    capabilities: [{ name: 'care' }],
    attempts: [
      { task: 'x', outcome: 'failed', labels: 'L', messages: talk },
      { task: 'x', outcome: 'passed', labels: 'P' },
    ],
  });
  const json = diagnosisJson(
    diagnosisView(file, { raters, trajectories, origin: originOfFiles(['a b.json']) }),
  );
  expect(json.capabilities).toEqual(file.capabilities);
  expect(json.verdict.headline).toBe('One capability is missing, and that is firm.');
  expect(json.attempts.map(({ agreement }) => agreement)).toEqual([[1], [1]]);
  expect(json.attempts[0]!.evidence).toEqual([
    { capability: 'care', message: 2, quote: 'a quote', note: 'note: a quote' },
  ]);
  expect(json.cases).toEqual([
    {
      capability: 'care',
      failed: {
        trajectory: 'x-0',
        task: 'x',
        step: {
          message: 2,
          why: 'note: a quote',
          differing: [],
          role: 'assistant',
          text: 'cancel({"id":7})',
        },
      },
      passed: {
        trajectory: 'x-1',
        task: 'x',
        step: {
          message: 2,
          why: 'it ended like this, without any cancel',
          differing: [],
          role: 'assistant',
          text: 'a quote',
        },
      },
      sameTask: true,
      chosen: 'Both are attempts at the same task.',
    },
  ]);
  expect(json.next.flatMap(({ commands }) => commands)).toContain(
    "npx trace diagnose 'a b.json' MORE-RESULTS",
  );
});

test('commands name the run they belong to', () => {
  expect(originOfRun('/p/.trace/main').train).toEqual(['npx trace run']);
  expect(originOfRun('/p/.trace/fast').train).toEqual(['npx trace run --fast']);
  expect(originOfRun('/p/.trace/it’s').command).toBe("npx trace diagnose --again --run 'it’s'");
  expect(originOfFiles(["it's.json"]).command).toBe("npx trace diagnose 'it'\\''s.json'");
});

test('what is cut off is counted', () => {
  expect(cut('abcdef', 6)).toBe('abcdef');
  expect(cut('abcdefgh', 6)).toBe('abcdef … [2 characters left out]');
  expect(cutMiddle('abcdefgh', 4)).toBe('ab … [4 characters left out] … gh');
});
