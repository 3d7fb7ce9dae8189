/**
 * How fast logs are imported: `npm run bench:import [-- RECORDS [ROUNDS]]` (100000 records of about 20 kB, 2 rounds).
 * Makes a JSONL file of chats in a temporary folder, then measures, turn about and each in a process of its own: a bare
 * `JSON.parse` of every line, and `trace import` of the file (format told, checks, canonical file written whole). Prints
 * rates, their ratio and the peak of resident memory. Other work on the machine disturbs the wall clock; the ratio of
 * processor time stands beside it.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Reading } from '../src/cli/reading.js';
import { Random } from '../src/run/random.js';
import { readLines } from '../src/trajectory/lines.js';
import { writeTrajectories } from '../src/trajectory/store.js';

interface Measured {
  readonly records: number;
  readonly seconds: number;
  /** Of all threads. */
  readonly processorSeconds: number;
  readonly peakMegabytes: number;
}

const WORDS =
  'the order was sent on monday and the customer asks for a refund “without” delay; policy allows it within thirty days of delivery, naïve cases aside'.split(
    ' ',
  );

function prose(random: Random, words: number): string {
  const parts: string[] = [];
  for (let i = 0; i < words; i++) parts.push(random.pick(WORDS), random.chance(0.08) ? '\n' : ' ');
  return parts.join('');
}

/** A chat of some 20 kB: 16 turns with a call, a table as its result, and words. */
function chat(random: Random, id: number): object {
  const messages: object[] = [{ role: 'system', content: prose(random, 400) }];
  for (let turn = 0; turn < 16; turn++) {
    const call = `call_${turn}`;
    const rows = Array.from({ length: 4 }, (_, i) => ({
      order_id: `#W${random.int(1e7)}`,
      price: random.int(1e5) / 100,
      status: random.pick(['pending', 'sent', 'delivered']),
      position: i,
    }));
    const given = JSON.stringify({ user_id: `user_${random.int(1e5)}`, limit: 4, note: prose(random, 5) });
    messages.push(
      { role: 'user', content: prose(random, 30) },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: call, type: 'function', function: { name: 'list_orders', arguments: given } }],
      },
      { role: 'tool', tool_call_id: call, name: 'list_orders', content: JSON.stringify(rows) },
      { role: 'assistant', content: prose(random, 40) },
    );
  }
  const tool = { name: 'list_orders', description: prose(random, 20), parameters: { type: 'object' } };
  const tools = [{ type: 'function', function: tool }];
  return { id: `run-${id}`, task_id: `task-${id % 1000}`, reward: random.int(2), tools, messages };
}

/** Different records up to a point, then the same bodies with other ids: making them must not take all day. */
const DIFFERENT = 500;

function makeFile(path: string, records: number): void {
  const random = new Random(1);
  const bodies = Array.from({ length: Math.min(DIFFERENT, records) }, (_, i) => {
    const text = JSON.stringify(chat(random.fork('chat', i), i));
    return text.slice(text.indexOf(',"reward"'));
  });
  const descriptor = openSync(path, 'w');
  for (let at = 0; at < records; at += DIFFERENT) {
    const part: string[] = [];
    for (let i = at; i < Math.min(records, at + DIFFERENT); i++)
      part.push(`{"id":"run-${i}","task_id":"task-${i % 1000}"${bodies[i % bodies.length]}\n`);
    writeSync(descriptor, part.join(''));
  }
  closeSync(descriptor);
}

/** Runs one of the two in this process. */
async function measure(what: string, path: string, out: string): Promise<Measured> {
  const begun = performance.now();
  let records = 0;
  if (what === 'parse') {
    for await (const line of readLines(path)) if (JSON.parse(line.text)) records++;
  } else {
    records = await writeTrajectories(out, new Reading([path], {}, true).trajectories());
  }
  const { user, system } = process.cpuUsage();
  return {
    records,
    seconds: (performance.now() - begun) / 1000,
    processorSeconds: (user + system) / 1e6,
    peakMegabytes: process.resourceUsage().maxRSS / 1024,
  };
}

/** The same in a process of its own, so that neither warms the other up or counts its memory. */
function measureApart(what: string, path: string, out: string): Measured {
  const child = spawnSync(process.execPath, [...process.execArgv, import.meta.filename, what, path, out], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.status !== 0) throw new Error(`${what} ended with ${child.status ?? child.signal}`);
  return JSON.parse(child.stdout) as Measured;
}

function compare(records: number, rounds: number): void {
  const folder = mkdtempSync(join(tmpdir(), 'trace-bench-import-'));
  try {
    const path = join(folder, 'chats.jsonl');
    makeFile(path, records);
    const megabytes = statSync(path).size / 1e6;
    console.log(`${records} records, ${megabytes.toFixed(0)} MB, ${rounds} rounds`);
    const all: Record<string, Measured[]> = { parse: [], import: [] };
    for (let round = 0; round < rounds; round++)
      for (const what of ['parse', 'import']) {
        const measured = measureApart(what, path, join(folder, 'out.jsonl'));
        if (measured.records !== records) throw new Error(`${what} read ${measured.records} records`);
        all[what]!.push(measured);
        const { seconds, processorSeconds, peakMegabytes } = measured;
        console.log(
          `${what.padEnd(6)}  ${seconds.toFixed(1)} s  ${(megabytes / seconds).toFixed(0)} MB/s  ` +
            `${(records / seconds).toFixed(0)} records/s  processor ${processorSeconds.toFixed(1)} s  ` +
            `peak RSS ${peakMegabytes.toFixed(0)} MB`,
        );
      }
    const best = (what: string, of: (measured: Measured) => number) => Math.min(...all[what]!.map(of));
    const wall = best('parse', (m) => m.seconds) / best('import', (m) => m.seconds);
    const processor = best('parse', (m) => m.processorSeconds) / best('import', (m) => m.processorSeconds);
    const peak = Math.max(...all.import!.map((m) => m.peakMegabytes));
    console.log(
      `import runs at ${wall.toFixed(2)} of the rate of bare JSON.parse (best rounds; ${processor.toFixed(2)} by ` +
        `processor time); peak RSS ${peak.toFixed(0)} MB`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const [first, path, out] = process.argv.slice(2);
if (first === 'parse' || first === 'import') console.log(JSON.stringify(await measure(first, path!, out!)));
else compare(Number(first ?? 100_000), Number(path ?? 2));
