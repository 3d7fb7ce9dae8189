// npm test: lint, types, then all tests. The last line is `N passed, N failed`; lint and types count as one each.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const tool = (name) => join(root, 'node_modules', '.bin', name);
let passed = 0;
let failed = 0;

function check(name, command, args) {
  console.log(`\n▶ ${name}`);
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status === 0) passed++;
  else failed++;
  return status === 0;
}

check('lint', tool('biome'), ['check', '.']);
check('types', tool('tsc'), ['--noEmit', '-p', 'tsconfig.json']);

console.log('\n▶ tests');
const folder = mkdtempSync(join(tmpdir(), 'trace-test-'));
try {
  const report = join(folder, 'report.json');
  const { status } = spawnSync(
    tool('vitest'),
    ['run', '--reporter=default', '--reporter=json', `--outputFile=${report}`, ...process.argv.slice(2)],
    { cwd: root, stdio: 'inherit' },
  );
  const result = JSON.parse(readFileSync(report, 'utf8'));
  passed += result.numPassedTests;
  // A file that does not load has no tests that could fail: it counts as one failure itself.
  const broken = result.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length;
  failed += result.numFailedTests + broken;
  if (result.numPendingTests > 0)
    console.log(`${result.numPendingTests} tests left out (see the messages above)`);
  if (status !== 0 && result.numFailedTests + broken === 0) failed++;
} catch (error) {
  console.error(`the tests left no report: ${error.message}`);
  failed++;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
