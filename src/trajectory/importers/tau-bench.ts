import { isObject, read } from '../parse.js';
import type { Reference, Trajectory } from '../trajectory.js';
import { calledTools, readChatMessage } from './chat.js';
import type { Importer } from './importer.js';
import { mapRecords } from './records.js';
import { toolKindByName, toolKinds } from './tool-kinds.js';

/** A reward of at least this is a pass; the benchmark gives 0 or 1. */
const PASS = 1 - 1e-6;

function readReference(task: unknown, called: readonly string[]): Reference | undefined {
  if (!isObject(task)) return undefined;
  const actions = read.list(task.actions ?? [], 'info.task.actions').map((value, i) => {
    const action = read.object(value, `info.task.actions[${i}]`);
    const name = read.text(action.name, `info.task.actions[${i}].name`);
    return {
      name,
      arguments: read.plain(action.kwargs ?? action.arguments, `info.task.actions[${i}].kwargs`),
      kind: toolKindByName(name),
    };
  });
  return {
    actions,
    requiredFacts: read
      .list(task.outputs ?? [], 'info.task.outputs')
      .map((fact, i) => read.text(fact, `info.task.outputs[${i}]`)),
    toolKinds: toolKinds([...called, ...actions.map((action) => action.name)]),
  };
}

/**
 * One result of τ-bench v1 (`run.py`): `{task_id, trial, reward, info: {task: {actions, outputs}}, traj}`.
 * A run that broke (`info.error`, no messages) is excluded.
 * @throws RecordError naming the wrong field.
 */
export function readTauBenchResult(value: unknown): Trajectory {
  const result = read.object(value, '(record)');
  const taskId = read.id(result.task_id, 'task_id');
  const trial = result.trial === undefined || result.trial === null ? 0 : read.count(result.trial, 'trial');
  const messages = read.list(result.traj, 'traj').map((item, i) => readChatMessage(item, `traj[${i}]`));
  const info = isObject(result.info) ? result.info : {};
  const broken = typeof info.error === 'string' || messages.length === 0;
  const reward = broken ? null : read.number(result.reward, 'reward');
  const last = messages.at(-1);
  const reference = readReference(info.task, calledTools(messages));
  return {
    id: `${taskId}-${trial}`,
    taskId,
    trial,
    source: 'tau-bench',
    messages,
    tools: [],
    reward: reward === null ? null : Math.min(1, Math.max(0, reward)),
    outcome: reward === null ? 'excluded' : reward >= PASS ? 'passed' : 'failed',
    termination: broken
      ? 'error'
      : last?.role === 'user' && last.content.includes('###STOP###')
        ? 'user_stop'
        : null,
    ...(reference ? { reference } : {}),
    metadata: {
      ...(typeof info.error === 'string' ? { error: info.error } : {}),
      ...(broken ? { excluded: messages.length === 0 ? 'no messages: the run broke' : 'the run broke' } : {}),
    },
  };
}

/** Results of τ-bench v1: a JSON list (or JSONL) of `{task_id, trial, reward, info, traj}`. */
export const tauBenchImporter: Importer = {
  name: 'tau-bench',
  title: 'τ-bench v1 results (a list with traj, reward and info)',
  matches: (sample) =>
    sample.records.some((record) => isObject(record) && Array.isArray(record.traj) && 'task_id' in record),
  read: (path, options) => mapRecords(path, options, readTauBenchResult),
};
