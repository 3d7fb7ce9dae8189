import { type SandboxTrial, tryBubblewrap } from './choose.js';
import { openSandboxedSource } from './open.js';

/** The smallest environment there is. */
const NOTHING = `export default () => ({ name: 'nothing', capability: 'nothing', rationale: 'none', tools: [],
  toolKinds: {}, maxTurns: 1, systemPrompt: () => '', scenario: (seed) => ({ seed, id: String(seed) }),
  open() { throw new Error('not played'); }, oracle: () => [], mistakes: () => [] })`;

/** Both sandboxes, each tried once: the first that works is the one that generated environments run in. */
export async function tryAllSandboxes(): Promise<SandboxTrial[]> {
  const quickjs = async (): Promise<SandboxTrial> => {
    try {
      const environment = await openSandboxedSource(NOTHING, {}, { kind: 'quickjs' });
      await environment.close();
      return { kind: 'quickjs', failure: null };
    } catch (error) {
      return { kind: 'quickjs', failure: (error as Error).message };
    }
  };
  return [await tryBubblewrap(), await quickjs()];
}
