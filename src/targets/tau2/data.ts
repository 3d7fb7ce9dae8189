import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { InputError } from '../../run/errors.js';
import { airlineDatabase } from './airline/models.js';
import { AirlineTools } from './airline/toolkit.js';
import { mockDatabases } from './mock/models.js';
import { MockTools, MockUserTools } from './mock/toolkit.js';
import { loads, PythonJsonError } from './python/json.js';
import { type Dict, isDict } from './python/value.js';
import { retailDatabase } from './retail/models.js';
import { RetailTools } from './retail/toolkit.js';
import { readTask, type Task, TaskError } from './task.js';
import { coupleTelecom } from './telecom/couple.js';
import { telecomDatabases } from './telecom/databases.js';
import { TelecomTools } from './telecom/toolkit.js';
import { TelecomUserTools } from './telecom/user-toolkit.js';
import { parseToml } from './toml.js';
import { World } from './world.js';

export const DOMAINS = ['airline', 'retail', 'telecom', 'mock'] as const;
export type DomainName = (typeof DOMAINS)[number];

/** The benchmark's data is not where it should be, or cannot be read. */
export class Tau2DataError extends InputError {}

/**
 * The folder that holds `domains`: the checkout, its `data`, or `data/tau2`.
 * @throws Tau2DataError where none of them does.
 */
export function dataFolder(path: string): string {
  for (const folder of ['', 'tau2', join('data', 'tau2')].map((part) => resolve(path, part)))
    if (existsSync(join(folder, 'domains'))) return folder;
  throw new Tau2DataError(
    `${path} holds no data of τ²-bench: expected the folder \`domains\` in it, in tau2/ or in data/tau2/. ` +
      'Give the `data` folder of a checkout of github.com/sierra-research/tau2-bench.',
  );
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Tau2DataError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/** A JSON file as Python reads it. @throws Tau2DataError naming the file. */
export function readJsonFile(path: string): unknown {
  try {
    return loads(readText(path));
  } catch (error) {
    if (error instanceof PythonJsonError) throw new Tau2DataError(`${path}: ${error.message}`);
    throw error;
  }
}

function readDict(path: string): Dict {
  const value = readJsonFile(path);
  if (!isDict(value)) throw new Tau2DataError(`${path}: an object is expected`);
  return value;
}

/** Telecom's two forms of the technical support policy. */
export type PolicyForm = 'manual' | 'workflow';

export type OpenWorld = (solo?: boolean) => World;

/** One domain of the benchmark's data, read from the user's checkout. */
export interface Domain {
  readonly name: DomainName;
  /** All tasks that the data holds, by id, in the files' order. */
  readonly tasks: ReadonlyMap<string, Task>;
  /** Ids of each split that the data names. */
  readonly splits: ReadonlyMap<string, readonly string[]>;
  /** Only telecom and mock have a solo mode. */
  readonly hasSolo: boolean;
  policy(solo?: boolean, form?: PolicyForm): string;
  /** A fresh world; the rows of large databases are shared, changes are not. */
  open(solo?: boolean): World;
}

/** Task files in order; the first that names a task wins. Telecom's full set may be missing. */
const TASK_FILES = ['tasks.json', 'tasks_full.json', 'tasks_small.json'];

/** `readTask`, whose complaints are about the user's data. */
export function readTaskAt(value: unknown, where: string): Task {
  try {
    return readTask(value, where);
  } catch (error) {
    if (error instanceof TaskError) throw new Tau2DataError(error.message);
    throw error;
  }
}

function readTasks(folder: string): Map<string, Task> {
  const tasks = new Map<string, Task>();
  const present = TASK_FILES.map((name) => join(folder, name)).filter((path) => existsSync(path));
  if (present.length === 0)
    throw new Tau2DataError(`${folder} holds no tasks: expected ${TASK_FILES[0]} or ${TASK_FILES[2]}`);
  for (const path of present) {
    const value = readJsonFile(path);
    const list = isDict(value) ? value.get('tasks') : value;
    if (!Array.isArray(list)) throw new Tau2DataError(`${path}: a list of tasks is expected`);
    for (const [i, item] of list.entries()) {
      const task = readTaskAt(item, `${path}: [${i}]`);
      if (!tasks.has(task.id)) tasks.set(task.id, task);
    }
  }
  return tasks;
}

function readSplits(folder: string): Map<string, readonly string[]> {
  const path = join(folder, 'split_tasks.json');
  if (!existsSync(path)) return new Map();
  return new Map(
    [...readDict(path)].flatMap(([name, ids]) =>
      Array.isArray(ids) ? [[name, ids.map(String)] as const] : [],
    ),
  );
}

type Opener = (folder: string) => OpenWorld;

const OPENERS: { readonly [domain in DomainName]: Opener } = {
  airline(folder) {
    const open = airlineDatabase(readDict(join(folder, 'db.json')));
    return (solo = false) => new World('airline', new AirlineTools(open()), null, solo);
  },
  retail(folder) {
    const open = retailDatabase(readDict(join(folder, 'db.json')));
    return (solo = false) => new World('retail', new RetailTools(open()), null, solo);
  },
  telecom(folder) {
    const open = telecomDatabases(
      parseTomlFile(join(folder, 'db.toml')),
      parseTomlFile(join(folder, 'user_db.toml')),
    );
    return (solo = false) => {
      const { agent, user } = open();
      return new World('telecom', new TelecomTools(agent), new TelecomUserTools(user), solo, coupleTelecom);
    };
  },
  mock(folder) {
    const open = mockDatabases(readDict(join(folder, 'db.json')), readDict(join(folder, 'user_db.json')));
    return (solo = false) => {
      const { agent, user } = open();
      return new World('mock', new MockTools(agent), new MockUserTools(user), solo);
    };
  },
};

function parseTomlFile(path: string): Dict {
  try {
    return parseToml(readText(path));
  } catch (error) {
    if (error instanceof Tau2DataError) throw error;
    throw new Tau2DataError(`${path}: ${(error as Error).message}`);
  }
}

function readPolicy(folder: string, name: DomainName, solo: boolean, form: PolicyForm): string {
  const read = (file: string) => readText(join(folder, file));
  if (name === 'mock') return read(solo ? 'policy_solo.md' : 'policy.md');
  if (name !== 'telecom') return read('policy.md');
  const main = read(solo ? 'main_policy_solo.md' : 'main_policy.md');
  const support =
    form === 'manual'
      ? 'tech_support_manual.md'
      : solo
        ? 'tech_support_workflow_solo.md'
        : 'tech_support_workflow.md';
  return (
    `<main_policy>\n${main}\n</main_policy>\n` +
    `<tech_support_policy>\n${read(support)}\n</tech_support_policy>`
  );
}

/**
 * Reads a domain from the benchmark's data.
 * @throws Tau2DataError naming the file that is missing or wrong.
 */
export function loadDomain(data: string, name: DomainName): Domain {
  const folder = join(dataFolder(data), 'domains', name);
  if (!existsSync(folder) || !statSync(folder).isDirectory()) throw new Tau2DataError(`${folder} is missing`);
  let open: OpenWorld | null = null;
  return {
    name,
    tasks: readTasks(folder),
    splits: readSplits(folder),
    hasSolo: name === 'telecom' || name === 'mock',
    policy: (solo = false, form = 'manual') => readPolicy(folder, name, solo, form),
    open(solo = false) {
      // Databases are large: read when the first world is opened.
      open ??= OPENERS[name](folder);
      return open(solo);
    },
  };
}
