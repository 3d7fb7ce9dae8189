import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { jsonPieces } from '../json-pieces.js';
import { isObject, type JsonObject, parseTrajectory, RecordError, read } from '../parse.js';
import type { Trajectory } from '../trajectory.js';
import { StepReader } from './atif-steps.js';
import { readTrial, type TrialFacts, trialFolder } from './atif-trial.js';
import { readTools } from './chat.js';
import type { Importer, ImporterOptions, SourceSample } from './importer.js';
import { filesUnder, guardFile, isFolderOf, TrialCounter } from './record-files.js';
import { mapRecords } from './records.js';
import { withoutVerdict } from './rewards.js';
import { kindOf, readHead } from './sample.js';

const MOST_PARTS = 1000;
/** `trajectory.json` of a trial, or a file named for what it holds; not the parts that another file refers to. */
const isTrajectoryName = (name: string) => /(^|[/.])trajectory\.json$/.test(name);

/** Trajectories below a folder. Beside a `trajectory.json`, other names hold an agent's own format. */
function* trajectoryFiles(folder: string): Generator<string> {
  for (const file of filesUnder(folder, isTrajectoryName))
    if (basename(file) === 'trajectory.json' || !existsSync(join(dirname(file), 'trajectory.json')))
      yield file;
}

/** A verdict that an exporter left in the file itself; the format has no field for it. */
function ownVerdict(members: JsonObject): TrialFacts['verdict'] {
  const extra = isObject(members.extra) ? members.extra : {};
  const metrics =
    isObject(members.final_metrics) && isObject(members.final_metrics.extra)
      ? members.final_metrics.extra
      : {};
  const said = extra.success ?? metrics.verdict;
  const passed = said === true || said === 'pass' || said === 'passed' || said === 'success';
  if (passed) return { reward: 1, outcome: 'passed' };
  if (said === false || said === 'fail' || said === 'failed' || said === 'failure')
    return { reward: 0, outcome: 'failed' };
  return withoutVerdict('the format holds no verdict, and no verifier’s result lies beside it');
}

function checkVersion(version: unknown): void {
  if (typeof version !== 'string' || !version.startsWith('ATIF-v1.'))
    throw new RecordError(
      `field schema_version must be ATIF-v1.x, but is ${version === undefined ? 'missing' : JSON.stringify(version)}`,
    );
}

interface Parts {
  /** Members of the first part, without its steps. */
  readonly members: JsonObject;
  readonly steps: StepReader;
  readonly joined: number;
}

/** Reads one file step by step; steps that a continuation repeats from the part before it are left out. */
async function readPart(
  path: string,
  steps: StepReader,
  continuation: boolean,
  { onBytes }: ImporterOptions,
): Promise<JsonObject> {
  const members: Record<string, unknown> = Object.create(null);
  for await (const piece of jsonPieces(path, {
    open: ['steps'],
    skip: ['subagent_trajectories'],
    ...(onBytes && { onBytes }),
  })) {
    const value: unknown = JSON.parse(piece.text);
    if (piece.key === 'steps' && piece.index !== null) {
      if (!(continuation && isObject(value) && value.is_copied_context === true)) steps.take(value);
    } else if (piece.key === null) throw new RecordError('it is a list, not a trajectory');
    else members[piece.key] = value;
  }
  checkVersion(members.schema_version);
  if (members.steps !== undefined) throw new RecordError('field steps must be a list');
  return members;
}

/** The next part, which must lie beside the one that names it. */
function nextPart(path: string, reference: unknown): string | null {
  if (reference === undefined || reference === null) return null;
  const name = isObject(reference) ? reference.trajectory_path : reference;
  if (typeof name !== 'string' || name === '' || name !== basename(name) || /^\.+$|\\/.test(name))
    throw new RecordError(
      `continued_trajectory_ref ${JSON.stringify(name)} does not name a file beside ${path}`,
    );
  const next = join(dirname(path), name);
  if (!existsSync(next) || !statSync(next).isFile())
    throw new RecordError(`its continuation ${name} is missing`);
  return next;
}

async function readParts(path: string, options: ImporterOptions): Promise<Parts> {
  const steps = new StepReader();
  const members = await readPart(path, steps, false, options);
  const seen = new Set([path]);
  let next = nextPart(path, members.continued_trajectory_ref);
  while (next !== null) {
    if (seen.has(next)) throw new RecordError(`its continuations lead back to ${basename(next)}`);
    if (seen.size >= MOST_PARTS) throw new RecordError(`it has more than ${MOST_PARTS} continuations`);
    seen.add(next);
    const part = await readPart(next, steps, true, options);
    next = nextPart(next, part.continued_trajectory_ref);
  }
  return { members, steps, joined: seen.size };
}

interface Named {
  readonly name: string;
  readonly facts: TrialFacts | null;
}

function assemble(
  { members, steps, joined }: Parts,
  { name, facts }: Named,
  trials: TrialCounter,
): Trajectory {
  if (steps.messages.length === 0) throw new RecordError('there are no steps in it');
  const agent = isObject(members.agent) ? members.agent : {};
  const metrics = isObject(members.final_metrics) ? members.final_metrics : {};
  const taskId = facts?.taskId ?? name;
  const trial = trials.next(taskId);
  const { reward, outcome, excluded } = facts?.verdict ?? ownVerdict(members);
  const embedded = steps.subagents.length;
  return parseTrajectory({
    id: facts?.trialName ?? `${taskId}-${trial}`,
    taskId,
    trial,
    source: 'atif',
    messages: steps.messages,
    tools: readTools(agent.tool_definitions),
    reward,
    outcome,
    termination: facts?.exception ?? null,
    ...(facts && facts.checks.length > 0 ? { checks: facts.checks } : {}),
    metadata: {
      ...(excluded ? { excluded } : {}),
      ...(typeof agent.name === 'string' ? { agent: agent.name } : {}),
      ...(typeof agent.model_name === 'string' ? { model: agent.model_name } : {}),
      ...(typeof metrics.total_cost_usd === 'number' ? { cost: metrics.total_cost_usd } : {}),
      ...(joined > 1 ? { partsJoined: joined } : {}),
      ...(embedded > 0 ? { subagentsLeftOut: steps.subagents } : {}),
    },
  });
}

/** A loose file is named by itself; `trajectory.json` by its trial's folder. */
function nameOf(path: string): string {
  const own = basename(path)
    .replace(/\.json$/, '')
    .replace(/\.?trajectory$/, '');
  if (own !== '') return own;
  const folder = dirname(path);
  return basename(basename(folder) === 'agent' ? dirname(folder) : folder) || 'trajectory';
}

async function readFile(path: string, options: ImporterOptions, trials: TrialCounter): Promise<Trajectory> {
  const folder = trialFolder(path);
  const facts = folder === null ? null : readTrial(folder, options.passAt);
  return assemble(await readParts(path, options), { name: nameOf(path), facts }, trials);
}

/** A trajectory that is one record of a list or of lines. */
function readRecord(value: unknown, trials: TrialCounter): Trajectory {
  const members = read.object(value, '(record)');
  checkVersion(members.schema_version);
  const steps = new StepReader();
  for (const step of read.list(members.steps, 'steps')) steps.take(step);
  const id = [members.trajectory_id, members.session_id].find(
    (name) => typeof name === 'string' && name !== '',
  );
  if (id === undefined) throw new RecordError('field session_id is missing');
  return assemble({ members, steps, joined: 1 }, { name: id as string, facts: null }, trials);
}

const isTrajectory = (record: unknown) =>
  isObject(record) && typeof record.schema_version === 'string' && record.schema_version.startsWith('ATIF');

function matches({ kind, keys, records, entries }: SourceSample): boolean {
  if (kind === 'folder') {
    // All that lies in a trial's folder belongs to it: logs of the agent in its own format, artifacts.
    const trial = /(^|.*\/)agent\/trajectory\.json$/;
    const trials = entries.flatMap((entry) => trial.exec(entry)?.[1] ?? []);
    const inTrial = (entry: string) => trials.some((folder) => entry.startsWith(folder));
    const ofJob = (entry: string) => /(^|\/)((result|config|lock)|trajectory\.[^/]+)\.json$/.test(entry);
    return isFolderOf(entries, isTrajectoryName, (entry) => inTrial(entry) || ofJob(entry));
  }
  if (kind === 'object') return keys.has('schema_version') && keys.has('steps');
  return records.some(isTrajectory);
}

/**
 * Trajectories in the agent trajectory interchange format: one file, a list or lines of them, a trial's folder or a job's
 * folder of Harbor. Continuations are joined; the verdict is the verifier's.
 * @throws InvalidRecordError at a trajectory that cannot be read unless `onInvalid` is given; JsonShapeError for a list
 * that is cut off.
 */
async function* importAtif(path: string, options: ImporterOptions): AsyncGenerator<Trajectory> {
  const trials = new TrialCounter();
  const folder = statSync(path).isDirectory();
  if (!folder && kindOf(path, readHead(path)).kind !== 'object') {
    yield* mapRecords(path, options, (value) => readRecord(value, trials));
    return;
  }
  for (const file of folder ? trajectoryFiles(path) : [path]) {
    const trajectory = await guardFile(file, 1, () => readFile(file, options, trials), options);
    if (trajectory) yield trajectory;
  }
}

export const atifImporter: Importer = {
  name: 'atif',
  title: 'ATIF trajectories and trial folders of Harbor (schema_version ATIF-v1.x, steps)',
  matches,
  read: importAtif,
};
