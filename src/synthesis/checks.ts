import { isDeepStrictEqual } from 'node:util';
import type { AuthoredEnvironment, Finding } from '../analyst/contract.js';
import type { CapabilityEnvironment, Environment, Scenario } from '../environment/contract.js';
import { instantiateEnvironment } from '../environment/load-generated.js';
import { playTurns } from '../environment/runner.js';
import type { AssistantMessage, Trajectory } from '../trajectory/trajectory.js';
import { alwaysHandOver, CHEATS } from './cheats.js';
import { observedShapes, resultShapes, shapeFits } from './fidelity.js';
import { findLeaks } from './leaks.js';

/** One check of an environment: passed or not, with the figures it was judged by. */
export interface EnvironmentCheck {
  readonly name: string;
  readonly passed: boolean;
  readonly detail: string;
  readonly figures?: { readonly [name: string]: number };
}

/** `checks.json`. */
export interface CheckReport {
  readonly passed: boolean;
  readonly seeds: number;
  readonly checks: readonly EnvironmentCheck[];
}

export interface CheckContext {
  readonly target: Pick<Environment, 'tools' | 'toolKinds'>;
  /** Base rollouts: observed result shapes, and the tasks that must not be found in the environment. */
  readonly trajectories: readonly Trajectory[];
  /** Number of seeds, from 0. */
  readonly seeds: number;
  readonly successThreshold: number;
}

/** Most that a policy without the capability may earn on average. */
export const MOST_FOR_CHEATS = 0.3;
/** Most that one of two constant decisions (always act, always hand over) may earn on average. */
export const MOST_FOR_CONSTANT = 0.8;
/** Least share of each decision where both occur. */
export const LEAST_OF_EACH = 0.15;
/** Most that a named mistake may earn, in any scenario and on average. */
export const MOST_FOR_MISTAKE = 0.5;
export const MEAN_FOR_MISTAKE = 0.35;
export const LEAST_DISTINCT = 0.95;
export const MOST_SOURCE_BYTES = 256 * 1024;
export const MOST_CONVERSATION_CHARACTERS = 40_000;

/** Checks an authored environment on `seeds` scenarios. Never throws for a bad environment: it fails a check. */
export async function checkEnvironment(
  authored: AuthoredEnvironment,
  context: CheckContext,
): Promise<CheckReport> {
  const checks: EnvironmentCheck[] = [];
  const bytes = Buffer.byteLength(authored.source);
  const add = (name: string, passed: boolean, detail: string, figures?: EnvironmentCheck['figures']) => {
    checks.push({ name, passed, detail, ...(figures ? { figures } : {}) });
  };
  add('size', bytes <= MOST_SOURCE_BYTES, `source of ${bytes} bytes (at most ${MOST_SOURCE_BYTES})`, {
    bytes,
  });
  try {
    const fresh = () => instantiateEnvironment(authored.source, authored.settings);
    const environment = fresh();
    add('loads', true, `${environment.name}, imports types only`);
    add(...rationaleCheck(environment));
    add(...schemaCheck(environment, context.target));
    const scenarios = Array.from({ length: context.seeds }, (_, seed) => environment.scenario(seed));
    for (const check of [
      await determinismCheck(environment, fresh(), scenarios),
      ...(await oracleChecks(environment, scenarios, context)),
      ...(await mistakeChecks(environment, scenarios, context)),
      ...(await cheatChecks(environment, scenarios)),
      diversityCheck(environment, scenarios),
      findLeaks(environment, scenarios, authored.source, context.trajectories),
    ])
      checks.push(check);
  } catch (error) {
    add(
      'runs',
      false,
      error instanceof Error ? error.message : String((error as { message?: string })?.message ?? error),
    );
  }
  return { passed: checks.every(({ passed }) => passed), seeds: context.seeds, checks };
}

/** The failed checks, as findings for a repair. */
export const findingsOf = (report: CheckReport): Finding[] =>
  report.checks.filter(({ passed }) => !passed).map(({ name, detail }) => ({ check: name, detail }));

type Bare = [name: string, passed: boolean, detail: string];

function rationaleCheck(environment: CapabilityEnvironment): Bare {
  const sentences = environment.rationale.split(/[.!?](?:\s|$)/).filter((part) => part.trim() !== '').length;
  return ['rationale', sentences >= 3, `${sentences} sentences on why it should transfer (at least 3)`];
}

function schemaCheck(environment: CapabilityEnvironment, target: CheckContext['target']): Bare {
  const known = new Map(target.tools.map((tool) => [tool.function.name, tool]));
  const wrong = environment.tools
    .filter((tool) => {
      const { name } = tool.function;
      const equal = isDeepStrictEqual(plain(tool), plain(known.get(name)));
      return !equal || environment.toolKinds[name] !== target.toolKinds[name];
    })
    .map(({ function: { name } }) => name);
  const passed = environment.tools.length > 0 && wrong.length === 0;
  return [
    'tool schemas',
    passed,
    passed
      ? `${environment.tools.length} tools, equal to the target's`
      : `not the target's: ${wrong.join(', ') || 'no tools'}`,
  ];
}

/** A copy of plain data from whatever context it was made in. */
const plain = (value: unknown): unknown =>
  value === undefined ? null : (JSON.parse(JSON.stringify(value)) as unknown);

/** Same scenarios from a fresh copy, asked in the opposite order, and the same episodes from the same turns. */
async function determinismCheck(
  environment: CapabilityEnvironment,
  again: CapabilityEnvironment,
  scenarios: readonly Scenario[],
): Promise<EnvironmentCheck> {
  const different: number[] = [];
  for (const scenario of [...scenarios].reverse()) {
    const other = again.scenario(scenario.seed);
    const turns = environment.oracle(scenario);
    const one = await playTurns(environment, scenario, turns);
    const two = await playTurns(again, other, again.oracle(other));
    if (!isDeepStrictEqual(plain([scenario, one]), plain([other, two]))) different.push(scenario.seed);
  }
  return {
    name: 'determinism',
    passed: different.length === 0,
    detail:
      different.length === 0
        ? `${scenarios.length} scenarios and episodes equal in a fresh copy`
        : `${different.length} of ${scenarios.length} seeds differ in a fresh copy, first seed ${Math.min(...different)}`,
  };
}

async function oracleChecks(
  environment: CapabilityEnvironment,
  scenarios: readonly Scenario[],
  { trajectories, successThreshold }: CheckContext,
): Promise<EnvironmentCheck[]> {
  const observed = observedShapes(trajectories);
  const failing: number[] = [];
  const strange = new Set<string>();
  let longest = 0;
  let most = 0;
  for (const scenario of scenarios) {
    const played = await playTurns(environment, scenario, environment.oracle(scenario));
    if (played.score.reward < successThreshold || !played.done) failing.push(scenario.seed);
    for (const [tool, shape] of resultShapes(played.messages))
      if (!shapeFits(shape, observed.get(tool) ?? new Set())) strange.add(`${tool} → ${shape}`);
    longest = Math.max(
      longest,
      played.messages.reduce((sum, { content }) => sum + (content?.length ?? 0), 0),
    );
    most = Math.max(most, played.turns);
  }
  const n = scenarios.length;
  return [
    {
      name: 'oracle',
      passed: failing.length === 0,
      detail:
        failing.length === 0
          ? `reward ${successThreshold} on ${n} of ${n} seeds`
          : `fails on ${failing.length} of ${n} seeds, first seed ${failing[0]}`,
      figures: { solved: n - failing.length, seeds: n },
    },
    {
      name: 'result shapes',
      passed: strange.size === 0,
      detail:
        strange.size === 0
          ? 'every result has a shape the target returned'
          : `never seen: ${[...strange].join('; ')}`,
    },
    {
      name: 'length',
      passed: longest <= MOST_CONVERSATION_CHARACTERS && most < environment.maxTurns,
      detail: `longest solution ${longest} characters (at most ${MOST_CONVERSATION_CHARACTERS}), ${most} turns (fewer than ${environment.maxTurns})`,
      figures: { characters: longest, turns: most },
    },
  ];
}

async function mistakeChecks(
  environment: CapabilityEnvironment,
  scenarios: readonly Scenario[],
  { successThreshold }: CheckContext,
): Promise<EnvironmentCheck[]> {
  const rewards = new Map<string, number[]>();
  for (const scenario of scenarios)
    for (const { name, turns } of environment.mistakes(scenario)) {
      const { score } = await playTurns(environment, scenario, turns);
      rewards.set(name, [...(rewards.get(name) ?? []), score.reward]);
    }
  if (rewards.size === 0) return [{ name: 'mistakes', passed: false, detail: 'no mistake is named' }];
  return [...rewards].map(([name, seen]) => {
    const mean = average(seen);
    const worst = Math.max(...seen);
    return {
      name: `mistake: ${name}`,
      passed: mean <= MEAN_FOR_MISTAKE && worst <= MOST_FOR_MISTAKE && worst < successThreshold,
      detail: `mean reward ${mean.toFixed(2)} (at most ${MEAN_FOR_MISTAKE}), most ${worst.toFixed(2)} (at most ${MOST_FOR_MISTAKE}), ${seen.length} cases`,
      figures: { mean, most: worst, cases: seen.length },
    };
  });
}

async function cheatChecks(
  environment: CapabilityEnvironment,
  scenarios: readonly Scenario[],
): Promise<EnvironmentCheck[]> {
  const checks: EnvironmentCheck[] = [];
  for (const cheat of CHEATS) {
    const rewards: number[] = [];
    for (const scenario of scenarios)
      rewards.push((await playTurns(environment, scenario, cheat.turns(environment, scenario))).score.reward);
    checks.push(limit(`cheat: ${cheat.name}`, average(rewards), MOST_FOR_CHEATS));
  }
  return [...checks, ...(await constantDecisionChecks(environment, scenarios))];
}

/** Where acting and handing over both occur, neither may be right so often that the other is not worth learning. */
async function constantDecisionChecks(
  environment: CapabilityEnvironment,
  scenarios: readonly Scenario[],
): Promise<EnvironmentCheck[]> {
  let acts = 0;
  let refusals = 0;
  const handingOver: number[] = [];
  for (const scenario of scenarios) {
    const oracle = environment.oracle(scenario);
    const kinds = oracle.flatMap((turn) => callKinds(environment, turn));
    if (kinds.every((kind) => kind !== 'handover')) acts++;
    if (kinds.every((kind) => kind !== 'write')) refusals++;
    const turns = alwaysHandOver(environment, oracle);
    if (turns) handingOver.push((await playTurns(environment, scenario, turns)).score.reward);
  }
  const n = scenarios.length;
  const checks: EnvironmentCheck[] = [];
  const both = acts < n;
  if (handingOver.length > 0)
    checks.push(
      limit('cheat: always hand over', average(handingOver), both ? MOST_FOR_CONSTANT : MOST_FOR_CHEATS),
    );
  if (both) {
    checks.push(limit('cheat: always act', acts / n, MOST_FOR_CONSTANT));
    const least = (n - acts) / n;
    checks.push({
      name: 'both decisions',
      passed: least >= LEAST_OF_EACH && (n - refusals) / n >= LEAST_OF_EACH,
      detail: `handing over is part of the solution in ${percent(least)}, acting in ${percent((n - refusals) / n)} (at least ${percent(LEAST_OF_EACH)} each)`,
    });
  }
  return checks;
}

const callKinds = (environment: CapabilityEnvironment, turn: AssistantMessage) =>
  (turn.tool_calls ?? [])
    .map((call) => environment.toolKinds[call.function.name])
    .filter((kind) => kind === 'write' || kind === 'handover');

function diversityCheck(
  environment: CapabilityEnvironment,
  scenarios: readonly Scenario[],
): EnvironmentCheck {
  const distinct = new Set(
    scenarios.map((scenario) =>
      JSON.stringify(
        environment
          .oracle(scenario)
          .map((turn) => turn.tool_calls?.map((call) => call.function) ?? turn.content),
      ),
    ),
  ).size;
  const share = distinct / scenarios.length;
  return {
    name: 'diversity',
    passed: share >= LEAST_DISTINCT,
    detail: `${distinct} different solutions on ${scenarios.length} seeds (at least ${percent(LEAST_DISTINCT)})`,
    figures: { distinct, seeds: scenarios.length },
  };
}

const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
const percent = (share: number): string => `${Math.round(100 * share)} %`;
const limit = (name: string, mean: number, most: number): EnvironmentCheck => ({
  name,
  passed: mean <= most,
  detail: `mean reward ${mean.toFixed(2)} (at most ${most})`,
  figures: { mean },
});
