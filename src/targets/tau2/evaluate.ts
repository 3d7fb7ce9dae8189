import type { Domain } from './data.js';
import { callsOf, recordedCalls, textOf } from './messages.js';
import { type Args, type Dict, equal, PythonError } from './python/value.js';
import type { EnvAssertion, GoldenAction, RewardBasis, Task } from './task.js';
import type { ToolType } from './toolkit.js';
import type { World } from './world.js';

/** A judge's verdict on one natural-language assertion. */
export interface NaturalVerdict {
  readonly assertion: string;
  readonly met: boolean;
  readonly justification: string;
}

/** How an attempt was judged: the benchmark's reward with its parts. */
export interface Evaluation {
  /** Product of the parts that the task's basis names and that were scored. */
  readonly reward: number;
  /** What the reward is made of; null where the attempt ended early or the task has no criteria. */
  readonly basis: readonly RewardBasis[] | null;
  /** 1 or 0 for each part of the basis that was scored. */
  readonly parts: ReadonlyMap<RewardBasis, number>;
  /** Parts of the basis that need a judge and had none. */
  readonly notScored: readonly RewardBasis[];
  /** Whether both databases end as after the golden actions; null where that was not looked at. */
  readonly dbMatch: boolean | null;
  readonly assertions: readonly { readonly assertion: EnvAssertion; readonly met: boolean }[];
  readonly actions: readonly {
    readonly action: GoldenAction;
    readonly match: boolean;
    readonly toolType: ToolType | null;
  }[];
  readonly communicate: readonly {
    readonly info: string;
    readonly met: boolean;
    readonly where: string | null;
  }[];
  readonly natural: readonly NaturalVerdict[] | null;
  readonly note: string | null;
}

export interface EvaluateOptions {
  readonly solo: boolean;
  /** Verdicts on the task's natural-language assertions; null: no judge. */
  readonly natural?: readonly NaturalVerdict[] | null;
  /** A call that answers otherwise than recorded stops the evaluation; off for old records. */
  readonly strict?: boolean;
}

const NOTHING = {
  parts: new Map<RewardBasis, number>(),
  notScored: [],
  dbMatch: null,
  assertions: [],
  actions: [],
  communicate: [],
  natural: null,
};

/**
 * The reward of a finished conversation in the benchmark's message form.
 * @throws ReplayError under `strict`; PythonError where the task's own functions fail; ConversationError.
 */
export function evaluate(
  domain: Domain,
  task: Task,
  messages: readonly Dict[],
  termination: string | null,
  options: EvaluateOptions,
): Evaluation {
  if (termination !== 'agent_stop' && termination !== 'user_stop')
    return {
      ...NOTHING,
      reward: 0,
      basis: null,
      note: `Simulation terminated prematurely. Termination reason: ${termination ?? 'none'}`,
    };
  const { criteria } = task;
  if (!criteria) return { ...NOTHING, reward: 1, basis: null, note: 'No evaluation criteria' };

  const predicted = domain.open(options.solo);
  const world = endState(predicted, domain, task, messages, options.strict ?? true);
  const actions = checkActions(criteria.actions ?? [], messages, predicted.toolTypes());
  const communicate = criteria.communicate.map((info) => checkCommunicated(info, messages));
  const natural = criteria.natural.length === 0 ? [] : (options.natural ?? null);
  const scores: { readonly [basis in RewardBasis]: boolean | null } = {
    DB: world.dbMatch,
    ENV_ASSERTION: world.assertions.every(({ met }) => met),
    ACTION: actions.every(({ match }) => match),
    COMMUNICATE: communicate.every(({ met }) => met),
    NL_ASSERTION: natural?.every(({ met }) => met) ?? null,
  };
  const parts = new Map<RewardBasis, number>();
  const notScored: RewardBasis[] = [];
  for (const basis of criteria.basis) {
    const score = scores[basis];
    if (score === null) notScored.push(basis);
    else parts.set(basis, score ? 1 : 0);
  }
  const reward = [...parts.values()].reduce((product, part) => product * part, 1);
  return {
    reward,
    basis: criteria.basis,
    parts,
    notScored,
    dbMatch: world.dbMatch,
    assertions: world.assertions,
    actions,
    communicate,
    natural,
    note: null,
  };
}

/** The conversation's end state against that of the golden actions. */
function endState(predicted: World, domain: Domain, task: Task, messages: readonly Dict[], strict: boolean) {
  const criteria = task.criteria as NonNullable<Task['criteria']>;
  if (!criteria.actions && !criteria.assertions) return { dbMatch: true, assertions: [] };
  predicted.setState(task.initial, recordedCalls(messages), strict);
  // The golden world never plays the user's side, and nothing is coupled between its calls.
  const gold = domain.open();
  gold.setState(task.initial, recordedCalls(task.initial?.history ?? []), strict);
  for (const action of criteria.actions ?? []) {
    try {
      gold.use(action.name, action.requestor, action.arguments);
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
    }
  }
  const [expected, found] = [gold.hashes(), predicted.hashes()];
  const dbMatch = expected.agent === found.agent && expected.user === found.user;
  const assertions = (criteria.assertions ?? []).map((assertion) => ({
    assertion,
    met: predicted.holds(assertion),
  }));
  return { dbMatch, assertions };
}

/** Whether each golden action was called by anyone at any time. */
function checkActions(
  actions: readonly GoldenAction[],
  messages: readonly Dict[],
  types: ReadonlyMap<string, ToolType>,
): Evaluation['actions'] {
  const calls = messages
    .filter((message) => message.get('role') !== 'tool')
    .flatMap((message) => callsOf(message));
  return actions.map((action) => ({
    action,
    match: calls.some(
      (call) => call.get('name') === action.name && sameArguments(action, call.get('arguments') as Args),
    ),
    toolType: types.get(action.name) ?? null,
  }));
}

/**
 * Arguments as the benchmark compares them. Without a list of names those of the call count: an argument that the
 * call leaves out goes unnoticed.
 */
export function sameArguments(action: GoldenAction, args: Args): boolean {
  const names = action.compare ?? [...args.keys()];
  if (names.length === 0) return true;
  const pick = (from: Args): Dict => new Map([...from].filter(([name]) => names.includes(name)));
  return equal(pick(args), pick(action.arguments));
}

/** Whether the agent said it: a substring, case and the messages' commas apart. */
function checkCommunicated(info: string, messages: readonly Dict[]): Evaluation['communicate'][number] {
  const said = messages.find(
    (message) =>
      message.get('role') === 'assistant' &&
      textOf(message).trim() !== '' &&
      textOf(message).toLowerCase().replaceAll(',', '').includes(info.toLowerCase()),
  );
  return { info, met: said !== undefined, where: said ? textOf(said) : null };
}
