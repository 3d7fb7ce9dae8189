import type { OpenOptions, Scenario, SplitName, Target } from '../../environment/contract.js';
import { InputError } from '../../run/errors.js';
import type { Reference } from '../../trajectory/trajectory.js';
import { DOMAINS, type Domain, type DomainName, loadDomain, type PolicyForm } from './data.js';
import { Tau2Episode } from './episode.js';
import type { Judge } from './judge.js';
import { agentPrompt, soloPrompt, userPrompt } from './prompts.js';
import { toPlain } from './python/json.js';
import { AGENT_SCHEMAS, DONE, USER_SCHEMAS } from './schemas.js';
import type { Task } from './task.js';
import { kindsOf } from './tool-schema.js';
import { dummyUser, type UserModel } from './user.js';

export interface Tau2Options {
  /** The benchmark's `data` folder, from the user's own checkout. */
  readonly data: string;
  readonly domain: DomainName;
  /**
   * Which of the benchmark's splits is tried and trained on; then all of it, and nothing is kept for validation.
   * Absent: `train`, a fifth of it for validation (domains without one: `base`).
   */
  readonly split?: string;
  /** Attempts at each task, each with its own seed. */
  readonly trials?: number;
  /** The agent plays the user's side too, by the task's ticket; telecom and mock only. */
  readonly solo?: boolean;
  /** Telecom's technical support policy. */
  readonly policy?: PolicyForm;
  /** Who plays the user; needed unless `solo`. */
  readonly user?: UserModel;
  /** Who judges natural-language assertions; without one they are reported as not scored. */
  readonly judge?: Judge;
  /** The benchmark's command takes 200 steps and 10 tool errors. */
  readonly maxSteps?: number;
  readonly maxErrors?: number;
}

export interface Tau2Scenario extends Scenario {
  /** Which attempt at the task, from 0. */
  readonly trial: number;
}

/** A τ²-bench domain as a target, with what its results are written from. */
export interface Tau2Target extends Target<Tau2Scenario> {
  readonly options: Tau2Options;
  readonly domain: Domain;
  task(scenario: Tau2Scenario): Task;
  open(scenario: Tau2Scenario, options?: OpenOptions): Promise<Tau2Episode>;
}

/** Share of the training tasks that validation gets: one in five. */
const VALIDATION = 5;

/**
 * τ²-bench as a target, run from the user's own checkout of its data.
 *
 * @example
 * export default tau2({ data: '../tau2-bench/data', domain: 'retail', user });
 * @throws Tau2DataError for data that is missing or wrong; InputError for options that do not go together.
 */
export function tau2(options: Tau2Options): Tau2Target {
  checkOptions(options);
  const domain = loadDomain(options.data, options.domain);
  if (options.solo && !domain.hasSolo)
    throw new InputError(`tau2: ${domain.name} has no solo mode`, 'Only telecom and mock have one.');
  const { solo = false, maxSteps = 200, maxErrors = 10, trials = 1 } = options;
  const ids = [...domain.tasks.keys()].filter((id) => !solo || domain.tasks.get(id)?.ticket !== null);
  const index = new Map(ids.map((id, i) => [id, i]));
  const splits = splitTasks(domain, ids, options.split);
  const policy = domain.policy(solo, options.policy);
  const types = domain.open(solo).toolTypes();
  const ownTools = AGENT_SCHEMAS[domain.name];
  const userTools = USER_SCHEMAS[domain.name];
  const tools = solo ? [...ownTools, ...userTools, DONE] : ownTools;
  const names = new Set(tools.map((tool) => tool.function.name));
  const kinds = kindsOf(new Map([...types].filter(([name]) => names.has(name))));
  const taskOf = ({ id }: Tau2Scenario): Task => domain.tasks.get(id) as Task;
  const promptOf = (task: Task): string =>
    solo ? soloPrompt(policy, task.ticket ?? '') : agentPrompt(policy);
  return {
    name: `tau2-${domain.name}${solo ? '-solo' : ''}`,
    family: 'tool-use',
    // The benchmark's own tolerance.
    successThreshold: 1 - 1e-6,
    tools,
    toolKinds: solo ? { ...kinds, done: 'other' } : kinds,
    maxTurns: maxSteps,
    options,
    domain,
    task: taskOf,
    systemPrompt: (scenario) => promptOf(taskOf(scenario)),
    scenario(seed) {
      const id = ids[seed % ids.length];
      if (id === undefined || !Number.isSafeInteger(seed) || seed < 0)
        throw new RangeError(`seed ${seed} is no task of ${domain.name}`);
      return { seed, id, trial: Math.floor(seed / ids.length) };
    },
    open(scenario) {
      const task = taskOf(scenario);
      const offered = userTools.filter(
        (tool) => task.userTools === null || task.userTools.includes(tool.function.name),
      );
      return Tau2Episode.open({
        domain,
        task,
        solo,
        maxSteps,
        maxErrors,
        seed: scenario.seed,
        user: solo ? dummyUser : (options.user as UserModel),
        userSystem: solo ? '' : userPrompt(options.data, task, userTools.length > 0),
        userTools: offered,
        judge: options.judge ?? null,
        systemPrompt: promptOf(task),
      });
    },
    reference: (scenario) => referenceOf(taskOf(scenario), kinds, solo),
    split(name, size) {
      const chosen = size === undefined ? splits[name] : splits[name].slice(0, size);
      return chosen.flatMap((id) =>
        Array.from({ length: trials }, (_, trial) => (index.get(id) as number) + trial * ids.length),
      );
    },
  };
}

function checkOptions({ domain, trials = 1, maxSteps = 1, maxErrors = 1, solo, user }: Tau2Options): void {
  if (!DOMAINS.includes(domain))
    throw new InputError(`tau2: there is no domain "${domain}"`, `Supported are ${DOMAINS.join(', ')}.`);
  for (const [name, value] of Object.entries({ trials, maxSteps, maxErrors }))
    if (!Number.isInteger(value) || value < 1)
      throw new InputError(`tau2: ${name} has to be a whole number from 1, got ${value}`);
  if (!solo && !user)
    throw new InputError(
      'tau2: nobody plays the user',
      'Give `user` (a model that follows the benchmark’s guidelines), or `solo: true` for telecom and mock.',
    );
}

/** Ids by split, disjoint between training, validation and test; a harder distribution there is none. */
function splitTasks(
  domain: Domain,
  ids: readonly string[],
  wanted: string | undefined,
): { readonly [split in SplitName]: readonly string[] } {
  const named = (name: string): readonly string[] | undefined => {
    const split = domain.splits.get(name);
    return split && ids.filter((id) => split.includes(id));
  };
  if (wanted !== undefined && !domain.splits.has(wanted))
    throw new InputError(
      `tau2: ${domain.name} has no split "${wanted}"`,
      `It has ${[...domain.splits.keys()].join(', ')}.`,
    );
  const source = (wanted === undefined ? (named('train') ?? named('base')) : named(wanted)) ?? ids;
  const isValidation = (i: number) => wanted === undefined && i % VALIDATION === VALIDATION - 1;
  const train = source.filter((_, i) => !isValidation(i));
  const writes = domain.open().toolTypes();
  const isCompound = (id: string) =>
    (domain.tasks.get(id)?.criteria?.actions ?? []).filter(({ name }) => writes.get(name) === 'write')
      .length > 1;
  return {
    train,
    'train-compound': train.filter(isCompound),
    validation: source.filter((_, i) => isValidation(i)),
    test: (named('test') ?? []).filter((id) => !source.includes(id)),
    shift: [],
  };
}

/** What is known of the right solution. Actions of the user count only where the agent plays both sides. */
function referenceOf(task: Task, kinds: Reference['toolKinds'], solo: boolean): Reference {
  const { criteria } = task;
  return {
    actions: (criteria?.actions ?? [])
      .filter((action) => solo || action.requestor === 'assistant')
      .map((action) => ({
        name: action.name,
        arguments: toPlain(action.arguments) as { readonly [name: string]: unknown },
        kind: kinds[action.name] ?? 'other',
        ...(action.compare && { compareArguments: action.compare }),
      })),
    requiredFacts: criteria?.basis.includes('COMMUNICATE') ? criteria.communicate : [],
    toolKinds: kinds,
    ...(criteria && criteria.natural.length > 0 && { assertions: criteria.natural }),
    ...(criteria && !criteria.basis.includes('DB') && { exhaustive: false }),
  };
}
