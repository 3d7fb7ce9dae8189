import type { ReferenceAction, ToolKind, ToolSchema } from '../../../trajectory/trajectory.js';
import { type LearnedResult, learnResult } from './learn-template.js';
import type { ObservedCall, ObservedTask } from './observations.js';
import { findWords } from './words.js';

/** A read tool in its role, with what its results look like. */
export interface LearnedLookup {
  readonly tool: string;
  readonly parameter: string;
  readonly learned: LearnedResult;
  /** Records seen, by task and key. */
  readonly seen: ReadonlyMap<string, ReadonlyMap<string, unknown>>;
}

export interface Roles {
  /** The record that requests are about: its key is an argument of the writes. */
  readonly entity: LearnedLookup;
  /** The person's own record: its key is in the request. */
  readonly account?: LearnedLookup;
  /** The list to choose from: its key stands in the entity's record. */
  readonly catalog?: LearnedLookup;
}

/** A write or a hand-over of the reference. */
export const changes = (action: ReferenceAction): boolean =>
  action.kind === 'write' || action.kind === 'handover';

export const requiredParameters = (tool: ToolSchema): string[] => {
  const { required, properties } = tool.function.parameters as { required?: string[]; properties?: object };
  return required ?? Object.keys(properties ?? {});
};

/**
 * Finds which read tool plays which part, by where the values of its one parameter come from and go to.
 * @throws Error when no read tool's key is an argument of the reference's writes.
 */
export function learnRoles(
  tasks: readonly ObservedTask[],
  tools: readonly ToolSchema[],
  kinds: { readonly [tool: string]: ToolKind },
): Roles {
  const lookups = tools
    .filter((tool) => kinds[tool.function.name] === 'read' && requiredParameters(tool).length === 1)
    .map((tool) => ({ tool: tool.function.name, parameter: requiredParameters(tool)[0]! }))
    .map((lookup) => ({ ...lookup, calls: readsBeforeWrites(tasks, lookup.tool) }))
    .filter(({ calls }) => calls.length > 0);
  const keysIn = (task: ObservedTask, lookup: (typeof lookups)[number]) =>
    new Set(
      lookup.calls
        .filter(({ taskId }) => taskId === task.taskId)
        .map((call) => String(call.arguments[lookup.parameter])),
    );

  const best = (score: (lookup: (typeof lookups)[number]) => number, without: readonly string[]) => {
    const ranked = lookups
      .filter(({ tool }) => !without.includes(tool))
      .map((lookup) => ({ lookup, score: score(lookup) }))
      .sort((a, b) => b.score - a.score);
    return ranked[0] && ranked[0].score >= 0.5 ? ranked[0].lookup : undefined;
  };
  const share = (lookup: (typeof lookups)[number], holds: (task: ObservedTask, key: string) => boolean) => {
    const pairs = tasks.flatMap((task) => [...keysIn(task, lookup)].map((key) => holds(task, key)));
    return pairs.length === 0 ? 0 : pairs.filter(Boolean).length / pairs.length;
  };

  const entity = best(
    (lookup) =>
      share(lookup, (task, key) =>
        task.actions.some(
          (action) => changes(action) && Object.values(action.arguments).map(String).includes(key),
        ),
      ),
    [],
  );
  if (!entity)
    throw new Error(
      'no read tool returns the record that the reference writes to: the archetype "service" needs a lookup whose key is an argument of the writes',
    );
  const entityTexts = new Map(
    tasks.map((task) => [
      task.taskId,
      entity.calls.filter(({ taskId }) => taskId === task.taskId).map(({ result }) => JSON.stringify(result)),
    ]),
  );
  const account = best(
    (lookup) => share(lookup, (task, key) => task.said.some((text) => findWords(text, key) >= 0)),
    [entity.tool],
  );
  const catalog = best(
    (lookup) =>
      share(lookup, (task, key) =>
        (entityTexts.get(task.taskId) ?? []).some((text) => findWords(text, key) >= 0),
      ),
    [entity.tool, ...(account ? [account.tool] : [])],
  );
  return {
    entity: learnLookup(entity),
    ...(account ? { account: learnLookup(account) } : {}),
    ...(catalog ? { catalog: learnLookup(catalog) } : {}),
  };
}

function readsBeforeWrites(tasks: readonly ObservedTask[], tool: string): ObservedCall[] {
  return tasks
    .flatMap((task) =>
      task.calls.filter((call) => call.tool === tool && !call.error && call.writesBefore === 0),
    )
    .concat(
      tasks.flatMap((task) =>
        task.calls.filter((call) => call.tool === tool && !call.error && call.writesBefore > 0),
      ),
    );
}

function learnLookup(lookup: {
  tool: string;
  parameter: string;
  calls: readonly ObservedCall[];
}): LearnedLookup {
  const seen = new Map<string, Map<string, unknown>>();
  // Reads before any write come first, so that a record is remembered as the request found it.
  for (const call of lookup.calls) {
    const records = seen.get(call.taskId) ?? new Map<string, unknown>();
    seen.set(call.taskId, records);
    const key = String(call.arguments[lookup.parameter]);
    if (!records.has(key)) records.set(key, call.result);
  }
  const learned = learnResult(
    [...seen.values()].flatMap((records) => [...records.values()]),
    lookup.parameter,
  );
  return { tool: lookup.tool, parameter: lookup.parameter, learned, seen };
}
