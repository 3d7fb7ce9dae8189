import { createHash } from 'node:crypto';
import { writeFileWhole } from '../../run/files.js';
import type { Tau2Episode } from './episode.js';
import type { Evaluation } from './evaluate.js';
import { readGuidelines } from './prompts.js';
import { dumps } from './python/json.js';
import { type Dict, Float } from './python/value.js';
import type { Tau2Target } from './tau2.js';

/** Who took part in a run, as its results name them. */
export interface RunInfo {
  /** Model that played the agent; null where it is none of an API. */
  readonly agent: string | null;
  /** Model that played the user. */
  readonly user?: string | null;
  /** Seed of the run. */
  readonly seed: number;
  /** When the run began, ISO 8601; stands in the file, decides nothing. */
  readonly timestamp: string;
}

/** When an attempt took place. */
export interface Times {
  readonly start: string;
  readonly end: string;
  /** Seconds. */
  readonly duration: number;
}

const map = (entries: { readonly [key: string]: unknown }): Dict => new Map(Object.entries(entries));
const score = (passed: boolean): Float => new Float(passed ? 1 : 0);

/** The reward with its parts, in the benchmark's form. */
export function rewardInfo(found: Evaluation): Dict {
  const early = found.basis === null;
  return map({
    reward: new Float(found.reward),
    db_check:
      found.dbMatch === null ? null : map({ db_match: found.dbMatch, db_reward: score(found.dbMatch) }),
    env_assertions: early
      ? null
      : found.assertions.map(({ assertion, met }) =>
          map({ env_assertion: assertion.source, met, reward: score(met) }),
        ),
    action_checks: early
      ? null
      : found.actions.map(({ action, match, toolType }) =>
          map({
            action: action.source,
            action_match: match,
            action_reward: score(match),
            tool_type: toolType,
          }),
        ),
    nl_assertions:
      found.natural === null
        ? null
        : found.natural.map(({ assertion, met, justification }) =>
            map({ nl_assertion: assertion, met, justification }),
          ),
    communicate_checks: early
      ? null
      : found.communicate.map(({ info, met, where }) =>
          map({
            info,
            met,
            justification: met ? `said in the message: ${where ?? ''}` : 'said in no message of the agent',
          }),
        ),
    reward_basis: found.basis,
    reward_breakdown: early ? null : new Map([...found.parts].map(([name, part]) => [name, new Float(part)])),
    info:
      found.note !== null
        ? map({ note: found.note })
        : found.notScored.length > 0
          ? map({ not_scored: found.notScored })
          : null,
  });
}

/** Names an attempt, and its file in the folder form: task ids hold characters that file names may not. */
export function simulationId(target: Tau2Target, task: string, trial: number): string {
  const name = /^[\w-]{1,80}$/.test(task)
    ? task
    : createHash('sha256').update(task).digest('hex').slice(0, 24);
  return `${target.name}-${name}-${trial}`;
}

/**
 * One finished attempt as a simulation of the benchmark. Messages are numbered and stand a millisecond apart from
 * `times.start` on, since the benchmark sorts them by time.
 */
export async function simulationOf(
  target: Tau2Target,
  episode: Tau2Episode,
  trial: number,
  times: Times,
): Promise<Dict> {
  const { task, seed } = episode.settings;
  const start = Date.parse(times.start);
  const messages = episode.log.map(
    (message, i): Dict =>
      new Map([...message, ['turn_idx', i], ['timestamp', new Date(start + i).toISOString().slice(0, -1)]]),
  );
  return map({
    id: simulationId(target, task.id, trial),
    task_id: task.id,
    timestamp: times.start,
    start_time: times.start,
    end_time: times.end,
    duration: new Float(times.duration),
    termination_reason: episode.termination ?? 'unexpected_error',
    agent_cost: null,
    user_cost: null,
    reward_info: rewardInfo(await episode.evaluation()),
    messages,
    trial,
    seed,
    mode: 'half_duplex',
  });
}

/** A whole run in the form of `tau2 run`. */
export function resultsOf(target: Tau2Target, simulations: readonly Dict[], run: RunInfo): Dict {
  const { options, domain } = target;
  const { solo = false } = options;
  const hasUserTools = domain.name === 'telecom' || domain.name === 'mock';
  const ids = new Set(simulations.map((simulation) => simulation.get('task_id')));
  return map({
    timestamp: run.timestamp,
    info: map({
      git_commit: 'unknown',
      num_trials: options.trials ?? 1,
      max_steps: options.maxSteps ?? 200,
      max_errors: options.maxErrors ?? 10,
      user_info: map({
        implementation: solo ? 'dummy_user' : (options.user?.name ?? 'user_simulator'),
        llm: run.user ?? null,
        llm_args: null,
        global_simulation_guidelines: solo ? null : readGuidelines(options.data, hasUserTools),
      }),
      agent_info: map({
        implementation: solo ? 'llm_agent_solo' : 'llm_agent',
        llm: run.agent,
        llm_args: null,
      }),
      environment_info: map({
        domain_name: domain.name,
        policy: domain.policy(solo, options.policy),
        tool_defs: null,
      }),
      seed: run.seed,
    }),
    tasks: [...domain.tasks.values()].filter(({ id }) => ids.has(id)).map(({ source }) => source),
    simulations,
  });
}

/** Writes results whole. @throws the file system's own error. */
export const writeResults = (path: string, results: Dict): void =>
  writeFileWhole(path, `${dumps(results)}\n`);
