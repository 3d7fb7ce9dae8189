import { type ChildProcess, spawn } from 'node:child_process';
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
import { buildSteps } from '../src/cli/pipeline.js';
import { Session } from '../src/cli/session.js';
import { parseConfig } from '../src/config/load.js';
import { comparedFiles } from '../src/run/digest.js';
import type { RunEvent } from '../src/run/events.js';
import { Journal } from '../src/run/journal.js';
import { runPaths } from '../src/run/paths.js';
import { importTrajectories } from '../src/trajectory/importers/detect.js';
import { writeTrajectories } from '../src/trajectory/store.js';
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
  'hang',
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
const faultOf = (request: FakeRequest): Fault => {
  if (isHopeless(request)) return 'refusal';
  // What is asked again is answered well, whatever is asked again for; so is every third question.
  const isAgain =
    request.messages > 2 || /last answer to this was empty|Take care that the answer/.test(request.user);
  if (isAgain) return 'none';
  const number = Number.parseInt(request.hash.slice(0, 8), 16);
  return number % 3 === 0 ? 'none' : FAULTS[Math.floor(number / 3) % FAULTS.length]!;
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
  writeFileSync(join(place, 'results.json'), JSON.stringify(tauResults(6)));
  const analyst = {
    kind: 'llm',
    model: 'fake',
    baseUrl,
    batchTokens: 1000,
    backoffSeconds: 0.002,
    timeoutSeconds: 120,
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
    comparedFiles(join(place, 'out')).map((name) => [name, readFileSync(join(place, 'out', name), 'utf8')]),
  );

test('ten raters survive every fault and a kill -9, pay nothing twice, and end with the same files', {
  timeout: 600_000,
}, async () => {
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
  while (
    killed.process.exitCode === null &&
    !(wild.answers >= held && wild.busy === 0 && kept() >= wild.answers)
  )
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
  const calmFiles = filesOf(calmPlace);
  expect(Object.keys(files)).toEqual(Object.keys(calmFiles));
  for (const [name, text] of Object.entries(files)) expect(text, name).toBe(calmFiles[name]);
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

test('the step of a run: settings in the configuration, answers in its journal', async () => {
  const fake = new FakeEndpoint();
  const baseUrl = await fake.listen();
  const run = join(folder, 'run');
  const source = join(folder, 'source.json');
  writeFileSync(source, JSON.stringify(tauResults(3)));
  await writeTrajectories(runPaths.baseTrajectories(run), importTrajectories(source));
  const diagnoseStep = (more: object) => {
    const config = parseConfig(
      {
        analyst: { kind: 'llm', model: 'fake', baseUrl, price: { input: 1, output: 2 }, ...more },
        diagnose: { raters: 2 },
      },
      'config',
    );
    const journal = new Journal(runPaths.journal(run));
    const session = new Session(config, folder, folder);
    const steps = buildSteps({ config, fast: false, common: {}, session, journal, project: folder });
    return { step: steps.find(({ name }) => name === 'diagnose')!, journal };
  };
  const events: RunEvent[] = [];
  const context = {
    folder: run,
    seed: 1,
    signal: new AbortController().signal,
    emit: (event: RunEvent) => events.push(event),
  };
  const first = diagnoseStep({});
  await first.step.run(context);
  // Discovery, its repair (a rule of the domain was refused), and a label for each attempt and rater.
  expect(first.journal.answerTotals().answers).toBe(fake.answers);
  expect(fake.answers).toBeGreaterThanOrEqual(2 * 6 + 1);
  first.journal.close();
  const texts = events.flatMap((event) => (event.type === 'message' ? [event.text] : []));
  expect(texts.join('\n')).toMatch(/fake at http.*: about \d+ requests, .* tokens in, .* out, about \$/);
  const last = events.filter((event) => event.type === 'progress').at(-1);
  expect(last).toMatchObject({ done: 12, total: 12, note: expect.stringMatching(/answers, .*\$0\.\d+/) });
  const result = JSON.parse(readFileSync(runPaths.capabilities(run), 'utf8'));
  expect(result.settings.analyst).toBe('llm');

  // Done once more, nothing is sent; and what only says how fast and dear it is changes nothing of the settings.
  const before = fake.requests.length;
  const second = diagnoseStep({ concurrency: 2, budget: { tokens: 10_000_000 } });
  expect(second.step.settings).toEqual(first.step.settings);
  expect(diagnoseStep({ model: 'other' }).step.settings).not.toEqual(first.step.settings);
  await second.step.run(context);
  second.journal.close();
  expect(fake.requests).toHaveLength(before);
  await fake.close();
});
