// What tsc leaves out of dist/.
import { chmodSync, copyFileSync, existsSync, readdirSync } from 'node:fs';

// The command has to be executable when the package is linked rather than packed.
const command = new URL('../dist/cli/main.js', import.meta.url);
if (existsSync(command)) chmodSync(command, 0o755);

// The archetype's source is copied into every generated environment: the package carries its text. Not as `.ts`,
// which would stand in the way of the declarations beside it.
const archetype = new URL('../src/analyst/offline/archetypes/service/', import.meta.url);
for (const name of readdirSync(archetype)) {
  const built = new URL(`../dist/analyst/offline/archetypes/service/${name}.txt`, import.meta.url);
  if (name.endsWith('.ts') && !name.endsWith('.test.ts')) copyFileSync(new URL(name, archetype), built);
}
