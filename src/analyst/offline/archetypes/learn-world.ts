import type { ToolKind } from '../../../trajectory/trajectory.js';
import type { AuthorContext } from '../../contract.js';
import { type ArgumentSource, keyAttribute, learnArgument, observeCases } from './learn-arguments.js';
import {
  argumentTemplates,
  catalogKeyOf,
  checksArguments,
  dialogueOf,
  doneOf,
  factOf,
  frameOf,
  type LearnedChange,
  learnStatus,
  lookupOf,
  makersOf,
  mostErrorsOf,
  type Parts,
  referenceOf,
  replyOf,
  requestText,
  systemPromptOf,
  toolOf,
  unknownOf,
} from './learn-parts.js';
import { learnRoles, requiredParameters } from './learn-roles.js';
import { commonOpening, dissect, type LearnedWording, learnWordings } from './learn-wordings.js';
import { observe } from './observations.js';
import type { World, Write } from './service/world.js';
import { mostFrequent } from './words.js';

/**
 * Learns everything that the archetype "service" needs to know of a target from its schemas and from base rollouts
 * on its training split. Only forms and vocabularies are kept, never a task.
 * @throws Error saying which part of the archetype the target has no counterpart for.
 */
export function learnWorld(context: AuthorContext): World {
  const { tools, toolKinds: kinds, name, maxTurns } = context.target;
  const tasks = observe(context.trajectories, kinds);
  const roles = learnRoles(tasks, tools, kinds);
  const cases = observeCases(tasks, roles);
  const changesOf = (kind: ToolKind) =>
    tools
      .filter((tool) => kinds[tool.function.name] === kind)
      .flatMap((tool): LearnedChange[] => {
        const own = cases.filter(({ action }) => action.name === tool.function.name);
        const sources: { [parameter: string]: ArgumentSource } = {};
        for (const parameter of requiredParameters(tool)) {
          const source = own.length > 0 ? learnArgument(own, parameter, roles) : null;
          if (!source) return [];
          sources[parameter] = source;
        }
        return [{ tool: tool.function.name, cases: own, sources }];
      });
  const writes = changesOf('write');
  if (writes.length === 0)
    throw new Error('no write tool of the target could be explained from the base rollouts');
  const [handover] = changesOf('handover');

  const all = writes.flatMap(({ sources }) => Object.values(sources));
  const lines = mostFrequent(all.flatMap(({ from, list }) => (from === 'entity' && list ? [list] : [])));
  const choice = mostFrequent(all.flatMap(({ from, list }) => (from === 'catalog' && list ? [list] : [])));
  const catalogKey = roles.catalog && lines ? catalogKeyOf(roles, tasks, lines) : undefined;
  const parts: Parts = { roles, lines, choice, catalogKey };

  const texts = tasks.map((task) => requestText(task, cases, writes, parts));
  const prefix = commonOpening(texts.map(({ text }) => text));
  const dissections = texts.map((text) => ({ text, parts: dissect(text, prefix) }));
  const clauses = dissections.flatMap((one) => one.parts?.clauses ?? []);
  const optionAttributes = roles.catalog
    ? [...roles.catalog.learned.values.keys()].filter((attribute) => attribute.startsWith(`${choice}.`))
    : [];
  const wordings = new Map<string, LearnedWording[]>(
    writes.map(({ tool }) => [
      tool,
      learnWordings(
        clauses.filter(({ request }) => request.tool === tool),
        optionAttributes,
      ),
    ]),
  );
  const reference = referenceOf(roles, cases, writes);
  const status = learnStatus(roles, clauses, wordings);
  const learnedWrites = writes
    .filter(({ tool }) => wordings.get(tool)!.length > 0)
    .map((change): Write => {
      const asked = clauses.filter((clause) => toolOf(clause, wordings) === change.tool);
      return {
        tool: change.tool,
        weight: Math.max(1, asked.length),
        arguments: argumentTemplates(change, tools),
        wordings: wordings
          .get(change.tool)!
          .map(({ text, stated, extreme }) => ({ text, stated, ...(extreme ? { extreme } : {}) })),
        allowed: status?.allowed.get(change.tool) ?? [],
        forbidden: handover ? (status?.forbidden.get(change.tool) ?? []) : [],
        done: doneOf(tasks, change, roles),
        fact: factOf(change, parts),
      };
    });
  if (learnedWrites.length === 0)
    throw new Error('the wording of no request could be learned: no request names the key of its record');

  const lookups = [roles.account, roles.entity, roles.catalog].filter((lookup) => lookup !== undefined);
  const used = new Set([
    ...lookups.map(({ tool }) => tool),
    ...learnedWrites.map(({ tool }) => tool),
    ...(handover ? [handover.tool] : []),
  ]);
  const { joints, opening } = frameOf(dissections);
  const mostErrors = mostErrorsOf(context);
  return readable({
    name,
    systemPrompt: systemPromptOf(context),
    tools: tools.filter((tool) => used.has(tool.function.name)),
    kinds: Object.fromEntries(Object.entries(kinds).filter(([tool]) => used.has(tool))),
    maxTurns,
    ...(mostErrors === undefined ? {} : { mostErrors }),
    makers: makersOf(lookups, tasks, texts),
    ...(roles.account ? { account: lookupOf(roles.account, keyAttribute(roles.account), undefined) } : {}),
    entity: {
      ...lookupOf(roles.entity, keyAttribute(roles.entity), roles.account),
      ...(status ? { status: status.attribute } : {}),
    },
    ...(roles.catalog && choice && catalogKey
      ? { catalog: { ...lookupOf(roles.catalog, catalogKey, roles.account), list: choice, key: catalogKey } }
      : {}),
    lists: Object.assign({}, ...lookups.map(({ learned }) => learned.lists)) as World['lists'],
    ...(lines ? { lines } : {}),
    ...(reference ? { reference } : {}),
    writes: learnedWrites,
    ...(handover
      ? {
          handover: {
            tool: handover.tool,
            arguments: argumentTemplates(handover, tools),
            done: doneOf(tasks, handover, roles),
            fact: factOf(handover, parts),
          },
        }
      : {}),
    checksArguments: checksArguments(tasks, roles),
    unknown: unknownOf(tasks),
    dialogue: dialogueOf(tasks, texts),
    opening,
    mostRequests: Math.max(...texts.map(({ requests }) => requests.length)),
    joints,
    reply: replyOf(tasks),
    hint: '',
  });
}

/**
 * Words of a string in a list have no name of their own: the one a lookup is asked with gets its parameter's name,
 * a code becomes `id`, a number `number`, the rest `word`; numbered where there are several of a kind.
 */
function readable(world: World): World {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const [attribute, maker] of Object.entries(world.makers)) {
    const [list, word] = attribute.split('.') as [string, string];
    if (!world.lists[list] || !/^word\d+$/.test(word)) continue;
    const kind =
      attribute === world.catalog?.key
        ? world.catalog.parameter
        : maker.some((part) => 'alphabets' in part)
          ? 'id'
          : maker.some((part) => 'words' in part && part.words.every((text) => /^\d/.test(text)))
            ? 'number'
            : 'word';
    let name = `${list}.${kind}`;
    for (let n = 2; taken.has(name); n++) name = `${list}.${kind}${n}`;
    taken.add(name);
    names.set(attribute, name);
  }
  const rename = (value: unknown): unknown => {
    if (typeof value === 'string')
      return (
        names.get(value) ??
        value.replace(
          /\{(#?)([^{}]+)\}/g,
          (_, sign: string, attribute: string) => `{${sign}${names.get(attribute) ?? attribute}}`,
        )
      );
    if (Array.isArray(value)) return value.map(rename);
    if (value && typeof value === 'object')
      return Object.fromEntries(
        Object.entries(value).map(([key, part]) => [names.get(key) ?? key, rename(part)]),
      );
    return value;
  };
  const { tools, systemPrompt, ...rest } = world;
  return { ...(rename(rest) as World), systemPrompt, tools };
}
