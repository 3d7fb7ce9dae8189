import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { jsonPieces } from '../json-pieces.js';
import { isObject, type JsonObject, RecordError } from '../parse.js';
import { guardRecord, type ReadOptions } from '../store.js';
import type { Trajectory } from '../trajectory.js';
import { readSimulation, type Tau2Context } from './tau2-simulation.js';

/** Context of a results file: what stands beside its simulations. */
function contextOf(members: ReadonlyMap<string, unknown>): Tau2Context {
  const tasks = new Map<string, JsonObject>();
  const list = members.get('tasks');
  if (Array.isArray(list))
    for (const task of list) if (isObject(task) && task.id !== undefined) tasks.set(String(task.id), task);
  const info = members.get('info');
  return { info: isObject(info) ? info : {}, tasks, trials: new Map() };
}

/** Simulation files of the folder form: in the index's order, then whatever else lies there, by name. */
function simulationFiles(folder: string, index: unknown): string[] {
  const present = existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith('.json'))
        .sort()
    : [];
  const indexed = Array.isArray(index)
    ? index.flatMap((entry) =>
        isObject(entry) && entry.id !== undefined ? [`${String(entry.id)}.json`] : [],
      )
    : [];
  return [...new Set([...indexed, ...present])].map((name) => join(folder, name));
}

/**
 * Results of `tau2 run`, read as a stream: one file `{info, tasks, simulations}`, the folder form
 * (`results.json` beside `simulations/`), a bare list of simulations, or one simulation alone.
 * @throws InvalidRecordError at a bad record unless `onInvalid` is given; JsonShapeError for a broken file.
 */
export async function* importTau2(path: string, options: ReadOptions = {}): AsyncGenerator<Trajectory> {
  const file = statSync(path).isDirectory() ? join(path, 'results.json') : path;
  // First all that is not a simulation, since the tasks may stand behind them.
  const members = new Map<string, unknown>();
  let outerList = false;
  for await (const piece of jsonPieces(file, { skip: ['simulations'] })) {
    if (piece.key === null) {
      outerList = true;
      break;
    }
    members.set(piece.key, JSON.parse(piece.text));
  }
  const context = contextOf(members);
  const parse = (text: string) => readSimulation(JSON.parse(text), context);

  if (outerList) {
    for await (const piece of jsonPieces(file)) {
      const trajectory = guardRecord(file, (piece.index ?? 0) + 1, () => parse(piece.text), options);
      if (trajectory) yield trajectory;
    }
    return;
  }
  if (members.has('messages') || members.has('ticks')) {
    const alone = Object.fromEntries(members);
    const trajectory = guardRecord(file, 1, () => readSimulation(alone, context), options);
    if (trajectory) yield trajectory;
    return;
  }
  let record = 0;
  for await (const piece of jsonPieces(file, { open: ['simulations'], skip: ['tasks', 'info'] })) {
    if (piece.key !== 'simulations' || piece.index === null) continue;
    record = piece.index + 1;
    const trajectory = guardRecord(file, record, () => parse(piece.text), options);
    if (trajectory) yield trajectory;
  }
  if (record > 0) return;
  for (const [i, name] of simulationFiles(
    join(dirname(file), 'simulations'),
    members.get('simulation_index'),
  ).entries()) {
    const load = () => {
      if (!existsSync(name))
        throw new RecordError('the index names this simulation, but its file is missing');
      return parse(readFileSync(name, 'utf8'));
    };
    const trajectory = guardRecord(name, i + 1, load, options);
    if (trajectory) yield trajectory;
  }
}
