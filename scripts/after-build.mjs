// The command has to be executable when the package is linked rather than packed.
import { chmodSync, existsSync } from 'node:fs';

const command = new URL('../dist/cli/main.js', import.meta.url);
if (existsSync(command)) chmodSync(command, 0o755);
