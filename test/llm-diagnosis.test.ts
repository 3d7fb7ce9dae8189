import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { comparedFiles } from '../src/run/digest.js';
import { Journal } from '../src/run/journal.js';
import { tauResults } from './llm-fake/attempts.js';
import { FakeEndpoint, type FakeRequest, type Fault } from './llm-fake/server.js';

/**
 * Ten raters of a scripted endpoint over a small τ-shaped set, by the command line: an undisturbed run, and one that
 * meets every fault and is killed in the middle.
 */

const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const main = resolve(import.meta.dirname, '../src/cli/main.ts');
const SECRET = 'sk-very-secret-0123456789';

const FAULTS: readonly Fault[] = [
  'rate-limit',
  'server-error',
  'cut',
  'broken-body',
  'slow',
  'malformed',
  'wrong-schema',
  'wrong-evidence',
  'refusal',
  'empty',
  'huge',
  'fenced',
];
/** An attempt for which no answer is ever right: its labels stay missing, in every run. */
const isHopeless = ({ user }: FakeRequest) => user.includes('user_3;') && user.includes('You are rater 2.');
let hung = 0;
const faultOf = (request: FakeRequest): Fault => {
  if (isHopeless(request)) return 'refusal';
  // A repair is answered well; so is every third question.
  if (request.messages > 2) return 'none';
  const number = Number.parseInt(request.hash.slice(0, 8), 16);
  if (number % 40 === 7 && hung++ < 2) return 'hang';
  return number % 3 === 0 ? 'none' : FAULTS[number % FAULTS.length]!;
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-llm-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Child {
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  output(): string;
}

function project(name: string, baseUrl: string): string {
  const place = join(folder, name);
  mkdirSync(place);
  writeFileSync(join(place, 'results.json'), JSON.stringify(tauResults(5)));
  const analyst = {
    kind: 'llm',
    model: 'fake',
    baseUrl,
    batchTokens: 1000,
    backoffSeconds: 0.002,
    timeoutSeconds: 5,
    apiKeyEnv: 'FAKE_KEY',
  };
  writeFileSync(join(place, 'trace.config.json'), JSON.stringify({ analyst }));
  return place;
}

function diagnose(place: string): Child {
  const child = spawn(
    process.execPath,
    ['--import', tsx, main, 'diagnose', 'results.json', '--analyst', 'llm', '--out', 'out'],
    { cwd: place, env: { ...process.env, NO_COLOR: '1', FAKE_KEY: SECRET, TRACE_DEBUG: '1' } },
  );
  let output = '';
  child.stdout!.on('data', (chunk) => {
    output += String(chunk);
  });
  child.stderr!.on('data', (chunk) => {
    output += String(chunk);
  });
  return {
    process: child,
    ended: new Promise((done) => child.on('close', done)),
    output: () => output,
  };
}

const filesOf = (place: string) =>
  Object.fromEntries(
    comparedFiles(join(place, 'out')).map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(place, 'out', name)))
        .digest('hex'),
    ]),
  );

test('ten raters survive every fault and a kill -9, pay nothing twice, and end with the same files', async () => {
  // Undisturbed, but for the answers that are never right.
  const calm = new FakeEndpoint({
    key: SECRET,
    faultOf: (request) => (isHopeless(request) ? 'refusal' : 'none'),
  });
  const calmPlace = project('calm', await calm.listen());
  const first = diagnose(calmPlace);
  expect(await first.ended, first.output()).toBe(0);
  await calm.close();

  // Every fault; and after 60 answers nothing more is answered until the process is dead.
  const held = 60;
  const wild = new FakeEndpoint({ key: SECRET, faultOf, holdAfter: held });
  const wildPlace = project('wild', await wild.listen());
  const killed = diagnose(wildPlace);
  const path = join(wildPlace, 'out', 'journal.sqlite');
  const kept = () => {
    if (!existsSync(path)) return 0;
    const journal = new Journal(path, { readOnly: true });
    const { answers } = journal.answerTotals();
    journal.close();
    return answers;
  };
  while (killed.process.exitCode === null && !(wild.answers >= held && kept() >= wild.answers))
    await new Promise((wait) => setTimeout(wait, 20));
  expect(killed.process.exitCode, killed.output()).toBeNull();
  killed.process.kill('SIGKILL');
  await killed.ended;
  expect(comparedFiles(join(wildPlace, 'out'))).toEqual([]);
  wild.release();

  const second = diagnose(wildPlace);
  expect(await second.ended, second.output()).toBe(0);
  expect(second.output()).toMatch(/\d+ answers are kept from before and are not paid again/);
  await wild.close();

  expect([...wild.paid.values()].filter((times) => times > 1)).toEqual([]);
  for (const fault of FAULTS) expect([...wild.faults.keys()], 'faults that happened').toContain(fault);
  const files = filesOf(wildPlace);
  expect(files).toEqual(filesOf(calmPlace));
  expect(Object.keys(files).filter((name) => name.startsWith('raters/'))).toHaveLength(10);

  // What no answer could be had for is missing, and told.
  const rater = JSON.parse(readFileSync(join(wildPlace, 'out', 'raters', '02.json'), 'utf8'));
  const candidates = JSON.parse(readFileSync(join(wildPlace, 'out', 'candidates.json'), 'utf8'));
  const missing = Object.values(rater.missing as Record<string, string[]>);
  expect(missing).toHaveLength(candidates.length);
  for (const ids of missing) expect(ids).toHaveLength(2);
  const { warnings } = JSON.parse(readFileSync(join(wildPlace, 'out', 'capabilities.json'), 'utf8'));
  expect(warnings.join('\n')).toContain(`${2 * candidates.length} labels are missing`);
  // The rule of a domain was refused, near-duplicates joined.
  const names = candidates.map((candidate: { name: string }) => candidate.name);
  expect(names).toContain('precondition_verification');
  expect(names).not.toContain('verifying_preconditions');
  expect(names).not.toContain('order_cancellation_policy');
  expect(warnings.join('\n')).toContain('order_cancellation_policy is a rule of this domain');

  // The key is nowhere: not in what was printed, not in any file, the journal included.
  for (const child of [first, killed, second]) expect(child.output()).not.toContain(SECRET);
  for (const place of [calmPlace, wildPlace])
    for (const entry of readdirSync(join(place, 'out'), { recursive: true, withFileTypes: true }))
      if (entry.isFile())
        expect(readFileSync(join(entry.parentPath, entry.name)).includes(SECRET), entry.name).toBe(false);
});
