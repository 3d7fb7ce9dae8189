import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { InvalidRecordError, writeTrajectories } from '../store.js';
import type { Trajectory } from '../trajectory.js';
import type { ChatContext } from './chat-record.js';
import { preparedChats } from './chat-threads.js';
import { importTrajectories } from './detect.js';
import { exclusionReason } from './verdict-values.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-threads-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const context = (): ChatContext => ({
  source: 'openai-chat',
  fileId: 'chats',
  trials: new Map(),
  ids: new Set(),
});
/** What is written, and what was refused. */
async function written(make: (onInvalid: (error: InvalidRecordError) => void) => AsyncIterable<Trajectory>) {
  const refused: string[] = [];
  const out = join(folder, 'out.jsonl');
  await writeTrajectories(
    out,
    make((error) => refused.push(error.message)),
  );
  return { text: readFileSync(out, 'utf8'), refused };
}
const both = async (path: string, threads: number) => {
  const plain = await written((onInvalid) => importTrajectories(path, { format: 'openai-chat', onInvalid }));
  const prepared = await written((onInvalid) => preparedChats(path, context(), { onInvalid }, threads));
  expect(prepared).toEqual(plain);
};

test('chats prepared apart are written as those read one by one: bytes, ids, trials, refusals', async () => {
  const path = join(folder, 'chats.jsonl');
  const record = fc.record(
    {
      id: fc.constantFrom('a', 'b', 7),
      task_id: fc.constantFrom('s', 't'),
      trial: fc.constantFrom(0, 1, -1),
      reward: fc.constantFrom(0, 1, 7, 'x'),
      messages: fc.array(
        fc.record({
          role: fc.constantFrom('user', 'assistant', 'system', 'nobody'),
          content: fc.oneof(fc.string({ unit: 'binary' }), fc.constant(null)),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    },
    { requiredKeys: ['messages'] },
  );
  const line = fc.oneof(
    record.map((value) => JSON.stringify(value)),
    fc.constantFrom('', '{"a":', '[]', '  '),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 12 }),
      fc.constantFrom('', '\ufeff'),
      fc.boolean(),
      async (all, mark, end) => {
        // Two good lines make it a file of lines.
        const good = JSON.stringify({ id: 'a', messages: [{ role: 'user', content: 'q' }] });
        writeFileSync(path, mark + [good, good, ...all].join('\n') + (end ? '\n' : ''));
        await both(path, 0);
      },
    ),
    { numRuns: 150 },
  );
});

test('threads keep the order over many batches, and lines longer than a batch', async () => {
  const path = join(folder, 'chats.jsonl');
  const chat = (id: number, length: number) =>
    JSON.stringify({
      id,
      task_id: id % 3,
      label: id % 2,
      messages: [{ role: 'user', content: 'ü'.repeat(length) }],
    });
  const lines = Array.from({ length: 60 }, (_, id) =>
    id === 40 ? '{"id": ' : chat(id, id === 20 ? 3_000_000 : 50_000),
  );
  writeFileSync(path, lines.join('\n'));
  await both(path, 2);
  // Without leave to pass it over the bad record ends it, named by its line.
  const reading = written(() => preparedChats(path, context(), {}, 2));
  await expect(reading).rejects.toThrow(new InvalidRecordError(path, 41, '').message.slice(0, -1));
});

test('a prepared attempt shows what it holds', async () => {
  const path = join(folder, 'chats.jsonl');
  const messages = [{ role: 'user', content: 'q' }];
  writeFileSync(
    path,
    [
      { id: 'a', reward: 0.5, stop_reason: 'end', messages },
      { id: 'b', messages },
    ]
      .map((r) => JSON.stringify(r))
      .join('\n'),
  );
  const prepared: Trajectory[] = [];
  for await (const trajectory of preparedChats(path, context(), {}, 0)) prepared.push(trajectory);
  const plain: Trajectory[] = [];
  for await (const trajectory of importTrajectories(path)) plain.push(trajectory);
  expect(JSON.parse(JSON.stringify(prepared))).toEqual(plain);
  for (const [i, { messages, tools, reward, termination, metadata, source }] of prepared.entries())
    expect(plain[i]).toMatchObject({ messages, tools, reward, termination, metadata, source });
  expect(prepared.map(exclusionReason)).toEqual(plain.map(exclusionReason));
});
