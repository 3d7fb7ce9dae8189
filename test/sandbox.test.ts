import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { instantiateEnvironment } from '../src/environment/load-generated.js';
import { playTurns } from '../src/environment/runner.js';
import { tryBubblewrap } from '../src/environment/sandbox/choose.js';
import { SandboxConnection } from '../src/environment/sandbox/connection.js';
import { SANDBOX_LIMITS, type SandboxKind } from '../src/environment/sandbox/limits.js';
import { loadEnvironment } from '../src/environment/sandbox/load.js';
import { openSandboxedSource } from '../src/environment/sandbox/open.js';
import { readAnswer } from '../src/environment/sandbox/protocol.js';
import { seccompFilter } from '../src/environment/sandbox/seccomp.js';
import { ABUSES, type Abuse, abusiveModule } from './support/abuses.js';
import { tinyEnvironment } from './support/tiny-environment.js';

const CANARY = 'canary-5b1e7f';
let folder: string;
let why: string | null = null;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  process.env.TRACE_CANARY = CANARY;
  why = (await tryBubblewrap()).failure;
  if (why !== null) console.warn(`bubblewrap is left out: ${why}`);
});
afterAll(() => {
  delete process.env.TRACE_CANARY;
  rmSync(folder, { recursive: true, force: true });
});

const KINDS: readonly SandboxKind[] = ['bubblewrap', 'quickjs'];
const LIMITS = { answerMs: 1500, loadMs: 10_000, memoryMiB: 64 };

/** Lets the abuse do everything that an environment is asked for; all that came out, and the error it ended with. */
async function suffer(abuse: Abuse, kind: SandboxKind): Promise<{ out: string; error: string | null }> {
  const out: string[] = [];
  let environment: Awaited<ReturnType<typeof openSandboxedSource>> | null = null;
  try {
    environment = await openSandboxedSource(abusiveModule(abuse), {}, { kind, limits: LIMITS });
    const scenario = environment.scenario(1);
    out.push(JSON.stringify(scenario), environment.systemPrompt(scenario));
    const episode = await environment.open(scenario);
    await episode.act({ role: 'assistant', content: 'hello' });
    out.push(JSON.stringify(episode.messages));
    const score = await episode.score();
    expect(score.reward).toBeGreaterThanOrEqual(0);
    expect(score.reward).toBeLessThanOrEqual(1);
    return { out: out.join('\n'), error: null };
  } catch (error) {
    return { out: out.join('\n'), error: (error as Error).message };
  } finally {
    await environment?.close();
  }
}

test('the suite holds at least forty different abuses', () => {
  expect(new Set(ABUSES.map(({ name }) => name)).size).toBeGreaterThanOrEqual(40);
});

for (const kind of KINDS)
  test.for(ABUSES)(`${kind}: $name`, async (abuse, { skip }) => {
    if (kind === 'bubblewrap' && why !== null) skip(`bubblewrap does not work here: ${why}`);
    const { out, error } = await suffer(abuse, kind);
    expect(`${out}${error}`).not.toContain('ESCAPED');
    expect(`${out}${error}`).not.toContain(CANARY);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    if (abuse.refused) expect(error ?? `not refused: ${out.slice(0, 500)}`).toMatch(abuse.refused);
    else {
      expect(error).toBeNull();
      expect(out).toContain('tried');
    }
  });

/** A process that has broken every wall but the last: it may write to its output whatever it likes. */
const hostile = (code: string, loadMs: number) =>
  new SandboxConnection(
    { command: process.execPath, args: ['-e', code], descriptor3: null },
    { ...SANDBOX_LIMITS, loadMs, answerCharacters: 10_000 },
  );
test.each([
  [
    'words that nobody asked for',
    `console.log('1 O{}\\n2 O{}\\n3 O{}'); setTimeout(() => {}, 1e5)`,
    /not asked/,
  ],
  [
    'an answer to another request',
    `process.stdin.once('data', () => console.log('77 O{}')); setTimeout(() => {}, 1e5)`,
    /not asked/,
  ],
  ['no JSON', `process.stdin.once('data', () => console.log('1 O{'));`, /cannot be read/],
  ['neither answer nor error', `process.stdin.once('data', () => console.log('1 X1'));`, /cannot be read/],
  [
    'a line without end',
    `for (;;) require('fs').writeSync(1, 'x'.repeat(1000))`,
    /does not end|not asked|EAGAIN|ended/,
  ],
  ['silence', 'setTimeout(() => {}, 1e6)', /not loaded within/],
  ['its own end', `process.stdin.once('data', () => process.exit(9));`, /its process ended \(9\)/],
  [
    'an answer of another form',
    `process.stdin.once('data', () => console.log('1 O{"environment":[],"read":1}'));`,
    /probe\.read/,
  ],
])('an escaped process is stopped: %s', async (_, code, words) => {
  const connection = hostile(code, words.test('not loaded within') ? 500 : 60_000);
  try {
    await expect(connection.start('probe', { probe: true })).rejects.toThrow(words);
    expect(connection.ended?.message).toMatch(words);
    await expect(connection.ask('score', { episode: 1 })).rejects.toThrow(words);
  } finally {
    await connection.close();
  }
});

test.each([
  ['{"reward":1e999,"checks":[]}', /reward/],
  ['{"reward":null,"checks":[]}', /reward/],
  ['{"reward":"1","checks":[]}', /reward/],
  ['{"reward":1,"checks":[{"name":"x","passed":"yes"}]}', /passed/],
  ['{"reward":1,"checks":[],"__proto__":{"polluted":true}}', /__proto__/],
  ['{"reward":1,"checks":[],"\\u005f_proto\\u005f_":{"polluted":true}}', /__proto__/],
])('a forged score is refused: %s', (text, words) => {
  expect(() => readAnswer('score', `O${text}`)).toThrow(words);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test('words about prototypes are no attack', () => {
  expect(readAnswer('systemPrompt', 'O"never write to __proto__"')).toBe('never write to __proto__');
});

test('the filter kills another architecture, refuses fork and socket, and lets read through', () => {
  // An interpreter of the few instructions that the filter has, by the kernel's documentation.
  const verdict = (filter: Buffer, architecture: number, number: number, argument = 0): number => {
    let loaded = 0;
    for (let at = 0; ; at++) {
      const code = filter.readUInt16LE(at * 8);
      const k = filter.readUInt32LE(at * 8 + 4);
      const jump = (taken: boolean) => filter.readUInt8(at * 8 + (taken ? 2 : 3));
      if (code === 0x06) return k;
      if (code === 0x20) loaded = k === 0 ? number : k === 4 ? architecture : argument;
      else if (code === 0x15) at += jump(loaded === k);
      else if (code === 0x35) at += jump(loaded >= k);
      else if (code === 0x45) at += jump((loaded & k) !== 0);
      else throw new Error(`instruction ${code}`);
    }
  };
  const x64 = seccompFilter('x64')!;
  const own = 0xc000003e;
  expect(verdict(x64, 0x40000003, 0)).toBe(0x80000000);
  expect(verdict(x64, own, 0)).toBe(0x7fff0000);
  for (const number of [57, 58, 41, 62, 101, 0x40000001]) expect(verdict(x64, own, number)).toBe(0x50001);
  expect(verdict(x64, own, 435)).toBe(0x50000 | 38);
  expect(verdict(x64, own, 56, 0x11)).toBe(0x50001);
  expect(verdict(x64, own, 56, 0x10f00)).toBe(0x7fff0000);
  const arm64 = seccompFilter('arm64')!;
  expect(verdict(arm64, 0xc00000b7, 198)).toBe(0x50001);
  expect(verdict(arm64, 0xc00000b7, 63)).toBe(0x7fff0000);
  expect(seccompFilter('s390x')).toBeNull();
});

test('the same environment gives the same scenarios, attempts and scores in this process and in both sandboxes', async () => {
  const { source, settings } = tinyEnvironment();
  const trusted = instantiateEnvironment(source, settings);
  for (const kind of KINDS) {
    if (kind === 'bubblewrap' && why !== null) continue;
    const sandboxed = await openSandboxedSource(source, settings, { kind });
    for (let seed = 0; seed < 40; seed++) {
      const here = trusted.scenario(seed);
      const there = sandboxed.scenario(seed);
      expect(there).toEqual(here);
      expect(sandboxed.oracle(there)).toEqual(trusted.oracle(here));
      expect(sandboxed.mistakes(there)).toEqual(trusted.mistakes(here));
      for (const turns of [trusted.oracle(here), trusted.mistakes(here)[0]!.turns])
        expect(await playTurns(sandboxed, there, turns)).toEqual(await playTurns(trusted, here, turns));
    }
    await sandboxed.close();
  }
});

test('the loader runs a text here only where it is asked to or knows the text', async () => {
  const { source, settings } = tinyEnvironment();
  writeFileSync(join(folder, 'environment.ts'), source);
  writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
  expect(await loadEnvironment(folder)).not.toHaveProperty('sandbox');
  expect(
    await loadEnvironment(folder, { mode: 'auto', isTrusted: (text) => text === source }),
  ).not.toHaveProperty('sandbox');
  const sandboxed = await loadEnvironment(folder, { mode: 'auto', isTrusted: () => false, kind: 'quickjs' });
  expect(sandboxed).toHaveProperty('sandbox', 'quickjs');
  await sandboxed.close?.();
  process.env.TRACE_ENVIRONMENTS = 'maybe';
  try {
    await expect(loadEnvironment(folder)).rejects.toThrow(/TRACE_ENVIRONMENTS/);
  } finally {
    delete process.env.TRACE_ENVIRONMENTS;
  }
  expect(existsSync(join(folder, 'escaped'))).toBe(false);
});
