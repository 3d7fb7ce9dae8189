import { type Args, type Dict, isDict } from './python/value.js';

export type Requestor = 'assistant' | 'user';
export type RewardBasis = 'DB' | 'ENV_ASSERTION' | 'NL_ASSERTION' | 'ACTION' | 'COMMUNICATE';

/** A tool call of the reference solution. */
export interface GoldenAction {
  readonly id: string;
  readonly requestor: Requestor;
  readonly name: string;
  readonly arguments: Args;
  /** Arguments that count in a comparison; null: those of the call it is compared with. */
  readonly compare: readonly string[] | null;
  /** As the task file has it, for results. */
  readonly source: Dict;
}

/** A function that a task calls on one side of the domain. */
export interface EnvFunctionCall {
  readonly side: Requestor;
  readonly name: string;
  readonly arguments: Args;
}
export interface EnvAssertion extends EnvFunctionCall {
  readonly value: boolean;
  readonly source: Dict;
}

/** A call of a conversation with what it answered. */
export interface RecordedCall {
  readonly id: string;
  readonly name: string;
  readonly requestor: Requestor;
  readonly arguments: Args;
  readonly content: string;
}

export interface InitialState {
  readonly agentData: Dict | null;
  readonly userData: Dict | null;
  readonly actions: readonly EnvFunctionCall[];
  /** Messages that the conversation starts with, as the task file has them. */
  readonly history: readonly Dict[];
}

/** How an attempt is judged. */
export interface Criteria {
  readonly actions: readonly GoldenAction[] | null;
  readonly assertions: readonly EnvAssertion[] | null;
  readonly communicate: readonly string[];
  readonly natural: readonly string[];
  readonly basis: readonly RewardBasis[];
}

export interface Task {
  readonly id: string;
  /** What the simulated user is told, as the benchmark prints it. */
  readonly userScenario: string;
  /** The case in writing, for solo mode. */
  readonly ticket: string | null;
  readonly initial: InitialState | null;
  readonly criteria: Criteria | null;
  /** The names of the user's tools that this task offers; null: all. */
  readonly userTools: readonly string[] | null;
  /** As the task file has it, for results. */
  readonly source: Dict;
}

const DEFAULT_BASIS: readonly RewardBasis[] = ['DB', 'COMMUNICATE'];
const BASES: readonly string[] = ['DB', 'ENV_ASSERTION', 'NL_ASSERTION', 'ACTION', 'COMMUNICATE'];

/** A task file that does not say what a task needs. */
export class TaskError extends Error {
  override readonly name = 'TaskError';
}

class Fields {
  constructor(
    readonly dict: Dict,
    readonly where: string,
  ) {}
  text(key: string): string {
    const value = this.dict.get(key);
    if (typeof value !== 'string') throw new TaskError(`${this.where}.${key}: a string is missing`);
    return value;
  }
  textOrNull(key: string): string | null {
    const value = this.dict.get(key);
    return typeof value === 'string' ? value : null;
  }
  dictOrNull(key: string): Dict | null {
    const value = this.dict.get(key);
    return isDict(value) ? value : null;
  }
  listOrNull<T>(key: string, read: (item: Fields) => T): T[] | null {
    const value = this.dict.get(key);
    if (!Array.isArray(value)) return null;
    return value.map((item, i) => {
      if (!isDict(item)) throw new TaskError(`${this.where}.${key}[${i}]: an object is missing`);
      return read(new Fields(item, `${this.where}.${key}[${i}]`));
    });
  }
  texts(key: string): string[] {
    const value = this.dict.get(key);
    return Array.isArray(value) ? value.map(String) : [];
  }
}

const requestor = (value: unknown): Requestor => (value === 'user' ? 'user' : 'assistant');

const readCall = (fields: Fields): EnvFunctionCall => ({
  side: requestor(fields.dict.get('env_type')),
  name: fields.text('func_name'),
  arguments: fields.dictOrNull('arguments') ?? new Map(),
});

const readAction = (fields: Fields): GoldenAction => ({
  id: fields.text('action_id'),
  requestor: requestor(fields.dict.get('requestor')),
  name: fields.text('name'),
  arguments: fields.dictOrNull('arguments') ?? new Map(),
  compare: Array.isArray(fields.dict.get('compare_args')) ? fields.texts('compare_args') : null,
  source: fields.dict,
});

const readAssertion = (fields: Fields): EnvAssertion => ({
  ...readCall(fields),
  value: fields.dict.get('assert_value') !== false,
  source: fields.dict,
});

function readCriteria(fields: Fields): Criteria {
  const basis = fields.dict.get('reward_basis');
  if (Array.isArray(basis))
    for (const name of basis)
      if (!BASES.includes(String(name)))
        throw new TaskError(`${fields.where}.reward_basis: ${String(name)} is none of ${BASES.join(', ')}`);
  return {
    actions: fields.listOrNull('actions', readAction),
    assertions: fields.listOrNull('env_assertions', readAssertion),
    communicate: fields.texts('communicate_info'),
    natural: fields.texts('nl_assertions'),
    basis: Array.isArray(basis) ? (basis as RewardBasis[]) : DEFAULT_BASIS,
  };
}

function readInitial(fields: Fields): InitialState {
  const data = fields.dictOrNull('initialization_data');
  const part = (key: string): Dict | null => {
    const value = data?.get(key);
    return isDict(value) ? value : null;
  };
  return {
    agentData: part('agent_data'),
    userData: part('user_data'),
    actions: fields.listOrNull('initialization_actions', readCall) ?? [],
    history: fields.listOrNull('message_history', (item) => item.dict) ?? [],
  };
}

/** Every line that is not blank gets a tab, as Python's `textwrap.indent` does. */
const indent = (text: string): string =>
  text.replace(/[^\r\n]+/g, (line) => (line.trim() === '' ? line : `\t${line}`));

/** The scenario as the simulated user reads it. */
function scenarioText(scenario: Dict): string {
  const persona = scenario.get('persona');
  const instructions = scenario.get('instructions');
  let text = '';
  if (isDict(instructions)) {
    const part = (title: string, key: string): string[] => {
      const value = instructions.get(key);
      return typeof value === 'string' ? [`${title}:\n${indent(value)}`] : [];
    };
    text = [
      `Domain: ${String(instructions.get('domain'))}`,
      ...part('Reason for call', 'reason_for_call'),
      ...part('Known info', 'known_info'),
      ...part('Unknown info', 'unknown_info'),
      ...part('Task instructions', 'task_instructions'),
    ].join('\n');
  } else text = String(instructions ?? '');
  const head = typeof persona === 'string' ? `Persona:\n${indent(persona)}\n` : '';
  return `${head}Instructions:\n${indent(text)}`;
}

/**
 * A task of the benchmark's task files; unknown keys are kept in `source` and otherwise ignored.
 * @throws TaskError naming the field.
 */
export function readTask(value: unknown, where: string): Task {
  if (!isDict(value)) throw new TaskError(`${where}: an object is missing`);
  const fields = new Fields(value, where);
  const id = value.get('id');
  if (typeof id !== 'string' && typeof id !== 'number') throw new TaskError(`${where}.id is missing`);
  const scenario = fields.dictOrNull('user_scenario');
  const initial = fields.dictOrNull('initial_state');
  const criteria = fields.dictOrNull('evaluation_criteria');
  return {
    id: String(id),
    userScenario: scenario ? scenarioText(scenario) : '',
    ticket: fields.textOrNull('ticket'),
    initial: initial ? readInitial(new Fields(initial, `${where}.initial_state`)) : null,
    criteria: criteria ? readCriteria(new Fields(criteria, `${where}.evaluation_criteria`)) : null,
    userTools: Array.isArray(value.get('user_tools')) ? fields.texts('user_tools') : null,
    source: value,
  };
}
