import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { replayCommand, verifyCommand } from '../src/cli/commands/tau2.js';
import { testData } from './support/importer-files.js';

/** Against what the benchmark's own Python gave, where that data is at hand. */
const data = testData('tau2');
const folder = mkdtempSync(join(tmpdir(), 'tau2-parity-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

if (!data) console.warn('τ²-bench parity: skipped, there is no tau2/ in TRACE_TEST_DATA or ../shared/data');

describe.skipIf(!data)('τ²-bench on recorded values', { timeout: 300_000 }, () => {
  const lines: string[] = [];
  const print = (line: string) => lines.push(line);
  const hashes = () => join(data as string, 'golden_hashes.json');

  it('gives every golden hash and output', async () => {
    const outputs = join(data as string, 'golden_outputs.json');
    expect(await verifyCommand({ data: data as string, hashes: hashes(), outputs }, print)).toBe(true);
    const counts = lines.map((line) => /^(\w+) (\d+)\/(\d+) hashes, (\d+)\/(\d+) outputs/.exec(line));
    expect(counts.map((match) => match?.[1])).toEqual(['airline', 'retail', 'telecom', 'mock']);
    for (const match of counts) {
      expect(match?.[2]).toBe(match?.[3]);
      expect(match?.[4]).toBe(match?.[5]);
    }
    expect(Number(counts[0]?.[3])).toBeGreaterThan(10);
  });

  it('tells the first difference', async () => {
    const recorded = JSON.parse(readFileSync(hashes(), 'utf8'));
    const [id] = Object.keys(recorded.domains.mock.tasks);
    recorded.domains = { mock: recorded.domains.mock };
    recorded.domains.mock.tasks[id as string].golden_db_hash = 'wrong';
    const file = join(folder, 'hashes.json');
    writeFileSync(file, JSON.stringify(recorded));
    const said: string[] = [];
    expect(await verifyCommand({ data: data as string, hashes: file }, (line) => said.push(line))).toBe(
      false,
    );
    expect(said[0]).toMatch(/^mock (\d+)\/(\d+) hashes$/);
    expect(said.at(-1)).toContain(`mock task ${id}: golden_db_hash\n  expected wrong`);
  });

  it('repeats every recorded call and reward', async () => {
    const results = join(data as string, 'results');
    const files = readdirSync(results).map((name) => join(results, name));
    const said: string[] = [];
    expect(await replayCommand(files, { data: data as string }, (line) => said.push(line))).toBe(true);
    expect(said).toHaveLength(files.length);
    const total = said.reduce((sum, line) => sum + Number(/calls (\d+) equal/.exec(line)?.[1]), 0);
    expect(total).toBeGreaterThan(1000);
  });
});
