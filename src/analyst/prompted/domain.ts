import type { Trajectory } from '../../trajectory/trajectory.js';

/** Words of tool names that say nothing of a domain. */
const GENERIC = new Set(
  `a about action actions add agent agents all and answer apply argument arguments ask assistant at auth
  bash by calculate call calls cancel change check code command context create data date delete detail
  details diff directory do done edit email end error event execute fetch file files find for format from
  get give go grep handoff help history human id ids info information input insert item items key keys last lines list
  log lookup make match memory message messages method methods modify name new note of on one open operation
  operations output parse path pending permission plan policy process python query read record records
  remove replace report request requests reset result results returns rows run running save scroll search send
  set shell show start state status step steps string structure submit summary support system task tasks terminal
  test tests text think time to toggle tool tools transfer type undo update use user users value values verify view
  web with work write`.split(/\s+/),
);

/** Businesses by name: a capability that names one is a rule of that business. */
const BUSINESSES = new Set(
  `airline airlines airport bank banking booking commerce ecommerce education finance flight flights healthcare hotel
  hotels hospital insurance legal medical pharmacy reservation reservations restaurant retail shop shopping store
  telecom telecommunications travel trip warehouse`.split(/\s+/),
);

const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word.length > 2);

const singular = (word: string): string => word.replace(/ies$/, 'y').replace(/(?<=[^s])s$/, '');

/** What belongs to one domain: words that its tools are named with, and the tools themselves. */
export interface DomainWords {
  readonly words: ReadonlySet<string>;
  readonly tools: ReadonlySet<string>;
}

/** Domain words of a set of attempts, from the names of the tools that were offered or called. */
export function domainWords(
  trajectories: readonly Pick<Trajectory, 'messages' | 'tools' | 'metadata'>[],
): DomainWords {
  const tools = new Set<string>();
  const words = new Set(BUSINESSES);
  for (const { messages, tools: offered, metadata } of trajectories) {
    for (const tool of offered) tools.add(tool.function.name);
    for (const message of messages)
      if (message.role === 'assistant')
        for (const call of message.tool_calls ?? []) tools.add(call.function.name);
    if (typeof metadata.domain === 'string') for (const word of wordsOf(metadata.domain)) words.add(word);
  }
  for (const tool of tools)
    for (const word of wordsOf(tool))
      if (!GENERIC.has(word) && !GENERIC.has(singular(word))) words.add(singular(word));
  return { words, tools };
}

/** A letter and three digits in one word: `HAT023`, `mia_li_3668`. */
const IDENTIFIER = /(?<![\w-])#?(?=[\w-]*[A-Za-z])(?=(?:[\w-]*\d){3})[\w-]{4,}/;
const SNAKE_CASE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/;
const LONGEST_NAME = 6;

/**
 * Why a proposal is no general capability, or null. Refused are names that are not snake_case, names with a word of
 * the domain (`retail_return_policy`), definitions that name a tool of the target or an identifier of its data.
 */
export function domainProblem(
  { name, definition }: { readonly name: string; readonly definition: string },
  domain: DomainWords,
): string | null {
  if (!SNAKE_CASE.test(name))
    return `${JSON.stringify(name)} is no name: two to ${LONGEST_NAME} words in snake_case`;
  const words = name.split('_');
  if (words.length > LONGEST_NAME) return `${name} is too long a name: at most ${LONGEST_NAME} words`;
  const own = words.find((word) => domain.words.has(word) || domain.words.has(singular(word)));
  if (own !== undefined)
    return `${name} is a rule of this domain ("${own}"): name what is to be done in a way that any other domain could use, or leave it out`;
  // A tool called `bash` or `submit` is a plain word; one with an underscore is a name.
  const tool = [...domain.tools].find(
    (candidate) =>
      candidate.includes('_') &&
      new RegExp(`(?<![A-Za-z0-9_])${escaped(candidate)}(?![A-Za-z0-9_])`).test(definition),
  );
  if (tool !== undefined)
    return `the definition of ${name} names the tool ${tool}: say what is done, not by which tool`;
  const identifier = IDENTIFIER.exec(definition)?.[0];
  if (identifier !== undefined)
    return `the definition of ${name} names ${identifier}, which belongs to single attempts: leave such names out`;
  const length = definition.trim().split(/\s+/).length;
  if (length < 8) return `the definition of ${name} is too short for another reader to decide by it`;
  return null;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
