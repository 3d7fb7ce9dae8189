// What tsc leaves out of dist/.
import { chmodSync, copyFileSync, existsSync, readdirSync, rmSync, symlinkSync } from 'node:fs';

// The command has to be executable when the package is linked rather than packed. In a clone it goes among the commands
// of node_modules too: `npx trace` would otherwise install the package into its cache before it runs it.
const command = new URL('../dist/cli/main.js', import.meta.url);
if (existsSync(command)) chmodSync(command, 0o755);
const commands = new URL('../node_modules/.bin/', import.meta.url);
if (existsSync(commands) && process.platform !== 'win32') {
  const link = new URL('trace', commands);
  rmSync(link, { force: true });
  symlinkSync('../../dist/cli/main.js', link);
}

// The archetype's source is copied into every generated environment: the package carries its text. Not as `.ts`,
// which would stand in the way of the declarations beside it.
const archetype = new URL('../src/analyst/offline/archetypes/service/', import.meta.url);
for (const name of readdirSync(archetype)) {
  const built = new URL(`../dist/analyst/offline/archetypes/service/${name}.txt`, import.meta.url);
  if (name.endsWith('.ts') && !name.endsWith('.test.ts')) copyFileSync(new URL(name, archetype), built);
}
