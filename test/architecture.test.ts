import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

/**
 * The rooms' arrows point one way (docs/architecture.md). Each room lists the rooms it may import from; steps
 * are missing from each other's lists: they meet in files of the workspace.
 */
const leaves = ['run', 'config'];
const material = ['analyst', 'agent', 'environment', 'engine', 'trajectory', ...leaves];
const ARROWS: Record<string, readonly string[]> = {
  run: [],
  config: ['run'],
  trajectory: leaves,
  engine: leaves,
  environment: ['trajectory', ...leaves],
  agent: ['engine', 'environment', 'trajectory', ...leaves],
  analyst: ['environment', 'trajectory', ...leaves],
  targets: ['environment', 'trajectory', ...leaves],
  diagnosis: ['analyst', 'trajectory', 'statistics', ...leaves],
  synthesis: material,
  training: material,
  composition: material,
  evaluation: [...material, 'statistics'],
  statistics: leaves,
  report: ['analyst', 'trajectory', ...leaves],
  server: material,
};

const source = resolve(import.meta.dirname, '../src');

function files(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? files(join(folder, entry.name))
      : entry.name.endsWith('.ts')
        ? [join(folder, entry.name)]
        : [],
  );
}

/** Type-only imports are no exception: a room that knows another's types depends on it. */
function imports(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g)].map((match) =>
    relative(source, resolve(dirname(file), match[1]!)),
  );
}

test('rooms import only along the arrows', () => {
  const wrong: string[] = [];
  for (const file of files(source)) {
    const [room] = relative(source, file).split('/');
    // The command line and the library's entry wire the rooms together and may see all of them.
    if (room === 'cli' || room === 'index.ts') continue;
    const allowed = ARROWS[room!];
    if (!allowed) {
      wrong.push(`${room}: a room without arrows; add it to this test and to docs/architecture.md`);
      continue;
    }
    for (const target of imports(file)) {
      // Unit tests stand beside the code and share the helpers of test/support.
      if (file.endsWith('.test.ts') && target.startsWith('../test/support/')) continue;
      const [other] = target.split('/');
      if (other !== room && !allowed.includes(other!)) wrong.push(`${relative(source, file)} → ${target}`);
    }
  }
  expect(wrong).toEqual([]);
});
