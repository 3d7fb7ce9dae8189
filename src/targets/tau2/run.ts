import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileWhole } from '../../run/files.js';
import { readJsonFile } from './data.js';
import { type RunInfo, resultsOf, simulationId, simulationOf, type Times } from './export.js';
import { dumps } from './python/json.js';
import { type Dict, isDict } from './python/value.js';
import type { Tau2Scenario, Tau2Target } from './tau2.js';
import type { UserModel } from './user.js';

/** A model that plays the agent: asked as the user's is, with the agent's own view. */
export type AgentModel = UserModel;

export interface RunOptions {
  /** Attempts, as seeds of the target. */
  readonly seeds: readonly number[];
  /** Folder of the results: `results.json`, and `simulations/` with a file an attempt. */
  readonly folder: string;
  readonly info: RunInfo;
  /** Attempts in flight at once. */
  readonly concurrency: number;
  /** How often a broken attempt is tried again before it is left out. */
  readonly retries?: number;
  /** Stops between turns; finished attempts stay. */
  readonly signal?: AbortSignal;
  /** The time for the files, milliseconds; decides nothing. */
  readonly clock?: () => number;
  readonly onDone?: (done: number, total: number) => void;
}

/** What a run came to. */
export interface RunSummary {
  /** Attempts of the run that have a verdict, earlier ones among them. */
  readonly finished: number;
  /** Of these, found finished in the folder. */
  readonly resumed: number;
  /** Left out, with why: the infrastructure broke in every try. They are tried again by the next run. */
  readonly excluded: readonly { readonly task: string; readonly trial: number; readonly reason: string }[];
  /** Mean reward of the finished ones; null where there are none. */
  readonly reward: number | null;
}

/**
 * Runs attempts with a model and writes them as `tau2 run` does, in its folder form. Attempts that the folder holds
 * are kept, so that a stopped run goes on where it was; an attempt whose model fails is tried again, then left out.
 * @throws `options.signal.reason` when stopped; errors of the file system.
 */
export async function runTau2(
  target: Tau2Target,
  agent: AgentModel,
  options: RunOptions,
): Promise<RunSummary> {
  const { seeds, folder, concurrency, retries = 3, signal, onDone } = options;
  const simulations = new Array<Dict | null>(seeds.length).fill(null);
  const excluded: RunSummary['excluded'][number][] = [];
  let next = 0;
  let done = 0;
  let resumed = 0;
  const work = async (): Promise<void> => {
    while (next < seeds.length) {
      const at = next++;
      const scenario = target.scenario(seeds[at] as number);
      const path = join(folder, 'simulations', `${simulationId(target, scenario.id, scenario.trial)}.json`);
      const kept = existsSync(path) ? readJsonFile(path) : null;
      if (isDict(kept)) resumed++;
      const outcome = isDict(kept) ? kept : await attempt(target, agent, scenario, options, retries);
      if (typeof outcome === 'string')
        excluded.push({ task: scenario.id, trial: scenario.trial, reason: outcome });
      else {
        simulations[at] = outcome;
        if (!isDict(kept)) writeFileWhole(path, `${dumps(outcome)}\n`);
      }
      signal?.throwIfAborted();
      onDone?.(++done, seeds.length);
    }
  };
  const workers = Math.max(1, Math.min(concurrency, seeds.length));
  const results = await Promise.allSettled(Array.from({ length: workers }, work));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
  const finished = simulations.filter((simulation) => simulation !== null);
  const { simulations: _all, ...head } = Object.fromEntries(resultsOf(target, finished, options.info));
  const index = finished.map(
    (simulation) =>
      new Map<string, unknown>([
        ['id', simulation.get('id')],
        ['task_id', simulation.get('task_id')],
        ['trial', simulation.get('trial')],
        ['reward', rewardOf(simulation)],
        ['termination_reason', simulation.get('termination_reason')],
        ['agent_cost', null],
        ['duration', simulation.get('duration')],
      ]),
  );
  writeFileWhole(
    join(folder, 'results.json'),
    `${dumps(new Map(Object.entries({ ...head, simulation_index: index })))}\n`,
  );
  const rewards = finished.map(rewardOf);
  return {
    finished: finished.length,
    resumed,
    excluded,
    reward: rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length,
  };
}

/** One attempt as a simulation, or why there is none after all tries. */
async function attempt(
  target: Tau2Target,
  agent: AgentModel,
  scenario: Tau2Scenario,
  { signal, clock = Date.now }: RunOptions,
  retries: number,
): Promise<Dict | string> {
  let reason = '';
  for (let tried = 0; tried <= retries; tried++) {
    signal?.throwIfAborted();
    const start = clock();
    try {
      const episode = await target.open(scenario);
      while (!episode.done) {
        signal?.throwIfAborted();
        const [system, ...messages] = episode.messages;
        const turn = await agent.reply({
          system: system?.content ?? '',
          messages,
          tools: target.tools,
          seed: scenario.seed,
        });
        await episode.act(turn);
      }
      return await simulationOf(target, episode, scenario.trial, times(start, clock()));
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      reason = error instanceof Error ? error.message : String(error);
    }
  }
  return reason;
}

const times = (start: number, end: number): Times => ({
  start: new Date(start).toISOString(),
  end: new Date(end).toISOString(),
  duration: (end - start) / 1000,
});

const rewardOf = (simulation: Dict): number => {
  const info = simulation.get('reward_info');
  const reward = isDict(info) ? info.get('reward') : 0;
  return typeof reward === 'number' ? reward : ((reward as { value?: number })?.value ?? 0);
};
