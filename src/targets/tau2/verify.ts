import { DOMAINS, type Domain, type DomainName, loadDomain, readJsonFile, Tau2DataError } from './data.js';
import { recordedCalls } from './messages.js';
import { type Dict, equal, isDict, PythonError } from './python/value.js';
import type { Task } from './task.js';
import { responseText, type World } from './world.js';

/** What the golden actions of a task leave behind, on the evaluator's path and on a live conversation's. */
export interface GoldenRun {
  readonly initial: ReturnType<World['hashes']>;
  readonly evaluator: GoldenPath;
  readonly live: GoldenPath;
}
export interface GoldenPath {
  readonly hashes: ReturnType<World['hashes']>;
  readonly outputs: readonly { readonly content: string; readonly error: boolean }[];
  /** Whether each env assertion holds at the end; null where it cannot be evaluated. */
  readonly assertions: readonly (boolean | null)[];
}

/** Runs the golden actions of a task both ways: without coupling between calls, and with it. */
export function runGolden(domain: Domain, task: Task): GoldenRun {
  const open = (): World => {
    const world = domain.open();
    world.setState(task.initial, recordedCalls(task.initial?.history ?? []), true);
    return world;
  };
  const run = (live: boolean): GoldenPath => {
    const world = open();
    const outputs = (task.criteria?.actions ?? []).map((action) => {
      if (live) return world.respond(action.name, action.requestor, action.arguments);
      try {
        const value = world.use(action.name, action.requestor, action.arguments);
        return { content: responseText(value), error: false };
      } catch (error) {
        if (!(error instanceof PythonError)) throw error;
        return { content: `Error: ${error.message}`, error: true };
      }
    });
    const hashes = world.hashes();
    const assertions = (task.criteria?.assertions ?? []).map((assertion) => {
      try {
        return world.holds(assertion);
      } catch (error) {
        if (!(error instanceof PythonError)) throw error;
        return null;
      }
    });
    return { hashes, outputs, assertions };
  };
  return { initial: open().hashes(), evaluator: run(false), live: run(true) };
}

/** How a domain compares with recorded values. */
export interface Verification {
  readonly domain: DomainName;
  readonly hashes: Tally;
  /** Null without a file of outputs. */
  readonly outputs: Tally | null;
  /** Tasks of the recorded values that the data does not hold. */
  readonly absent: readonly string[];
  /** The first difference, in words; null where there is none. */
  readonly difference: string | null;
}
export interface Tally {
  readonly equal: number;
  readonly total: number;
}

/** Collects comparisons; keeps the first difference. */
class Comparison {
  equal = 0;
  total = 0;
  constructor(private readonly report: (difference: string) => void) {}

  /** One thing that is counted, made of several values. */
  count(checks: readonly (readonly [what: string, expected: unknown, found: unknown])[]): void {
    this.total++;
    const wrong = checks.find(([, expected, found]) => !equal(expected ?? null, found ?? null));
    if (!wrong) this.equal++;
    else this.report(`${wrong[0]}\n  expected ${show(wrong[1])}\n  found    ${show(wrong[2])}`);
  }
  get tally(): Tally {
    return { equal: this.equal, total: this.total };
  }
}

const show = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));

/**
 * Compares the golden actions of every task in a file of recorded hashes (and of outputs) with ours.
 * @throws Tau2DataError for a file that is none of these.
 */
export function verify(data: string, hashesFile: string, outputsFile?: string): Verification[] {
  const hashes = domainsOf(hashesFile);
  const outputs = outputsFile === undefined ? null : domainsOf(outputsFile);
  const names = DOMAINS.filter((name) => hashes.has(name) || outputs?.has(name));
  return names.map((name) => verifyDomain(loadDomain(data, name), hashes.get(name), outputs?.get(name)));
}

function domainsOf(file: string): Dict {
  const value = readJsonFile(file);
  const domains = isDict(value) ? (value.get('domains') ?? value) : null;
  if (!isDict(domains) || !DOMAINS.some((name) => domains.has(name)))
    throw new Tau2DataError(`${file}: expected recorded values by domain (${DOMAINS.join(', ')})`);
  return domains;
}

function verifyDomain(domain: Domain, hashesValue: unknown, outputsValue: unknown): Verification {
  const hashesOf = isDict(hashesValue) ? hashesValue : new Map<string, unknown>();
  const hashTasks = isDict(hashesOf.get('tasks'))
    ? (hashesOf.get('tasks') as Dict)
    : new Map<string, unknown>();
  const outputTasks = isDict(outputsValue)
    ? ((isDict(outputsValue.get('tasks')) ? outputsValue.get('tasks') : outputsValue) as Dict)
    : null;
  let difference: string | null = null;
  const report = (text: string) => {
    difference ??= text;
  };
  const hashes = new Comparison(report);
  const outputs = new Comparison(report);
  const absent: string[] = [];
  for (const id of new Set([...hashTasks.keys(), ...(outputTasks?.keys() ?? [])])) {
    const task = domain.tasks.get(id);
    if (!task) {
      absent.push(id);
      continue;
    }
    const run = runGolden(domain, task);
    const where = `${domain.name} task ${id}`;
    const expected = hashTasks.get(id);
    if (isDict(expected)) hashes.count(hashChecks(where, expected, run));
    const recorded = outputTasks?.get(id);
    if (isDict(recorded)) {
      compareOutputs(outputs, where, task, recorded, run);
    }
  }
  const fresh = domain.open().hashes();
  for (const [key, found] of [
    ['default_initial_db_hash', fresh.agent],
    ['default_initial_user_db_hash', fresh.user],
  ] as const)
    if (hashesOf.has(key) && !equal(hashesOf.get(key), found))
      report(`${domain.name}: ${key}\n  expected ${show(hashesOf.get(key))}\n  found    ${show(found)}`);
  return {
    domain: domain.name,
    hashes: hashes.tally,
    outputs: outputTasks ? outputs.tally : null,
    absent,
    difference,
  };
}

/** Every value that a record of hashes names. */
function hashChecks(where: string, expected: Dict, run: GoldenRun) {
  const live = isDict(expected.get('live')) ? (expected.get('live') as Dict) : new Map<string, unknown>();
  const known: readonly (readonly [Dict, string, unknown])[] = [
    [expected, 'initial_db_hash', run.initial.agent],
    [expected, 'initial_user_db_hash', run.initial.user],
    [expected, 'golden_db_hash', run.evaluator.hashes.agent],
    [expected, 'golden_user_db_hash', run.evaluator.hashes.user],
    [expected, 'n_actions', run.evaluator.outputs.length],
    [expected, 'n_errors', run.evaluator.outputs.filter((output) => output.error).length],
    [expected, 'env_assertions_after_golden', run.evaluator.assertions],
    [live, 'db_hash', run.live.hashes.agent],
    [live, 'user_db_hash', run.live.hashes.user],
    [live, 'env_assertions', run.live.assertions],
  ];
  return known
    .filter(([record, key]) => record.has(key))
    .map(
      ([record, key, found]) =>
        [`${where}: ${record === live ? 'live.' : ''}${key}`, record.get(key), found] as const,
    );
}

/** Each golden action counts once; both paths have to be equal. */
function compareOutputs(
  outputs: Comparison,
  where: string,
  task: Task,
  recorded: Dict,
  run: GoldenRun,
): void {
  const lists = (['evaluator', 'live'] as const).map((path) => {
    const list = recorded.get(path);
    return { path, list: Array.isArray(list) ? list.filter(isDict) : null };
  });
  const count = Math.max(...lists.map(({ list }) => list?.length ?? 0));
  for (let i = 0; i < count; i++) {
    const checks = lists.flatMap(({ path, list }) => {
      const expected = list?.[i];
      if (!expected) return [];
      const found = run[path].outputs[i];
      const what = `${where}: ${path} output ${i + 1} (${task.criteria?.actions?.[i]?.name ?? 'no such action'})`;
      return [
        [what, expected.get('content'), found?.content] as const,
        [`${what} error`, expected.get('error') ?? false, found?.error] as const,
      ];
    });
    outputs.count(checks);
  }
}
