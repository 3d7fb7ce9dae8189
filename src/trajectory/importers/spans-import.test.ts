import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { parquetWriteFile } from 'hyparquet-writer';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  EPISODES,
  eventSpans,
  expectedMessages,
  genAiSpans,
  langfuseTrace,
  langSmithRuns,
  openInferenceSpans,
  otlpRequest,
  phoenixSpans,
  SCHEMAS,
} from '../../../test/support/traced-episodes.js';
import { parseTrajectory } from '../parse.js';
import type { InvalidRecordError } from '../store.js';
import type { Trajectory } from '../trajectory.js';
import { surviveHostileInput } from './hostile.js';
import type { Importer, ImporterOptions } from './importer.js';
import { langfuseImporter } from './langfuse.js';
import { langSmithImporter } from './langsmith.js';
import { openInferenceImporter } from './openinference.js';
import { otelImporter, readSpanRecord } from './otel.js';
import { readSample } from './sample.js';
import { importSpans } from './spans-import.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-spans-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const IMPORTERS = [otelImporter, openInferenceImporter, langSmithImporter, langfuseImporter];
const save = (name: string, text: string) => {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
};
const lines = (records: readonly unknown[], name = 'spans.jsonl') =>
  save(name, records.map((record) => JSON.stringify(record)).join('\n'));
const list = (value: unknown, name = 'spans.json') => save(name, JSON.stringify(value, null, 1));
const collect = async (importer: Importer, path: string, options: ImporterOptions = {}) => {
  const all = [];
  for await (const trajectory of importer.read(path, options)) all.push(trajectory);
  return all;
};
const matching = async (path: string) => {
  const sample = await readSample(path);
  return IMPORTERS.filter((importer) => importer.matches(sample)).map(({ name }) => name);
};

const all = <T>(make: (episode: (typeof EPISODES)[number]) => readonly T[]) =>
  EPISODES.flatMap((episode) => [...make(episode)]);

/** Every format in every container that its tools write. */
const WRITTEN: readonly [string, Importer, () => string][] = [
  [
    'OTLP, one request in a line',
    otelImporter,
    () => lines(EPISODES.map((episode) => otlpRequest(genAiSpans(episode)))),
  ],
  ['OTLP, one document', otelImporter, () => list(otlpRequest(all(genAiSpans)))],
  ['OTLP spans, one in a line', otelImporter, () => lines(all(genAiSpans))],
  ['OTLP, an event for each message', otelImporter, () => list(otlpRequest(all(eventSpans)))],
  ['OpenInference in OTLP', openInferenceImporter, () => list(otlpRequest(all(openInferenceSpans)))],
  ['OpenInference in OTLP, JSONL', openInferenceImporter, () => lines(all(openInferenceSpans))],
  [
    'Phoenix, a page of spans',
    openInferenceImporter,
    () => list({ data: all(phoenixSpans), next_cursor: null }),
  ],
  ['Phoenix, JSONL', openInferenceImporter, () => lines(all(phoenixSpans))],
  [
    'LangSmith with LangChain’s messages',
    langSmithImporter,
    () => lines(all((e) => langSmithRuns(e, 'langchain'))),
  ],
  ['LangSmith with OpenAI’s messages', langSmithImporter, () => list(all((e) => langSmithRuns(e, 'openai')))],
  [
    'LangSmith, a page of runs',
    langSmithImporter,
    () => list({ runs: all((e) => langSmithRuns(e, 'openai')) }),
  ],
  ['Langfuse, traces in lines', langfuseImporter, () => lines(EPISODES.map(langfuseTrace))],
  [
    'Langfuse, a page of traces',
    langfuseImporter,
    () => list({ data: EPISODES.map(langfuseTrace), meta: { page: 1 } }),
  ],
];

describe.each(WRITTEN)('%s', (_title, importer, write) => {
  test('is known by its content and tells the whole conversation once', async () => {
    const path = write();
    expect(await matching(path)).toEqual([importer.name]);
    const trajectories = await collect(importer, path);
    expect(trajectories.map(({ taskId, trial, outcome }) => [taskId, trial, outcome])).toEqual([
      ['task-1', 0, 'passed'],
      ['task-1', 1, 'failed'],
      ['task-2', 0, 'failed'],
      ['task-2', 1, 'passed'],
    ]);
    for (const [i, trajectory] of trajectories.entries()) {
      const named = trajectory.messages.map(({ ...message }) => {
        if (message.role === 'tool') Reflect.deleteProperty(message, 'name');
        return message;
      });
      expect(named).toEqual(expectedMessages(EPISODES[i]!));
      expect(trajectory.reward).toBe(EPISODES[i]!.passed ? 1 : 0);
      expect(trajectory.checks).toHaveLength(1);
      expect(parseTrajectory(JSON.parse(JSON.stringify(trajectory)))).toEqual(trajectory);
      expect(trajectory.metadata.model).toBe('m-1');
    }
  });
});

test('tools offered to the model come along', async () => {
  for (const [title, importer, write] of WRITTEN) {
    if (title.includes('an event for each')) continue;
    const [first] = await collect(importer, write());
    expect(first!.tools.map((tool) => tool.function)).toEqual(SCHEMAS);
  }
});

test('any order of the spans, interleaved traces, spans sent twice: the same trajectories', async () => {
  const cases: readonly [Importer, readonly unknown[]][] = [
    [otelImporter, all(genAiSpans)],
    [openInferenceImporter, all(phoenixSpans)],
    [langSmithImporter, all((episode) => langSmithRuns(episode, 'langchain'))],
  ];
  for (const [importer, records] of cases) {
    const sorted = async (path: string) =>
      (await collect(importer, path))
        .map(({ trial, ...rest }) => rest)
        .sort((a, b) => (a.id < b.id ? -1 : 1));
    const expected = await sorted(lines(records));
    const shuffled = fc.asyncProperty(
      fc.shuffledSubarray([...records, ...records.slice(0, 5)], { minLength: records.length + 5 }),
      async (order) => {
        expect(await sorted(lines(order))).toEqual(expected);
      },
    );
    await fc.assert(shuffled, { numRuns: 15 });
  }
});

test('an odd message costs its span, not the request', async () => {
  const [first, second, ...rest] = genAiSpans(EPISODES[0]!);
  const odd = {
    key: 'gen_ai.input.messages',
    value: { stringValue: JSON.stringify([{ role: 'wizard', parts: [] }]) },
  };
  const broken = { ...second!, attributes: [...second!.attributes, odd] };
  const path = lines([otlpRequest([first!, broken, ...rest, ...genAiSpans(EPISODES[1]!)])]);
  const refused: string[] = [];
  const kept = await collect(otelImporter, path, { onInvalid: ({ reason }) => refused.push(reason) });
  expect(refused).toEqual([
    expect.stringMatching(/^trace 6161310+: field span \w+\.gen_ai\.input\.messages\[0\]\.role must be/),
  ]);
  expect(kept.map(({ metadata }) => metadata.refusedSpans)).toEqual([1, undefined]);
  // The later requests repeat what the broken one told.
  expect(kept[0]!.messages).toHaveLength(expectedMessages(EPISODES[0]!).length);
  await expect(collect(otelImporter, path)).rejects.toThrow(/record 1: trace 616131/);
});

test('a trace without messages is refused by name; web requests are passed over', async () => {
  const { attributes: _, ...bare } = genAiSpans(EPISODES[0]!)[1]!;
  const attributes = [{ key: 'gen_ai.operation.name', value: { stringValue: 'chat' } }];
  const web = {
    ...bare,
    traceId: 'ff'.repeat(16),
    name: 'GET /',
    attributes: [{ key: 'http.route', value: { stringValue: '/' } }],
  };
  const path = lines([web, { ...bare, attributes }, ...genAiSpans(EPISODES[1]!)]);
  const refused: InvalidRecordError[] = [];
  const kept = await collect(otelImporter, path, { onInvalid: (error) => refused.push(error) });
  expect(kept.map(({ outcome }) => outcome)).toEqual(['failed']);
  expect(refused.map(({ record, reason }) => [record, reason])).toEqual([
    [2, expect.stringMatching(/^trace 6161310+: its spans carry no messages/)],
  ]);
  await expect(collect(otelImporter, path)).rejects.toThrow(/record 2: trace 616131/);
});

test('spans that wait on disk make the same trajectories as those in memory', async () => {
  const interleaved = EPISODES.map((episode) => genAiSpans(episode));
  const path = lines(interleaved[0]!.flatMap((_, i) => interleaved.map((spans) => spans[i])));
  const format = { name: 'otel', open: [], read: readSpanRecord };
  const spilled: Trajectory[] = [];
  for await (const trajectory of importSpans(path, {}, format, { held: 0 })) spilled.push(trajectory);
  expect(spilled).toEqual(await collect(otelImporter, path));
});

test('rows of Parquet: LangSmith’s bulk export, Phoenix’s table of spans', async () => {
  const texts = (rows: readonly object[], names: readonly string[]) =>
    names.map((name) => ({
      name,
      data: rows.map((row) => {
        const value = (row as { readonly [key: string]: unknown })[name];
        return value === null || value === undefined || typeof value === 'string'
          ? (value ?? null)
          : JSON.stringify(value);
      }),
      type: 'STRING' as const,
    }));
  const runs = all((episode) => langSmithRuns(episode, 'langchain'));
  const bulk = join(folder, 'runs.parquet');
  const runNames = [
    'id',
    'trace_id',
    'parent_run_id',
    'dotted_order',
    'name',
    'run_type',
    'start_time',
    'inputs',
    'outputs',
    'error',
    'extra',
    'reference_example_id',
    'feedback_stats',
  ];
  parquetWriteFile({ filename: bulk, columnData: texts(runs, runNames) });
  expect(await matching(bulk)).toEqual(['langsmith']);
  expect(await collect(langSmithImporter, bulk)).toEqual(await collect(langSmithImporter, lines(runs)));

  const rows = all(phoenixSpans).map(({ context, attributes, events: _, id: __, ...span }) => ({
    ...span,
    'context.trace_id': context.trace_id,
    'context.span_id': context.span_id,
    ...Object.fromEntries(Object.entries(attributes).map(([key, value]) => [`attributes.${key}`, value])),
  }));
  const table = join(folder, 'spans.parquet');
  parquetWriteFile({
    filename: table,
    columnData: texts(rows, [...new Set(rows.flatMap((row) => Object.keys(row)))]),
  });
  expect(await matching(table)).toEqual(['openinference']);
  const told = (await collect(openInferenceImporter, table)).map(({ id, messages, outcome }) => ({
    id,
    messages,
    outcome,
  }));
  expect(told).toEqual(
    (await collect(openInferenceImporter, lines(all(phoenixSpans)))).map(({ id, messages, outcome }) => ({
      id,
      messages,
      outcome,
    })),
  );
});

test('a folder of exports is read file by file', async () => {
  for (const [i, episode] of EPISODES.entries()) {
    const { observations, scores, ...trace } = langfuseTrace(episode);
    lines(observations, `export/observations/${i}.jsonl`);
    lines(scores, `export/scores/${i}.jsonl`);
    lines([trace], `export/traces/${i}.jsonl`);
  }
  expect(await matching(join(folder, 'export'))).toEqual(['langfuse']);
  const trajectories = await collect(langfuseImporter, join(folder, 'export'));
  expect(trajectories.map(({ outcome, taskId }) => [outcome, taskId])).toEqual(
    EPISODES.map(({ passed, task }) => [passed ? 'passed' : 'failed', task]),
  );
});

describe('no input crashes', () => {
  const [episode] = EPISODES;
  const cases: readonly [Importer, readonly unknown[]][] = [
    [otelImporter, [otlpRequest(genAiSpans(episode!)), ...eventSpans(episode!)]],
    [openInferenceImporter, [...phoenixSpans(episode!), ...openInferenceSpans(episode!)]],
    [langSmithImporter, [...langSmithRuns(episode!, 'langchain'), ...langSmithRuns(episode!, 'openai')]],
    [langfuseImporter, [langfuseTrace(episode!), ...langfuseTrace(episode!).scores]],
  ];
  test.each(cases)(
    '$name',
    async (importer, real) => {
      await surviveHostileInput(importer, { real, runs: 40 });
    },
    120_000,
  );
});
