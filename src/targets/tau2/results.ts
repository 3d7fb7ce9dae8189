import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readJsonFile, readTaskAt, Tau2DataError } from './data.js';
import { type Dict, isDict } from './python/value.js';
import type { Task } from './task.js';

/** A file of simulations, as `tau2 run` writes it. */
export interface ResultsFile {
  readonly path: string;
  /** Null where the file does not say. */
  readonly domain: string | null;
  readonly solo: boolean;
  readonly tasks: ReadonlyMap<string, Task>;
  readonly simulations: readonly Dict[];
}

/**
 * Reads results: one file with `simulations`, a folder with `results.json` beside `simulations/`, a bare list of
 * simulations, or one simulation alone. Whole, with numbers as Python reads them.
 * @throws Tau2DataError for anything else.
 */
export function readResults(path: string): ResultsFile {
  if (!existsSync(path)) throw new Tau2DataError(`${path} does not exist`);
  const file = statSync(path).isDirectory() ? join(path, 'results.json') : path;
  const value = readJsonFile(file);
  if (Array.isArray(value))
    return { path, domain: null, solo: false, tasks: new Map(), simulations: value.filter(isDict) };
  if (!isDict(value)) throw new Tau2DataError(`${file}: neither results nor simulations`);
  if (value.has('messages') || value.has('ticks'))
    return { path, domain: null, solo: false, tasks: new Map(), simulations: [value] };
  const info = dictAt(value, 'info');
  const tasks = new Map<string, Task>();
  const list = value.get('tasks');
  if (Array.isArray(list))
    for (const [i, item] of list.entries()) {
      const task = readTaskAt(item, `${file}: tasks[${i}]`);
      tasks.set(task.id, task);
    }
  const inside = value.get('simulations');
  const simulations = Array.isArray(inside) ? inside.filter(isDict) : readFolder(dirname(file));
  if (simulations.length === 0) throw new Tau2DataError(`${file} holds no simulations`);
  const domain = dictAt(info, 'environment_info').get('domain_name');
  const agent = dictAt(info, 'agent_info').get('implementation');
  return {
    path,
    domain: typeof domain === 'string' ? domain : null,
    solo: typeof agent === 'string' && agent.includes('solo'),
    tasks,
    simulations,
  };
}

function dictAt(dict: Dict, key: string): Dict {
  const value = dict.get(key);
  return isDict(value) ? value : new Map();
}

function readFolder(folder: string): Dict[] {
  const simulations = join(folder, 'simulations');
  if (!existsSync(simulations)) return [];
  return readdirSync(simulations)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => readJsonFile(join(simulations, name)))
    .filter(isDict);
}

/**
 * The messages of a simulation in the order of what happened. A full-duplex simulation comes in ticks: its calls
 * and their answers, the user's first.
 */
export function messagesOf(simulation: Dict): readonly Dict[] {
  const messages = simulation.get('messages');
  if (Array.isArray(messages) && messages.length > 0) return messages.filter(isDict);
  const ticks = simulation.get('ticks');
  if (!Array.isArray(ticks)) return [];
  return ticks.filter(isDict).flatMap((tick) =>
    (['user', 'agent'] as const).flatMap((side): Dict[] => {
      const chunk = dictAt(tick, `${side}_chunk`);
      const calls = tick.get(`${side}_tool_calls`) ?? chunk.get('tool_calls');
      const role = side === 'user' ? 'user' : 'assistant';
      const text = chunk.get('content');
      if (!Array.isArray(calls) || calls.length === 0)
        return typeof text === 'string' && text !== ''
          ? [
              new Map([
                ['role', role],
                ['content', text],
              ]),
            ]
          : [];
      const answers = tick.get(`${side}_tool_results`);
      return [
        new Map<string, unknown>([
          ['role', role],
          ['content', null],
          ['tool_calls', calls],
        ]),
        ...(Array.isArray(answers) ? answers.filter(isDict) : []),
      ];
    }),
  );
}
