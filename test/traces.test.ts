import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  eventSpans,
  langfuseTrace,
  langSmithRuns,
  otlpRequest,
  phoenixSpans,
  type TracedCall,
  type TracedEpisode,
} from './support/traced-episodes.js';

/** `trace diagnose` on what tracing tools export, from the file to the printed result. */

const main = resolve(import.meta.dirname, '../src/cli/main.ts');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-traces-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const look = (order: string, time: number): TracedCall => ({
  id: `call_${time}`,
  name: 'get_order',
  arguments: { id: order },
  result: `{"id":"${order}","status":"lost"}`,
  failed: false,
});
const task = (i: number) => `task-${i}`;
/** Twelve tasks, each tried twice: once two orders are looked up, once the same four times over. */
const EPISODES: readonly TracedEpisode[] = Array.from({ length: 12 }, (_, i) => {
  const shared = { task: task(i), request: `Where is order B${i}?` };
  const again = [1, 2, 3, 4].map((time) => look(`B${i}`, time));
  return [
    { ...shared, trace: `p${i}x`, passed: true, calls: [again[0]!, look(`C${i}`, 2)] },
    { ...shared, trace: `f${i}x`, passed: false, calls: again },
  ];
}).flat();

const all = <T>(make: (episode: TracedEpisode) => readonly T[]) =>
  EPISODES.flatMap((episode) => [...make(episode)]);
/** Interleaved, as collectors write what several agents send. */
const shuffled = (spans: readonly object[]) => spans.map((_, i) => spans[(i * 7) % spans.length]!);
const lines = (records: readonly object[]) => records.map((record) => JSON.stringify(record)).join('\n');

const EXPORTS: readonly [string, string, string][] = [
  ['otel', 'events.json', JSON.stringify(otlpRequest(shuffled(all(eventSpans))), null, 1)],
  ['openinference', 'phoenix.json', JSON.stringify({ data: all(phoenixSpans), next_cursor: null })],
  ['langsmith', 'runs.jsonl', lines(all((episode) => langSmithRuns(episode, 'langchain')))],
  ['langfuse', 'traces.json', JSON.stringify({ data: EPISODES.map(langfuseTrace) })],
];

test.each(EXPORTS)(
  '%s, %s',
  (format, name, text) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', 'tsx', main, 'diagnose', path, '--json'],
      {
        encoding: 'utf8',
        env: { ...process.env, NO_COLOR: '1' },
      },
    );
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(status).toBe(0);
    const found = JSON.parse(stdout);
    expect(found.trajectories).toEqual({ passed: 12, failed: 12, excluded: 0 });
    expect(found.capabilities[0]).toMatchObject({
      name: 'loop_avoidance',
      retained: true,
      coverage: 1,
      gap: 1,
    });
    expect(JSON.stringify(found)).toContain(`"${format}"`);
  },
  60_000,
);
