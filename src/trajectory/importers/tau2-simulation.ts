import { isObject, type JsonObject, RecordError, read } from '../parse.js';
import type {
  Check,
  Message,
  Outcome,
  Reference,
  ReferenceAction,
  ToolKind,
  Trajectory,
} from '../trajectory.js';
import { calledTools, contentText, readAssistant, readChatMessage, readTools } from './chat.js';
import { toolKinds } from './tool-kinds.js';

/** What stands beside the simulations of a results file. */
export interface Tau2Context {
  readonly info: JsonObject;
  readonly tasks: ReadonlyMap<string, JsonObject>;
  /** How many simulations of each task were read, for files that do not number the trials. */
  readonly trials: Map<string, number>;
}

/** Success in the benchmark: |reward − 1| ≤ 1e-6. */
const PASS = 1 - 1e-6;
/** The benchmark leaves these out of its own figures. */
const INFRASTRUCTURE = new Set(['infrastructure_error']);

interface ReadMessages {
  readonly messages: readonly Message[];
  /** Tools that the simulated user called on its own side; the agent sees neither calls nor results. */
  readonly userCalls: readonly string[];
}

/**
 * The conversation as the agent sees it. The user's own tool calls and their results are left out of the
 * messages; their names are kept.
 */
function readMessages(value: unknown): ReadMessages {
  const messages: Message[] = [];
  const userCalls: string[] = [];
  for (const [i, item] of read.list(value, 'messages').entries()) {
    const field = `messages[${i}]`;
    const message = read.object(item, field);
    if (message.role === 'tool' && message.requestor === 'user') continue;
    if (message.role === 'user' && Array.isArray(message.tool_calls) && message.tool_calls.length > 0) {
      for (const call of message.tool_calls)
        if (isObject(call) && typeof call.name === 'string') userCalls.push(call.name);
      if (!contentText(message.content, field)) continue;
    }
    // Several results of one turn may be packed in one message.
    if (message.role === 'tool' && Array.isArray(message.tool_messages)) {
      for (const [j, part] of message.tool_messages.entries())
        messages.push(readChatMessage(part, `${field}.tool_messages[${j}]`));
      continue;
    }
    messages.push(readChatMessage(message, field));
  }
  return { messages, userCalls };
}

/** Full-duplex simulations come as ticks: one line for each chunk that holds words or calls. */
function readTicks(value: unknown): readonly Message[] {
  const messages: Message[] = [];
  for (const [i, item] of read.list(value, 'ticks').entries()) {
    const tick = read.object(item, `ticks[${i}]`);
    for (const side of ['agent_chunk', 'user_chunk'] as const) {
      const chunk = tick[side];
      if (!isObject(chunk)) continue;
      const text = contentText(chunk.content, `ticks[${i}].${side}.content`);
      const calls = Array.isArray(chunk.tool_calls) && chunk.tool_calls.length > 0;
      if (!text && !calls) continue;
      if (side === 'user_chunk') messages.push({ role: 'user', content: text ?? '' });
      else messages.push(readAssistant(chunk, `ticks[${i}].agent_chunk`));
    }
  }
  return messages;
}

function readActions(
  value: unknown,
  field: string,
  everyRequestor: boolean,
): Omit<ReferenceAction, 'kind'>[] {
  return read.list(value ?? [], field).flatMap((item, i) => {
    const action = read.object(item, `${field}[${i}]`);
    if (!everyRequestor && action.requestor === 'user') return [];
    const compare = action.compare_args;
    return [
      {
        name: read.text(action.name, `${field}[${i}].name`),
        arguments: isObject(action.arguments) ? read.plain(action.arguments, `${field}[${i}].arguments`) : {},
        ...(Array.isArray(compare)
          ? { compareArguments: compare.filter((name) => typeof name === 'string') }
          : {}),
      },
    ];
  });
}

/** The reference from the task, or, where the file has no tasks, from what the verifier recorded. */
function readReference(
  task: JsonObject | undefined,
  rewardInfo: JsonObject,
  called: readonly string[],
  solo: boolean,
): Reference | undefined {
  const criteria = task && isObject(task.evaluation_criteria) ? task.evaluation_criteria : undefined;
  const checks = (key: string) => (Array.isArray(rewardInfo[key]) ? rewardInfo[key] : []).filter(isObject);
  if (!criteria && checks('action_checks').length + checks('communicate_checks').length === 0)
    return undefined;

  const known = new Map<string, ToolKind>();
  for (const check of checks('action_checks')) {
    const name = isObject(check.action) ? check.action.name : undefined;
    if (typeof name === 'string' && (check.tool_type === 'read' || check.tool_type === 'write'))
      known.set(name, check.tool_type);
  }
  const actions = criteria
    ? readActions(criteria.actions, 'evaluation_criteria.actions', solo)
    : readActions(
        checks('action_checks').map((check) => check.action),
        'reward_info.action_checks',
        solo,
      );
  const facts = criteria
    ? read.list(criteria.communicate_info ?? [], 'evaluation_criteria.communicate_info')
    : checks('communicate_checks').map((check) => check.info);
  const assertions = criteria?.nl_assertions;
  const basis = criteria?.reward_basis ?? rewardInfo.reward_basis;
  const kinds = toolKinds([...called, ...actions.map((action) => action.name)], known);
  return {
    actions: actions.map((action) => ({ ...action, kind: kinds[action.name]! })),
    requiredFacts: facts.filter((fact): fact is string => typeof fact === 'string'),
    toolKinds: kinds,
    ...(Array.isArray(assertions) && assertions.length > 0
      ? { assertions: assertions.filter((text) => typeof text === 'string') }
      : {}),
    ...(Array.isArray(basis) && !basis.includes('DB') ? { exhaustive: false } : {}),
  };
}

function readChecks(rewardInfo: JsonObject): Check[] {
  const breakdown = rewardInfo.reward_breakdown;
  if (!isObject(breakdown)) return [];
  return Object.entries(breakdown).flatMap(([name, value]) =>
    typeof value === 'number' ? [{ name, passed: value >= PASS }] : [],
  );
}

/**
 * One simulation of τ²-bench as a trajectory.
 * Without a verdict (no `reward_info`) or broken by infrastructure it is excluded. A golden action that the
 * simulated user is to make counts only where the agent plays both sides (solo mode).
 * @throws RecordError naming the wrong field.
 */
export function readSimulation(value: unknown, context: Tau2Context): Trajectory {
  const simulation = read.object(value, '(record)');
  if (!Array.isArray(simulation.messages) && !Array.isArray(simulation.ticks))
    throw new RecordError('no messages and no ticks: this is no simulation of τ²-bench');
  const id = typeof simulation.id === 'string' && simulation.id !== '' ? simulation.id : undefined;
  const named = simulation.task_id ?? null;
  const taskId = named === null ? (id ?? `record-${context.trials.size + 1}`) : read.id(named, 'task_id');
  const seen = context.trials.get(taskId) ?? 0;
  context.trials.set(taskId, seen + 1);
  const trial = Number.isInteger(simulation.trial) ? read.count(simulation.trial, 'trial') : seen;

  const { messages, userCalls } =
    Array.isArray(simulation.messages) && simulation.messages.length > 0
      ? readMessages(simulation.messages)
      : { messages: readTicks(simulation.ticks ?? []), userCalls: [] };
  const termination = read.textOrNull(simulation.termination_reason, 'termination_reason');
  const rewardInfo = isObject(simulation.reward_info) ? simulation.reward_info : {};
  const reward = typeof rewardInfo.reward === 'number' ? Math.min(1, Math.max(0, rewardInfo.reward)) : null;
  const outcome: Outcome =
    reward === null || INFRASTRUCTURE.has(termination ?? '')
      ? 'excluded'
      : reward >= PASS
        ? 'passed'
        : 'failed';
  const environment = isObject(context.info.environment_info) ? context.info.environment_info : {};
  const policy = simulation.policy ?? environment.policy;
  const task = context.tasks.get(taskId);
  const solo = !messages.some((message) => message.role === 'user') && userCalls.length === 0;
  const reference = readReference(task, rewardInfo, calledTools(messages), solo);
  const checks = readChecks(rewardInfo);
  return {
    id: id ?? `${taskId}-${trial}`,
    taskId,
    trial,
    source: 'tau2',
    messages,
    tools: readTools(environment.tool_defs),
    ...(typeof policy === 'string' ? { systemPrompt: policy } : {}),
    reward,
    outcome,
    termination,
    ...(checks.length > 0 ? { checks } : {}),
    ...(reference ? { reference } : {}),
    metadata: {
      ...(outcome === 'excluded'
        ? { excluded: reward === null ? 'no verdict (reward_info has no reward)' : termination }
        : {}),
      ...(typeof environment.domain_name === 'string' ? { domain: environment.domain_name } : {}),
      ...(userCalls.length > 0 ? { userCalls } : {}),
    },
  };
}
