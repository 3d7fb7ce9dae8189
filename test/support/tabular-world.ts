import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Scenario, Target } from '../../src/environment/contract.js';
import { instantiateEnvironment } from '../../src/environment/load-generated.js';
import type { RunEvent } from '../../src/run/events.js';
import { writeFileWhole, writeJsonWhole } from '../../src/run/files.js';
import { runPaths } from '../../src/run/paths.js';
import type { StepContext } from '../../src/run/step.js';
import { ANSWERS, QUESTIONS, type TabularEngine, tabularEngine } from './tabular-engine.js';

/**
 * A world for `tabularEngine`: the right answer to question q is answer q. A capability is to answer its own two
 * questions; an environment asks one question a turn and ends at the first wrong answer.
 */
export const CAPABILITIES: { readonly [name: string]: readonly number[] } = {
  alpha: [0, 1],
  beta: [2, 3],
  gamma: [4, 5],
};

/** `settings.groups`: questions of each turn, such as `0,1|2,3` for a first and a second turn. */
const SOURCE = `
interface Asked { seed: number; id: string; asked: number[] }
export default (settings: { name: string; groups: string }) => {
  const groups = settings.groups.split('|').map((group) => group.split(',').map(Number));
  return {
    name: settings.name,
    capability: settings.name,
    rationale: 'The target asks these questions too.',
    tools: [],
    toolKinds: {},
    maxTurns: groups.length,
    systemPrompt: () => '',
    scenario: (seed: number): Asked => ({
      seed,
      id: settings.name + '-' + seed,
      asked: groups.map((group, turn) => group[Math.floor(seed / 2 ** turn) % group.length]!),
    }),
    open(scenario: Asked) {
      let turn = 0;
      let wrong = false;
      const messages: unknown[] = [{ role: 'user', content: 'q' + scenario.asked[0] }];
      return {
        messages,
        get done() { return wrong || turn === scenario.asked.length; },
        get termination() { return wrong ? 'user_stop' : turn === scenario.asked.length ? 'agent_stop' : null; },
        act(message: { content: string | null }) {
          messages.push(message);
          wrong = message.content !== 'a' + scenario.asked[turn];
          turn++;
          if (!wrong && turn < scenario.asked.length) messages.push({ role: 'user', content: 'q' + scenario.asked[turn] });
        },
        score: () => ({
          reward: !wrong && turn === scenario.asked.length ? 1 : 0,
          checks: [{ name: 'answers', passed: !wrong }],
        }),
      };
    },
    oracle: (scenario: Asked) => scenario.asked.map((q) => ({ role: 'assistant', content: 'a' + q })),
    mistakes: () => [],
  };
};
`;

const groupsOf = (names: readonly string[]) => names.map((name) => CAPABILITIES[name]!.join(',')).join('|');

interface Asked extends Scenario {
  readonly asked: readonly number[];
}

/** Two questions a task in `test`, three in `shift`. */
export function tabularTarget(): Target<Asked> {
  const make = (names: string[]) =>
    instantiateEnvironment(SOURCE, { name: 'target', groups: groupsOf(names) }) as unknown as Target<Asked>;
  const two = make(['alpha', 'beta']);
  const three = make(['alpha', 'beta', 'gamma']);
  const of = (seed: number) => (seed >= 2_000 ? three : two);
  const ranges = { train: 0, 'train-compound': 0, validation: 500, test: 1_000, shift: 2_000 };
  return {
    name: 'target',
    family: 'general',
    successThreshold: 1,
    tools: [],
    toolKinds: {},
    maxTurns: 3,
    systemPrompt: () => '',
    scenario: (seed) => of(seed).scenario(seed),
    open: (scenario, options) => of(scenario.seed).open(scenario, options),
    split: (name, size = 8) => Array.from({ length: size }, (_, i) => ranges[name] + i),
    capabilitiesOf: ({ asked }: Asked) =>
      Object.keys(CAPABILITIES).filter((name) => asked.some((q) => CAPABILITIES[name]!.includes(q))),
  } as Target<Asked>;
}

/** Base: every answer is equally likely. */
export const tabularBase = () =>
  Array.from({ length: QUESTIONS }, () => Array.from({ length: ANSWERS }, () => 0));

/** A run's folder with environments, pairs and trained adapters: each right on its own, wrong elsewhere. */
export function tabularRun(strength = 5): string {
  const folder = mkdtempSync(join(tmpdir(), 'trace-run-'));
  const environment = (path: string, name: string, groups: string) => {
    writeFileWhole(join(path, 'environment.ts'), SOURCE);
    writeJsonWhole(join(path, 'settings.json'), { name, groups });
  };
  const names = Object.keys(CAPABILITIES);
  for (const name of names) {
    environment(runPaths.environment(folder, name), name, groupsOf([name]));
    const delta = Array.from({ length: QUESTIONS }, (_, q) =>
      Array.from({ length: ANSWERS }, (_, a) => {
        const favoured = CAPABILITIES[name]!.includes(q) ? q : (q + 1) % ANSWERS;
        return a === favoured ? strength : 0;
      }),
    ).flat();
    writeJsonWhole(join(runPaths.adapter(folder, name), 'adapter_config.json'), { r: 1 });
    writeFileWhole(join(runPaths.adapter(folder, name), 'adapter_model.safetensors'), JSON.stringify(delta));
  }
  for (const [i, a] of names.entries())
    for (const b of names.slice(i + 1)) {
      const name = `${a}+${b}`;
      environment(join(runPaths.environment(folder, 'pairs'), name), name, groupsOf([a, b]));
    }
  return folder;
}

export function context(folder: string, events: RunEvent[] = []): StepContext {
  return {
    folder,
    emit: (event) => events.push(event),
    signal: new AbortController().signal,
    seed: 1,
  };
}

/** An engine that dies at the n-th completion, as a killed process would. */
export function dyingEngine(n: number): TabularEngine {
  const engine = tabularEngine(tabularBase());
  const { sample } = engine;
  engine.sample = (request) => {
    if (engine.sampled >= n) throw new Error('killed');
    return sample(request);
  };
  return engine;
}
