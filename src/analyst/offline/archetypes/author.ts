import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AuthorContext, AuthoredEnvironment, Capability, Finding } from '../../contract.js';
import { learnWorld } from './learn-world.js';
import type { Settings, World } from './service/world.js';
import { DESCRIPTIONS, type Difficulty, ladderOf, neededPart, switchesOf } from './switches.js';

/** The archetype's files in the order in which they are copied into a generated environment. */
const PARTS = ['world', 'records', 'scenario', 'episode', 'solutions', 'environment'] as const;
/** Longest line of what is generated. */
const LINE = 110;
const WORLD_MARK =
  '/** What was learned of the target: forms and vocabularies, no task. */\nconst WORLD: World = ';

/**
 * Writes the environment of a capability (or of two joined by `+`) from the archetype "service", filled from the
 * target's schemas and base rollouts. The same context gives the same text.
 * @throws Error when the target has no counterpart for a part of the archetype, or the capability none in it.
 */
export function authorEnvironment(capability: Capability, context: AuthorContext): AuthoredEnvironment {
  const switches = switchesOf(capability.name);
  const world: World = {
    ...worldOfTarget(context),
    hint: switches.map((name) => DESCRIPTIONS[name].hint).join(' '),
  };
  const { steps, start } = ladderOf(world, switches);
  const settings = settingsOf(capability.name, steps[start]!, start);
  const needed = neededPart(world, steps);
  const source = [
    header(capability),
    "import type {\n  AssistantMessage,\n  CapabilityEnvironment,\n  Episode,\n  Message,\n  Mistake,\n  OpenOptions,\n  Reference,\n  ReferenceAction,\n  Score,\n  ToolKind,\n  ToolSchema,\n} from 'trace-agents';\n",
    archetypeSource(),
    `${WORLD_MARK}${compactJson(needed)};\n`,
    'export default (settings: Settings) => createService(WORLD, settings);\n',
  ].join('\n');
  return { source, card: card(capability, needed, settings), settings };
}

/** What was learned last, by the trajectories it was learned from: one run writes many environments. */
const learned = new WeakMap<
  AuthorContext['trajectories'],
  { target: AuthorContext['target']; world: World }
>();

function worldOfTarget(context: AuthorContext): World {
  const known = learned.get(context.trajectories);
  if (known && known.target === context.target) return known.world;
  const world = learnWorld(context);
  learned.set(context.trajectories, { target: context.target, world });
  return world;
}

/**
 * Moves the difficulty by one step where calibration asks for it; other findings are beyond repair, as the archetype
 * would make the same text again.
 * @returns the environment unchanged when there is no step left in that direction.
 */
export function repairEnvironment(
  environment: AuthoredEnvironment,
  findings: readonly Finding[],
): AuthoredEnvironment {
  const easier = findings.some(({ check }) => check === 'too hard');
  const harder = findings.some(({ check }) => check === 'too easy');
  if (easier === harder) return environment;
  const world = worldOf(environment.source);
  const capability = String(environment.settings.capability);
  const { steps } = ladderOf(world, switchesOf(capability));
  const level = Number(environment.settings.level) + (easier ? 1 : -1);
  const step = steps[level];
  if (!step) return environment;
  return { ...environment, settings: settingsOf(capability, step, level) };
}

function settingsOf(
  capability: string,
  difficulty: Difficulty,
  level: number,
): AuthoredEnvironment['settings'] {
  const rationale = switchesOf(capability)
    .map((name) => DESCRIPTIONS[name].rationale)
    .join(' ');
  const settings: Settings = {
    capability,
    level,
    ...difficulty,
    rationale: `${rationale} Tools, arguments, results, policy and wording have the target's form, so that what is learned applies there token by token. Names, ids and combinations are drawn anew for every seed, so that nothing can be memorised.`,
  };
  return { ...settings };
}

/** The world that a generated source was filled with. */
function worldOf(source: string): World {
  const from = source.indexOf(WORLD_MARK) + WORLD_MARK.length;
  return JSON.parse(source.slice(from, source.lastIndexOf(';\n\nexport default'))) as World;
}

/** The archetype's own text: its files one after the other, without the imports between them. */
export function archetypeSource(): string {
  return PARTS.map((part) => {
    const candidates = [`./service/${part}.ts`, `./service/${part}.ts.txt`].map((name) =>
      fileURLToPath(new URL(name, import.meta.url)),
    );
    const file = candidates.find((path) => existsSync(path));
    if (!file) throw new Error(`the archetype's text is missing: ${candidates[0]} (reinstall trace-agents)`);
    return readFileSync(file, 'utf8')
      .replace(/^import [^;]*?;\n/gm, '')
      .trim();
  })
    .join('\n\n')
    .concat('\n');
}

/** JSON that keeps what fits on one line there, for people. */
function compactJson(value: unknown, indent = '', used = 0): string {
  const line = JSON.stringify(value).replace(
    /("(?:[^"\\]|\\.)*")|([,:])|\{(?!\})|(?<!\{)\}/g,
    (found, text: string | undefined, sign: string | undefined) =>
      text ?? (sign ? `${sign} ` : found === '{' ? '{ ' : ' }'),
  );
  if (typeof value !== 'object' || value === null || indent.length + used + line.length <= LINE) return line;
  const deeper = `${indent}  `;
  if (Array.isArray(value) && value.every((part) => typeof part === 'string' && !part.includes(' ')))
    return `[\n${wrap(value.map((part) => JSON.stringify(part)).join(', '), LINE - deeper.length)
      .map((part) => deeper + part)
      .join('\n')}\n${indent}]`;
  if (Array.isArray(value))
    return `[\n${value.map((part) => deeper + compactJson(part, deeper)).join(',\n')}\n${indent}]`;
  const entries = Object.entries(value).map(([key, part]) => {
    const name = `${JSON.stringify(key)}: `;
    return deeper + name + compactJson(part, deeper, name.length);
  });
  return `{\n${entries.join(',\n')}\n${indent}}`;
}

const header = (capability: Capability): string =>
  [
    '/**',
    ...wrap(`${capability.name}: ${capability.definition.replaceAll('*/', '* /')}`, LINE - 3).map(
      (line) => ` * ${line}`,
    ),
    ' *',
    ' * Generated from an archetype and from what base rollouts show of the target. Self-contained: it imports types',
    ' * only. Difficulty is set in settings.json beside it; CARD.md explains it, checks.json proves it.',
    ' */',
  ].join('\n');

/** Text in lines of at most `width` characters. */
function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const last = lines[lines.length - 1]!;
    if (last === '') lines[lines.length - 1] = word;
    else if (last.length + word.length + 1 <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function card(capability: Capability, world: World, settings: AuthoredEnvironment['settings']): string {
  const switches = switchesOf(capability.name);
  const lines = [
    `# ${capability.name}`,
    '',
    capability.definition,
    '',
    `**In question**: ${switches.map((name) => DESCRIPTIONS[name].question).join('; and ')}.`,
    '**Not in question**: everything else has one possible answer (one record to choose from, one value on file, a state that allows the request, one request), unless named above.',
    '',
    '## Why it should transfer',
    '',
    String(settings.rationale),
    '',
    '## What was learned of the target',
    '',
    '| part | tool | form |',
    '|---|---|---|',
    ...[world.account, world.entity, world.catalog]
      .filter((lookup) => lookup !== undefined)
      .map(({ tool, result }) => `| lookup | \`${tool}\` | \`${JSON.stringify(result)}\` |`),
    ...world.writes.map(
      ({ tool, arguments: args }) => `| write | \`${tool}\` | \`${JSON.stringify(args)}\` |`,
    ),
    ...(world.handover
      ? [`| hand-over | \`${world.handover.tool}\` | \`${JSON.stringify(world.handover.arguments)}\` |`]
      : []),
    '',
    '| request | allowed in | forbidden in | worded as |',
    '|---|---|---|---|',
    ...world.writes.map(
      ({ tool, allowed, forbidden, wordings }) =>
        `| \`${tool}\` | ${allowed.join(', ') || 'any state'} | ${forbidden.join(', ') || 'none seen'} | ${wordings
          .map(
            ({ text, extreme }) =>
              `“${text}”${extreme ? ` (${extreme.sign > 0 ? 'least' : 'greatest'} ${extreme.attribute})` : ''}`,
          )
          .join('; ')} |`,
    ),
    '',
    '## Settings',
    '',
    'The difficulty chosen by calibration stands in `settings.json`; `calibration.json` says how the base model does.',
    '',
    '- `requestsLeast`, `requestsMost`: requests of one person',
    '- `options`: records to choose from (1: no choice)',
    '- `extremeShare`: share of choices worded by an extreme, such as the cheapest, where there are other wordings too',
    '- `decoys`: most values of one kind on file, of which never the first is right (1: no choice)',
    '- `listed`: most elements of a list that is not in question; the right one stands first there',
    '- `forbiddenShare`: share of requests that the policy forbids',
    '- `writes`, `firstWrites`: what people ask for (the first request is one of the latter, where given)',
    '- `partial`: what an attempt earns for its share of right requests when not all are right',
    '',
    '## Reward',
    '',
    '1 when every request ended in exactly the one right call, nothing else was changed, what was done was said and the conversation was ended; otherwise `partial` times the share of right requests, 0 for a malformed turn.',
    '',
  ];
  return lines.join('\n');
}
