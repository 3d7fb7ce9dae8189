import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { JsonShapeError, jsonPieces } from '../json-pieces.js';
import { isObject, type JsonObject, RecordError } from '../parse.js';
import { guardRecord, reasonOf } from '../store.js';
import type { Trajectory } from '../trajectory.js';
import type { Importer, ImporterOptions, SourceSample } from './importer.js';
import { mapRecords } from './records.js';
import { kindOf, readHead } from './sample.js';
import { readSimulation, type Tau2Context } from './tau2-simulation.js';

/** An id as text; null for what is none. */
const idText = (id: unknown) => (typeof id === 'string' || typeof id === 'number' ? String(id) : null);

/** Context of a results file: what stands beside its simulations. */
function contextOf(members: ReadonlyMap<string, unknown>): Tau2Context {
  const tasks = new Map<string, JsonObject>();
  const list = members.get('tasks');
  if (Array.isArray(list))
    for (const task of list) {
      const id = isObject(task) ? idText(task.id) : null;
      if (id !== null) tasks.set(id, task);
    }
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
    ? index.flatMap((entry) => {
        const id = isObject(entry) ? idText(entry.id) : null;
        return id === null ? [] : [`${basename(id)}.json`];
      })
    : [];
  return [...new Set([...indexed, ...present])].map((name) => join(folder, name));
}

/** Members of the outer object that are not simulations: the tasks may stand behind them. */
async function readMembers(file: string): Promise<Map<string, unknown>> {
  const members = new Map<string, unknown>();
  for await (const piece of jsonPieces(file, { skip: ['simulations'] })) {
    try {
      members.set(piece.key!, JSON.parse(piece.text));
    } catch (error) {
      throw new JsonShapeError(`its member ${JSON.stringify(piece.key)} is ${reasonOf(error)}`);
    }
  }
  return members;
}

/**
 * Results of `tau2 run`, read as a stream: one file `{info, tasks, simulations}`, the folder form
 * (`results.json` beside `simulations/`), a bare list or lines of simulations, or one simulation alone.
 * @throws InvalidRecordError at a bad record unless `onInvalid` is given; JsonShapeError for a broken file.
 */
async function* readTau2(path: string, options: ImporterOptions): AsyncGenerator<Trajectory> {
  const file = statSync(path).isDirectory() ? join(path, 'results.json') : path;
  if (!existsSync(file)) throw new JsonShapeError('a folder without results.json');
  if (kindOf(file, readHead(file)).kind !== 'object') {
    const context = contextOf(new Map());
    yield* mapRecords(file, options, (value) => readSimulation(value, context));
    return;
  }
  const members = await readMembers(file);
  const context = contextOf(members);
  if (members.has('messages') || members.has('ticks')) {
    const alone = Object.fromEntries(members);
    const trajectory = guardRecord(file, 1, () => readSimulation(alone, context), options);
    if (trajectory) yield trajectory;
    return;
  }
  let record = 0;
  const { onBytes } = options;
  const others = [...members.keys()];
  for await (const piece of jsonPieces(file, {
    open: ['simulations'],
    skip: others,
    ...(onBytes && { onBytes }),
  })) {
    if (piece.index === null) continue;
    record = piece.index + 1;
    const trajectory = guardRecord(
      file,
      record,
      () => readSimulation(JSON.parse(piece.text), context),
      options,
    );
    if (trajectory) yield trajectory;
  }
  if (record > 0) return;
  const files = simulationFiles(join(dirname(file), 'simulations'), members.get('simulation_index'));
  for (const [i, name] of files.entries()) {
    const load = () => {
      if (!existsSync(name))
        throw new RecordError('the index names this simulation, but its file is missing');
      const text = readFileSync(name, 'utf8');
      onBytes?.(text.length);
      return readSimulation(JSON.parse(text), context);
    };
    const trajectory = guardRecord(name, i + 1, load, options);
    if (trajectory) yield trajectory;
  }
}

function isSimulation(has: (key: string) => boolean): boolean {
  return (has('messages') || has('ticks')) && (has('termination_reason') || has('reward_info'));
}

function matches({ kind, keys, records, entries }: SourceSample): boolean {
  switch (kind) {
    case 'folder':
      return (
        entries.includes('results.json') && entries.some((entry) => /^simulations\/[^/]+\.json$/.test(entry))
      );
    case 'zip':
      return false;
    case 'object':
      return keys.has('simulations') || keys.has('simulation_index') || isSimulation((key) => keys.has(key));
    default:
      return records.some((record) => isObject(record) && isSimulation((key) => key in record));
  }
}

/** Results of τ²-bench in all the forms its versions have written. */
export const tau2Importer: Importer = {
  name: 'tau2',
  title:
    'τ²-bench results (simulations with messages and reward_info; one file, or results.json and simulations/)',
  matches,
  read: readTau2,
};
