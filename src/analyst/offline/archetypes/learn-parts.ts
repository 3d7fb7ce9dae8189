import type { ReferenceAction, ToolSchema } from '../../../trajectory/trajectory.js';
import type { AuthorContext } from '../../contract.js';
import { type ArgumentSource, filled, fillText, keyAttribute, type ObservedCase } from './learn-arguments.js';
import { changes, type LearnedLookup, type Roles } from './learn-roles.js';
import { leafText } from './learn-template.js';
import {
  type Clause,
  type Dissection,
  type LearnedWording,
  matchWording,
  type RequestText,
  type RequestValues,
  templatesOf,
} from './learn-wordings.js';
import type { ObservedTask } from './observations.js';
import type { Lookup, Maker, Template, World } from './service/world.js';
import { learnMaker } from './values.js';
import { findWords, mostFrequent, wordsOf } from './words.js';

export type Values = { readonly [attribute: string]: string };

/** A write (or the hand-over) with what explains its arguments. */
export interface LearnedChange {
  readonly tool: string;
  readonly cases: readonly ObservedCase[];
  readonly sources: { readonly [parameter: string]: ArgumentSource };
}

/** What the learned arguments say of the records: which list a request names one of, which it chooses from. */
export interface Parts {
  readonly roles: Roles;
  readonly lines?: string | undefined;
  readonly choice?: string | undefined;
  /** Attribute of a line that the catalog is asked with. */
  readonly catalogKey?: string | undefined;
}

export function catalogKeyOf(
  roles: Roles,
  tasks: readonly ObservedTask[],
  lines: string,
): string | undefined {
  const found: string[] = [];
  for (const { taskId } of tasks) {
    const keys = new Set(roles.catalog?.seen.get(taskId)?.keys() ?? []);
    for (const result of roles.entity.seen.get(taskId)?.values() ?? [])
      for (const row of roles.entity.learned.read(result)?.lists[lines] ?? [])
        for (const [attribute, value] of Object.entries(row)) if (keys.has(value)) found.push(attribute);
  }
  return mostFrequent(found);
}

/** Attributes of a reference action's request, the option that was chosen and what it was chosen from. */
export function valuesOf(
  change: LearnedChange,
  one: ObservedCase,
  parts: Parts,
): Omit<RequestValues, 'tool'> {
  const { roles, lines, choice, catalogKey } = parts;
  const values: { [attribute: string]: string } = { [keyAttribute(roles.entity)]: one.key };
  const rowOf = (rows: readonly Values[] | undefined, list: string | undefined) => {
    const own = Object.entries(change.sources).filter(([, source]) => list && source.list === list);
    if (own.length === 0) return null;
    return (
      rows?.find((row) =>
        own.every(
          ([parameter, { template }]) => fillText(template, row) === String(one.action.arguments[parameter]),
        ),
      ) ?? null
    );
  };
  const line = rowOf(lines ? one.entity?.lists[lines] : undefined, lines);
  Object.assign(values, line);
  let chosen: Values | null = null;
  let options: readonly Values[] = [];
  for (const [key, record] of one.catalogs) {
    if (!choice || (line && catalogKey && line[catalogKey] !== key)) continue;
    const row = rowOf(record.lists[choice], choice);
    if (!row) continue;
    chosen = row;
    options = record.lists[choice]!;
    Object.assign(values, row);
    break;
  }
  for (const [parameter, source] of Object.entries(change.sources)) {
    if (source.from !== 'person') continue;
    const words = wordsOf(String(one.action.arguments[parameter]));
    [...source.template.matchAll(/\{([^{}]+)\}/g)].forEach((match, i) => {
      if (words[i]) values[match[1]!] = words[i].text;
    });
  }
  return { key: one.key, values, chosen, options };
}

/** The person's message with what its requests are about. */
export function requestText(
  task: ObservedTask,
  cases: readonly ObservedCase[],
  writes: readonly LearnedChange[],
  parts: Parts,
): RequestText {
  const own = cases.filter((one) => one.task === task);
  const keys = new Set(
    [...(parts.roles.entity.seen.get(task.taskId)?.keys() ?? []), ...own.map(({ key }) => key)].filter(
      (key) => findWords(task.request, key) >= 0,
    ),
  );
  const account = [...(parts.roles.account?.seen.get(task.taskId)?.keys() ?? [])].find((key) =>
    task.said.some((text) => findWords(text, key) >= 0),
  );
  return {
    taskId: task.taskId,
    text: task.request,
    account: account === undefined ? {} : { [keyAttribute(parts.roles.account!)]: account },
    requests: [...keys].map((key): RequestValues => {
      for (const write of writes) {
        const one = write.cases.find((other) => other.task === task && other.key === key);
        if (one) return { tool: write.tool, ...valuesOf(write, one, parts) };
      }
      return {
        key,
        tool: null,
        values: { [keyAttribute(parts.roles.entity)]: key },
        chosen: null,
        options: [],
      };
    }),
  };
}

/** Which tool a clause asks for: the reference's, or the one whose wording it has. */
export function toolOf(
  clause: Clause,
  wordings: ReadonlyMap<string, readonly LearnedWording[]>,
): string | null {
  if (clause.request.tool) return clause.request.tool;
  for (const [tool, known] of wordings) if (matchWording(clause.text, known)) return tool;
  return null;
}

/** An attribute of the entity that decides whether the reference executes a request, by tool. */
export interface LearnedStatus {
  readonly attribute: string;
  readonly allowed: ReadonlyMap<string, readonly string[]>;
  readonly forbidden: ReadonlyMap<string, readonly string[]>;
}

export function learnStatus(
  roles: Roles,
  clauses: readonly Clause[],
  wordings: ReadonlyMap<string, readonly LearnedWording[]>,
): LearnedStatus | null {
  const judged = clauses.flatMap((clause) => {
    const tool = toolOf(clause, wordings);
    const result = roles.entity.seen.get(clause.taskId)?.get(clause.request.key);
    const record = result === undefined ? null : roles.entity.learned.read(result);
    return tool && record ? [{ tool, values: record.values, done: clause.request.tool !== null }] : [];
  });
  let best: { status: LearnedStatus; purity: number } | null = null;
  for (const attribute of new Set(judged.flatMap(({ values }) => Object.keys(values)))) {
    const counts = new Map<string, Map<string, { done: number; refused: number }>>();
    for (const { tool, values, done } of judged) {
      const value = values[attribute];
      if (value === undefined) continue;
      const byValue = counts.get(tool) ?? new Map<string, { done: number; refused: number }>();
      counts.set(tool, byValue);
      const count = byValue.get(value) ?? { done: 0, refused: 0 };
      byValue.set(value, count);
      if (done) count.done++;
      else count.refused++;
    }
    const all = [...counts.values()].flatMap((byValue) => [...byValue.values()]);
    const total = all.reduce((sum, { done, refused }) => sum + done + refused, 0);
    const purity =
      all.reduce((sum, { done, refused }) => sum + Math.max(done, refused), 0) / Math.max(1, total);
    const refused = all.reduce((sum, count) => sum + count.refused, 0);
    // A vocabulary, not a code: the same values have to come back.
    if (refused === 0 || all.length > total / 2 || purity < 0.9 || (best && purity <= best.purity)) continue;
    const pick = (wanted: (count: { done: number; refused: number }) => boolean) =>
      new Map(
        [...counts].map(([tool, byValue]) => [
          tool,
          [...byValue]
            .filter(([, c]) => wanted(c))
            .map(([v]) => v)
            .sort(),
        ]),
      );
    best = {
      status: {
        attribute,
        allowed: pick((c) => c.done > c.refused),
        forbidden: pick((c) => c.refused > c.done),
      },
      purity,
    };
  }
  return best?.status ?? null;
}

/** An argument that is a value of the entity and, always, one of a list of the person's account. */
export function referenceOf(
  roles: Roles,
  cases: readonly ObservedCase[],
  writes: readonly LearnedChange[],
): World['reference'] {
  const templates = new Set(
    writes.flatMap(({ sources }) =>
      Object.values(sources)
        .filter(({ from, list }) => from === 'entity' && list === null)
        .map(({ template }) => template),
    ),
  );
  const names = (template: string) => [...template.matchAll(/\{([^{}]+)\}/g)].map((match) => match[1]!);
  for (const template of templates)
    for (const { list, leaf } of roles.account?.learned.leaves ?? []) {
      const element = leafText(leaf);
      if (list === null || names(element).length !== names(template).length) continue;
      const judged = cases.filter(({ entity, account }) => entity && account);
      const holds = judged.filter(({ entity, account }) =>
        account!.lists[list]?.some((row) => fillText(element, row) === fillText(template, entity!.values)),
      );
      if (judged.length > 0 && holds.length >= 0.95 * judged.length)
        return {
          list,
          attributes: Object.fromEntries(names(template).map((name, i) => [name, names(element)[i]!])),
        };
    }
  return undefined;
}

/** Questions of the agent that the person answers, and how. */
export function dialogueOf(
  tasks: readonly ObservedTask[],
  requests: readonly RequestText[],
): World['dialogue'] {
  const pairs = tasks.flatMap((task) => {
    const text = requests.find(({ taskId }) => taskId === task.taskId)!;
    const values = Object.assign(
      {},
      text.account,
      ...text.requests.map((request) => request.values),
    ) as Values;
    return task.exchanges.map(({ question, answer }) => ({ taskId: task.taskId, question, answer, values }));
  });
  const questions = templatesOf(
    pairs.map(({ question, values }, i) => ({ text: question, values, id: String(i) })),
  );
  return questions
    .map(({ template, ids }) => {
      const members = ids.map((id) => pairs[Number(id)]!);
      const answers = templatesOf(
        members.map(({ answer, values }, i) => ({ text: answer, values, id: String(i) })),
      );
      answers.sort((a, b) => b.ids.length - a.ids.length);
      return {
        question: template,
        answer: answers[0]!.template,
        tasks: new Set(members.map((m) => m.taskId)).size,
      };
    })
    .filter(({ tasks: seen }) => seen >= Math.max(2, 0.02 * tasks.length))
    .sort((a, b) => b.tasks - a.tasks || (a.question < b.question ? -1 : 1))
    .map(({ question, answer }) => ({ question, answer }));
}

/** Argument templates of a call; a parameter of a number type gets a number. */
export function argumentTemplates(
  change: LearnedChange,
  tools: readonly ToolSchema[],
): { [parameter: string]: Template } {
  const schema = tools.find((tool) => tool.function.name === change.tool)!.function.parameters as {
    properties?: { [name: string]: { type?: string } };
  };
  return Object.fromEntries(
    Object.entries(change.sources).map(([parameter, { template }]) => {
      const type = schema.properties?.[parameter]?.type;
      const numeric = (type === 'number' || type === 'integer') && /^\{[^{}#]+\}$/.test(template);
      return [parameter, numeric ? `{#${template.slice(1)}` : template];
    }),
  );
}

/** What a write answers, with the key of its record as a placeholder. */
export function doneOf(tasks: readonly ObservedTask[], change: LearnedChange, roles: Roles): Template {
  const key = Object.entries(change.sources).find(([, { from }]) => from === 'key')?.[0];
  const answers = tasks.flatMap((task) =>
    task.calls
      .filter(({ tool, error }) => tool === change.tool && !error)
      .map((call) => {
        const value = key === undefined ? undefined : call.arguments[key];
        return JSON.stringify(
          mapStrings(
            call.result,
            (text) =>
              templatesOf([
                {
                  text,
                  id: '',
                  values: value === undefined ? {} : { [keyAttribute(roles.entity)]: String(value) },
                },
              ])[0]!.template,
          ),
        );
      }),
  );
  return JSON.parse(mostFrequent(answers) ?? '{"ok":true}') as Template;
}

/** Does a write look whether its arguments exist? Then a call about a known record was refused at least once. */
export function checksArguments(tasks: readonly ObservedTask[], roles: Roles): boolean {
  return tasks.some((task) =>
    task.calls.some(
      (call) =>
        call.kind === 'write' &&
        call.error &&
        Object.values(call.arguments).some((value) => roles.entity.seen.get(task.taskId)?.has(String(value))),
    ),
  );
}

export function unknownOf(tasks: readonly ObservedTask[]): Template {
  const answers = tasks.flatMap(({ calls }) =>
    calls.filter(({ error }) => error).map(({ result }) => JSON.stringify(result)),
  );
  return JSON.parse(mostFrequent(answers) ?? '{"error":"not found"}') as Template;
}

function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((part) => mapStrings(part, change));
  if (value && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, mapStrings(part, change)]));
  return value;
}

/** What has to be said of a request that ended in this call, where the reference has one fact a change. */
export function factOf(change: LearnedChange, parts: Parts): string {
  const facts = change.cases.flatMap((one, i) => {
    const { actions, facts: all } = one.task;
    const made = actions.filter((action: ReferenceAction) => changes(action));
    const fact = all[made.indexOf(one.action)];
    if (all.length !== made.length || fact === undefined) return [];
    return [{ text: fact, values: valuesOf(change, one, parts).values, id: String(i) }];
  });
  const ranked = templatesOf(facts).sort((a, b) => b.ids.length - a.ids.length);
  return ranked[0]?.template ?? '';
}

/** How a message begins, and what joins and ends its requests. */
export function frameOf(
  dissections: readonly { readonly text: RequestText; readonly parts: Dissection | null }[],
): { opening: string; joints: [string, string, string] } {
  const good = dissections.flatMap(({ text, parts }) => (parts ? [{ text, parts }] : []));
  const openings = templatesOf(
    good.map(({ text, parts }, i) => ({ text: parts.opening, values: text.account, id: String(i) })),
  ).sort((a, b) => b.ids.length - a.ids.length);
  const last = mostFrequent(good.flatMap(({ parts }) => parts.joints.slice(-1)));
  const inner = mostFrequent(good.flatMap(({ parts }) => parts.joints.slice(0, -1)));
  return {
    opening: openings[0]?.template ?? '',
    joints: [
      inner ?? last ?? ', ',
      last ?? ' and ',
      mostFrequent(good.map(({ parts }) => parts.ending)) ?? '.',
    ],
  };
}

/** The form of the last words of passed attempts: what stands around and between the facts. */
export function replyOf(tasks: readonly ObservedTask[]): World['reply'] {
  const around: string[] = [];
  const between: string[] = [];
  for (const task of tasks)
    for (const reply of task.replies) {
      let at = 0;
      const gaps: string[] = [];
      for (const fact of task.facts) {
        const found = reply.toLowerCase().indexOf(fact.toLowerCase(), at);
        if (found < 0) break;
        gaps.push(reply.slice(at, found));
        at = found + fact.length;
      }
      if (gaps.length < task.facts.length) continue;
      const [before = reply, ...rest] = gaps;
      around.push(JSON.stringify([before, task.facts.length > 0 ? reply.slice(at) : '']));
      between.push(...rest);
    }
  const [before, after] = JSON.parse(mostFrequent(around) ?? '["",""]') as [string, string];
  return { before, between: mostFrequent(between) ?? ', ', after };
}

/** Refused calls that end an attempt, when all attempts that ended by errors agree. */
export function mostErrorsOf(context: AuthorContext): number | undefined {
  const counts = new Set(
    context.trajectories
      .filter(({ termination }) => termination !== null && /error/i.test(termination))
      .map(({ messages }) => messages.filter((message) => message.role === 'tool' && message.error).length),
  );
  const [count] = counts;
  return counts.size === 1 && count! > 0 ? count : undefined;
}

export function systemPromptOf(context: AuthorContext): string {
  const prompts = context.trajectories.flatMap((trajectory) => {
    const first = trajectory.messages[0];
    const text = first?.role === 'system' ? first.content : trajectory.systemPrompt;
    return text === undefined ? [] : [text];
  });
  return mostFrequent(prompts) ?? '';
}

/** A lookup's result; text that only repeats a key is that key. */
export function lookupOf(lookup: LearnedLookup, key: string, account: LearnedLookup | undefined): Lookup {
  const records = [...lookup.seen].flatMap(([taskId, byKey]) =>
    [...byKey].map(([own, result]) => ({ own, taskId, values: lookup.learned.read(result)?.values })),
  );
  const aliases = new Map<string, string>();
  for (const { list, leaf } of lookup.learned.leaves) {
    if (list !== null) continue;
    const texts = records.map((record) => ({
      ...record,
      text: record.values && filled(leaf, record.values),
    }));
    const known = texts.filter(({ text }) => typeof text === 'string');
    if (known.length < 3) continue;
    if (known.every(({ own, text }) => text === own)) aliases.set(leafText(leaf), `{${key}}`);
    else if (account && known.every(({ taskId, text }) => account.seen.get(taskId)?.has(text!)))
      aliases.set(leafText(leaf), `{${keyAttribute(account)}}`);
  }
  const result = mapStrings(lookup.learned.template, (text) => aliases.get(text) ?? text) as Template;
  return { tool: lookup.tool, parameter: lookup.parameter, result };
}

/** How values of every attribute are made. */
export function makersOf(
  lookups: readonly LearnedLookup[],
  tasks: readonly ObservedTask[],
  requests: readonly RequestText[],
): { [attribute: string]: Maker } {
  const values = new Map<string, string[]>();
  const add = (attribute: string, more: readonly string[]) =>
    values.set(attribute, [...(values.get(attribute) ?? []), ...more]);
  for (const lookup of lookups) {
    add(
      keyAttribute(lookup),
      [...lookup.seen.values()].flatMap((records) => [...records.keys()]),
    );
    for (const [attribute, seen] of lookup.learned.values) add(attribute, seen);
  }
  for (const { requests: parts } of requests)
    for (const { values: own } of parts)
      for (const [attribute, value] of Object.entries(own))
        if (!values.has(attribute) || person(attribute)) add(attribute, [value]);
  function person(attribute: string): boolean {
    return !lookups.some(({ learned }) => learned.values.has(attribute)) && !attribute.endsWith('.key');
  }
  const passed = new Set(
    tasks.flatMap((task) =>
      [...task.actions, ...task.calls].flatMap((call) =>
        Object.values(call.arguments).flatMap((value) => wordsOf(String(value)).map(({ text }) => text)),
      ),
    ),
  );
  const makers: { [attribute: string]: Maker } = {};
  for (const [attribute, seen] of values) {
    const distinct = new Set(seen);
    const vocabulary = distinct.size <= 12 && seen.length >= 4 * distinct.size;
    const code = !vocabulary && [...distinct].some((value) => /\p{N}/u.test(value) && passed.has(value));
    makers[attribute] = learnMaker(seen, code);
  }
  return makers;
}
