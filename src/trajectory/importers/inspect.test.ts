import { readFileSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  fileOf,
  folderOf,
  readAll,
  readOne,
  readPast,
  testData,
} from '../../../test/support/importer-files.js';
import { type ZipEntry, zipOf } from '../../../test/support/zip.js';
import { JsonShapeError } from '../json-pieces.js';
import { InvalidRecordError } from '../store.js';
import { surviveHostileInput } from './hostile.js';
import { inspectImporter } from './inspect.js';
import { scoreNumber } from './inspect-sample.js';
import { readSample } from './sample.js';

const long = 'x'.repeat(120);
const sample = (extra: object = {}) => ({
  id: 's',
  epoch: 1,
  input: 'q',
  target: 'a',
  messages: [
    { role: 'system', content: 'Answer.' },
    { role: 'user', content: 'attachment://0a1b', source: 'input' },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', reasoning: 'hm' },
        { type: 'text', text: 'I look.' },
      ],
      tool_calls: [{ id: 'c', function: 'search', arguments: { q: 'attachment://0a1b' }, type: 'function' }],
    },
    {
      role: 'tool',
      content: '',
      tool_call_id: 'c',
      function: 'search',
      error: { type: 'timeout', message: 'took too long' },
    },
    { role: 'assistant', content: 'attachment://ffff' },
  ],
  output: { choices: [{ message: {}, stop_reason: 'stop' }] },
  scores: { match: { value: 'C', explanation: 'attachment://0a1b' }, style: { value: 0.2 } },
  metadata: { level: 2 },
  events: [
    { event: 'sample_init' },
    {
      event: 'model',
      tools: [{ name: 'search', description: 'attachment://0a1b', parameters: { type: 'object' } }],
    },
  ],
  attachments: { '0a1b': long },
  ...extra,
});
const log = (...samples: unknown[]) => ({
  version: 2,
  status: 'success',
  eval: { task: 'quiz', model: 'm', scorers: [{ name: 'match' }] },
  plan: {},
  samples,
  results: { scores: [{ name: 'match' }] },
});
const header: ZipEntry = { name: 'header.json', data: JSON.stringify({ ...log(), samples: undefined }) };
const entry = (name: string, value: unknown, extra: Partial<ZipEntry> = {}): ZipEntry => ({
  name: `samples/${name}.json`,
  data: JSON.stringify(value),
  ...extra,
});
const archive = (...entries: ZipEntry[]) => fileOf('log.eval', zipOf(entries));

test('a sample: attachments resolved, reasoning and tool errors, tools of the first request', async () => {
  const path = fileOf('log.json', log(sample()));
  expect(inspectImporter.matches(await readSample(path))).toBe(true);
  const t = await readOne(inspectImporter, path);
  expect(t).toMatchObject({
    id: 'quiz/s-0',
    taskId: 'quiz/s',
    trial: 0,
    outcome: 'passed',
    reward: 1,
    termination: 'stop',
  });
  expect(t.messages).toEqual([
    { role: 'system', content: 'Answer.' },
    { role: 'user', content: long },
    {
      role: 'assistant',
      content: 'I look.',
      reasoning: 'hm',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'search', arguments: { q: long } } }],
    },
    { role: 'tool', content: 'took too long', tool_call_id: 'c', name: 'search', error: true },
    // What is not attached stays a reference, and is counted.
    { role: 'assistant', content: 'attachment://ffff' },
  ]);
  expect(t.metadata).toEqual({
    model: 'm',
    scores: { match: 'C', style: 0.2 },
    sample: { level: 2 },
    attachmentsMissing: 1,
  });
  expect(t.tools[0]!.function).toEqual({ name: 'search', description: long, parameters: { type: 'object' } });
  expect(t.checks).toEqual([
    { name: 'match', passed: true, detail: long },
    { name: 'style', passed: false },
  ]);
});

test('verdicts: letters, numbers, several scorers, errors, limits, none', async () => {
  const samples = [
    sample({ id: 1, scores: { match: { value: 'I' } } }),
    sample({ id: 2, scores: { match: { value: 'P' } } }),
    sample({ id: 3, scores: { match: { value: 'N' } } }),
    sample({ id: 4, epoch: 3, scores: { match: { value: true } } }),
    sample({ id: 5, scores: { judge: { value: 7 } } }),
    sample({ id: 6, scores: { style: { value: 0 }, match: { value: 'C' } } }),
    sample({ id: 7, scores: { parts: { value: { a: 1, b: 0 } } } }),
    sample({ id: 8, error: { message: 'sandbox died', traceback: '' } }),
    sample({ id: 9, limit: { type: 'message', limit: 10 }, scores: { match: { value: 'I' } } }),
    sample({ id: 10, scores: null }),
  ];
  const path = fileOf('log.json', log(...samples));
  const all = await readAll(inspectImporter, path);
  expect(all.map((t) => [t.id, t.outcome, t.reward, t.termination])).toEqual([
    ['quiz/1-0', 'failed', 0, 'stop'],
    ['quiz/2-0', 'failed', 0.5, 'stop'],
    ['quiz/3-0', 'failed', 0, 'stop'],
    ['quiz/4-2', 'passed', 1, 'stop'],
    ['quiz/5-0', 'excluded', null, 'stop'],
    ['quiz/6-0', 'passed', 1, 'stop'],
    ['quiz/7-0', 'excluded', null, 'stop'],
    ['quiz/8-0', 'excluded', null, 'error'],
    ['quiz/9-0', 'failed', 0, 'message_limit'],
    ['quiz/10-0', 'excluded', null, 'stop'],
  ]);
  expect(all[6]!.checks!.map(({ name, passed }) => [name, passed])).toEqual([
    ['parts.a', true],
    ['parts.b', false],
  ]);
  expect(all[7]!.metadata.excluded).toBe('infrastructure: sandbox died');
  const lenient = await readAll(inspectImporter, path, { passAt: 0.5 });
  expect(lenient.map((t) => t.outcome).slice(0, 5)).toEqual([
    'failed',
    'passed',
    'failed',
    'passed',
    'passed',
  ]);
});

test.each([
  ['C', 1],
  ['P', 0.5],
  ['yes', 1],
  [' No ', 0],
  ['0.25', 0.25],
  [false, 0],
  ['fine', null],
  ['', null],
  [Number.NaN, null],
  [[1], null],
  ['constructor', null],
])('a score of %j counts %j', (value, number) => {
  expect(scoreNumber(value)).toBe(number);
});

test('an archive: stored, deflated and zstd entries, one sample at a time', async () => {
  // `{"id":"z","epoch":2,…,"scores":{"match":{"value":"C"}}}`, packed by zstd 1.5.
  const zstd =
    'KLUv/SSD3QIA0gYUEpDPASC0CWZCeAwQW5j5xusflDnnj4un2ow9Fl+HGncs3mnC0wcl39BnaLNuA/LlxelL9MFz8Jm6Xjw1OI+JeCdlupM7COLrwJgOfi+O2HECAEad46FQUDL47ho=';
  const path = archive(
    entry('a_epoch_1', sample({ id: 'a' }), { method: 0 }),
    entry('b_epoch_1', sample({ id: 'b' })),
    { name: 'samples/z_epoch_2.json', packed: Buffer.from(zstd, 'base64'), method: 93, declared: 131 },
    { name: 'summaries.json', data: '[]' },
    header,
  );
  expect(inspectImporter.matches(await readSample(path))).toBe(true);
  const all = await readAll(inspectImporter, path);
  expect(all.map((t) => [t.id, t.outcome])).toEqual([
    ['quiz/a-0', 'passed'],
    ['quiz/b-0', 'passed'],
    ['quiz/z-1', 'passed'],
  ]);
  // A run that broke off wrote only its journal.
  const journal = archive(entry('a_epoch_1', sample()), { ...header, name: '_journal/start.json' });
  expect(await readAll(inspectImporter, journal)).toHaveLength(1);
});

test.each([
  [
    'declares more than is read',
    { declared: 300 * 1024 * 1024 },
    /samples\/x\.json: it declares 314572800 bytes/,
  ],
  [
    'unpacks to more than it declares',
    { declared: 10 },
    /samples\/x\.json: it cannot be unpacked: too many bytes/,
  ],
  [
    'unpacks to less than it declares',
    { declared: 99999 },
    /samples\/x\.json: it cannot be unpacked: not enough bytes/,
  ],
  ['is encrypted', { flags: 1 }, /samples\/x\.json: it is encrypted/],
  ['is packed in another way', { method: 14 }, /samples\/x\.json: it is packed by method 14/],
  ['is no deflate', { packed: Buffer.from('nonsense') }, /samples\/x\.json: it cannot be unpacked/],
  ['is no zstd', { packed: Buffer.from('nonsense'), method: 93 }, /samples\/x\.json: it cannot be unpacked/],
  ['is no JSON', { data: '{"id":' }, /samples\/x\.json: not JSON/],
])('an entry that %s is refused by name, the others are read', async (_, spoil, message) => {
  const path = archive(
    header,
    entry('a', sample({ id: 'a' })),
    entry('x', sample(), spoil),
    entry('b', sample({ id: 'b' })),
  );
  const { read, refused } = await readPast(inspectImporter, path);
  expect(read.map((t) => t.taskId)).toEqual(['quiz/a', 'quiz/b']);
  expect(refused).toEqual([expect.stringMatching(message)]);
  expect(refused[0]).toContain('record 2');
});

test('a bomb of zeros stops at the size that it declares', async () => {
  const bomb = entry('x', null, { data: Buffer.alloc(16 * 1024 * 1024), declared: 1000 });
  const { refused } = await readPast(inspectImporter, archive(header, bomb));
  expect(refused).toEqual([expect.stringMatching(/too many bytes/)]);
});

test.each<[string, ZipEntry[], RegExp]>([
  ['a name that leads out', [header, entry('../../x', {})], /invalid relative path/],
  ['an absolute name', [header, { name: '/etc/x', data: '' }], /absolute path/],
  ['a backslash', [header, { name: 'samples\\x.json', data: '' }], /invalid characters/],
  ['the same name twice', [header, entry('a', {}), entry('a', {})], /samples\/a\.json twice/],
  [
    'entries that share their data',
    [
      entry('a', sample()),
      header,
      ...Array.from({ length: 20 }, (_, i) => entry(`o${i}`, sample(), { overlaps: true })),
    ],
    /overlap/,
  ],
  ['no header', [entry('a', sample())], /without header\.json/],
])('an archive with %s is refused', async (_, entries, message) => {
  const reading = readAll(inspectImporter, archive(...entries));
  await expect(reading).rejects.toThrow(message);
  await expect(readAll(inspectImporter, archive(...entries))).rejects.toThrow(JsonShapeError);
});

test('an archive cut or spoiled anywhere is refused, or gives what is whole', async () => {
  const whole = zipOf([entry('a', sample({ id: 'a' })), entry('b', sample({ id: 'b' })), header]);
  const attempt = async (bytes: Buffer) => {
    const path = fileOf('log.eval', bytes);
    try {
      await readAll(inspectImporter, path);
    } catch (error) {
      if (!(error instanceof JsonShapeError || error instanceof InvalidRecordError)) throw error;
    }
  };
  const cut = fc.asyncProperty(fc.nat(whole.length - 1), (length) => attempt(whole.subarray(0, length)));
  await fc.assert(cut, { numRuns: 40 });
  const spoil = fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(255), (at, byte) => {
    const spoiled = Buffer.from(whole);
    spoiled[at] = byte;
    return attempt(spoiled);
  });
  await fc.assert(spoil, { numRuns: 150 });
});

test('a folder of archives: a broken one is a record that is left out', async () => {
  const good = zipOf([entry('a', sample()), header]);
  const folder = folderOf({ 'one/a.eval': good, 'two/b.eval': good.subarray(0, 200) });
  expect(inspectImporter.matches(await readSample(folder))).toBe(true);
  // Beside files that may be of another format, each is told apart by itself.
  const mixed = folderOf({ 'a.eval': good, 'b.jsonl': '{}' });
  expect(inspectImporter.matches(await readSample(mixed))).toBe(false);
  const { read, refused } = await readPast(inspectImporter, folder);
  expect(read).toHaveLength(1);
  expect(refused).toEqual([expect.stringMatching(/b\.eval: record 1: not a whole zip archive/)]);
});

test('no input crashes it', async () => {
  await surviveHostileInput(inspectImporter, { real: [log(sample(), sample({ id: 2 }))], runs: 15 });
});

const realArchive = testData('trajectories/inspect/log_streaming.eval');
test.skipIf(!realArchive)('the real archive (skipped where the optional test data is absent)', async () => {
  expect(inspectImporter.matches(await readSample(realArchive!))).toBe(true);
  const all = await readAll(inspectImporter, realArchive!);
  // The samples unpacked by their local headers alone, without the library and without the directory.
  const bytes = readFileSync(realArchive!);
  const samples: {
    id: number;
    epoch: number;
    messages: { content: string }[];
    scores: { match: { value: string } };
  }[] = [];
  for (let at = bytes.indexOf('PK\x03\x04'); at >= 0; at = bytes.indexOf('PK\x03\x04', at + 4)) {
    const [nameLength, extra] = [bytes.readUInt16LE(at + 26), bytes.readUInt16LE(at + 28)];
    const name = bytes.toString('utf8', at + 30, at + 30 + nameLength);
    const data = bytes.subarray(
      at + 30 + nameLength + extra,
      at + 30 + nameLength + extra + bytes.readUInt32LE(at + 18),
    );
    if (name.startsWith('samples/')) samples.push(JSON.parse(inflateRawSync(data).toString('utf8')));
  }
  expect(samples).toHaveLength(4);
  expect(all.map((t) => [t.id, t.outcome])).toEqual(
    samples.map((s) => [
      `popularity/${s.id}-${s.epoch - 1}`,
      s.scores.match.value === 'C' ? 'passed' : 'failed',
    ]),
  );
  expect(all.map((t) => t.messages.map((m) => m.content))).toEqual(
    samples.map((s) => s.messages.map((m) => m.content)),
  );
});

const realJson = testData('trajectories/inspect/2025-05-12T20-27-36-04-00_browser.json');
test.skipIf(!realJson)('the real JSON log (skipped where the optional test data is absent)', async () => {
  expect(inspectImporter.matches(await readSample(realJson!))).toBe(true);
  const t = await readOne(inspectImporter, realJson!);
  const raw = JSON.parse(readFileSync(realJson!, 'utf8'));
  const [only] = raw.samples as {
    messages: { role: string; content: string; tool_calls?: unknown[] }[];
    attachments: Record<string, string>;
  }[];
  expect(t).toMatchObject({
    taskId: 'browser/1',
    outcome: 'passed',
    reward: raw.results.scores[0].metrics.accuracy.value,
  });
  expect(t.messages.map((m) => [m.role, m.content])).toEqual(only!.messages.map((m) => [m.role, m.content]));
  expect(t.messages.filter((m) => m.role === 'assistant' && m.tool_calls)).toHaveLength(4);
  // Eight browser tools, whose long descriptions are attached.
  expect(t.tools).toHaveLength(8);
  for (const tool of t.tools) expect(Object.values(only!.attachments)).toContain(tool.function.description);
});
