// npm run prepare: builds the package, unless what is built is newer than everything it is built from. `npx trace` in a
// clone prepares the package once more before it runs it; that should not take a second compilation.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const built = join(root, 'dist', 'cli', 'main.js');

function newest(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))));
}

const sources = ['src', 'scripts/after-build.mjs', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];
const isFresh =
  existsSync(built) && statSync(built).mtimeMs > Math.max(...sources.map((name) => newest(join(root, name))));
if (isFresh) console.log('dist is up to date');
else
  execFileSync('npm', ['run', 'build'], { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
