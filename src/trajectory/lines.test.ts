import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readLines } from './lines.js';

const folder = mkdtempSync(join(tmpdir(), 'trace-lines-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function lines(bytes: Buffer): Promise<string[]> {
  const path = join(folder, 'lines.jsonl');
  writeFileSync(path, bytes);
  const found: string[] = [];
  for await (const { number, text } of readLines(path)) found.push(`${number} ${text}`);
  return found;
}

test('lines with their numbers: a mark at the beginning is dropped, empty lines are passed over', async () => {
  expect(await lines(Buffer.from('\ufeff"é"\r\n\n"\u2028"\n"last"'))).toEqual([
    '1 "é"',
    '3 "\u2028"',
    '4 "last"',
  ]);
});

test('a line in another encoding is refused by number, not changed', async () => {
  await expect(lines(Buffer.from('"plain"\n"caf\xe9"\n', 'latin1'))).rejects.toThrow(/line 2 is not UTF-8/);
});
