import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { InputError } from '../../run/errors.js';
import { writeFileWhole } from '../../run/files.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { PromptedRaters } from '../prompted/raters.js';
import { READING_DEFAULTS } from '../prompted/settings.js';
import { PromptLibrary } from '../prompts/library.js';
import { HandoffAsker, WaitingError } from './handoff.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-handoff-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const attempt = (id: string, outcome: 'passed' | 'failed'): Trajectory => ({
  id,
  taskId: id,
  trial: 0,
  source: 'chat',
  messages: [
    { role: 'user', content: `Please do ${id}.` },
    { role: 'assistant', content: `I have done what ${id} asks for.` },
  ],
  tools: [],
  reward: null,
  outcome,
  termination: null,
  metadata: {},
});
const attempts = [attempt('one', 'failed'), attempt('two', 'passed')];

/** A process of its own: nothing is remembered but the files. */
function open() {
  const asker = new HandoffAsker({ folder, resume: 'trace diagnose --resume' });
  return new PromptedRaters(asker, {
    library: new PromptLibrary(null),
    settings: READING_DEFAULTS,
    seed: 1,
    finish: () => asker.settle(),
  });
}
const requests = () => readdirSync(join(folder, 'requests')).sort();
const answer = (request: string, value: unknown, ending = 'json') =>
  writeFileWhole(
    join(folder, 'answers', request.replace(/md$/, ending)),
    typeof value === 'string' ? value : JSON.stringify(value),
  );
const PROPOSAL = {
  name: 'result_checking',
  definition:
    'After an action whose result can be looked at, the agent looks at it before it says that it is done.',
  elsewhere: 'Cooking: tasting before serving.',
  examples: [{ attempt: 1, note: 'said so without looking' }],
};

test('requests wait, wrong answers are named, right ones lead on', async () => {
  const waiting = await open()
    .discover(attempts)
    .catch((error: unknown) => error);
  expect(waiting).toBeInstanceOf(WaitingError);
  expect(waiting).toMatchObject({ open: 1, mend: expect.stringContaining('trace diagnose --resume') });
  const [discover] = requests();
  const text = readFileSync(join(folder, 'requests', discover!), 'utf8');
  expect(text).toContain(`../answers/${discover!.replace('.md', '.json')}`);
  expect(text).toContain('I have done what one asks for.');
  expect(text).toContain('"elsewhere"');
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain(`\`requests/${discover}\``);

  // Nothing is guessed from a wrong answer.
  answer(discover!, '```json\n{"capabilities": [{"name": "x"}]}\n```', 'md');
  const wrong = await open()
    .discover(attempts)
    .catch((error: unknown) => error);
  expect(wrong).toBeInstanceOf(InputError);
  expect((wrong as Error).message).toContain(join(folder, 'answers', discover!));
  expect((wrong as Error).message).toContain('capabilities[0]');
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain('## To be mended');

  answer(discover!, { capabilities: [PROPOSAL] });
  const raters = open();
  const candidates = await raters.discover(attempts);
  expect(candidates.map(({ name }) => name)).toEqual(['result_checking']);

  // Every label is asked for before anybody has to wait.
  for (const rater of [0, 1])
    for (const one of attempts) expect(await raters.label(one, candidates, rater)).toEqual([]);
  expect(() => raters.finish()).toThrow(WaitingError);
  const labels = requests().filter((name) => name.startsWith('label'));
  expect(labels.map((name) => name.slice(0, 'label-r01-01'.length))).toEqual([
    'label-r01-01',
    'label-r01-02',
    'label-r02-01',
    'label-r02-02',
  ]);

  const label = (evidence: object | null) => ({
    labels: [{ capability: 'result_checking', reason: 'r', label: evidence ? 'LACKING' : 'NA', evidence }],
  });
  for (const name of labels.slice(1)) answer(name, label(null));
  answer(labels[0]!, label({ message: 1, quote: 'words that nobody said' }));
  const again = open();
  await again.discover(attempts);
  for (const rater of [0, 1]) for (const one of attempts) await again.label(one, candidates, rater);
  expect(() => again.finish()).toThrow(/label-r01-01.*stands nowhere in message 1/);

  answer(labels[0]!, label({ message: 1, quote: 'I have done what one' }));
  const last = open();
  await last.discover(attempts);
  const pairs = await last.label(attempts[0]!, candidates, 0);
  expect(pairs[0]).toMatchObject({
    label: 'LACKING',
    evidence: { message: 1, quote: 'I have done what one' },
  });
  for (const rater of [0, 1]) for (const one of attempts) await last.label(one, candidates, rater);
  last.finish();
  expect(last.remarks()).toEqual([]);
});

test('another discovery asks anew: requests of the old one go, answers stay', async () => {
  await open()
    .discover(attempts)
    .catch(() => null);
  const [discover] = requests();
  answer(discover!, { capabilities: [PROPOSAL] });
  const first = open();
  await first.label(attempts[0]!, await first.discover(attempts), 0);
  expect(() => first.finish()).toThrow(WaitingError);
  const old = requests().find((name) => name.startsWith('label'))!;
  answer(old, { labels: [] });
  answer(discover!, { capabilities: [{ ...PROPOSAL, name: 'looking_afterwards' }] });
  const second = open();
  await second.label(attempts[0]!, await second.discover(attempts), 0);
  expect(() => second.finish()).toThrow(WaitingError);
  expect(requests()).not.toContain(old);
  expect(existsSync(join(folder, 'answers', old.replace('.md', '.json')))).toBe(true);
});

test('an answer that is no JSON is named, too', async () => {
  await open()
    .discover(attempts)
    .catch(() => null);
  writeFileSync(join(folder, 'requests', 'notes.txt'), 'mine');
  answer(requests()[0]!, 'I would rather not.');
  await expect(open().discover(attempts)).rejects.toThrow(
    /no JSON object; it begins with "I would rather not."/,
  );
  expect(requests()).toContain('notes.txt');
});
