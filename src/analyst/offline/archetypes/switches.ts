import type { Settings, World, Write } from './service/world.js';

/** What an environment puts in question; everything else has one possible answer there. */
export type Switch = 'choose' | 'verify' | 'complete' | 'exact';

/** Capabilities that the archetype can show, by the names of the offline diagnosis. */
export const SWITCHES: { readonly [capability: string]: Switch } = {
  structured_data_reasoning: 'choose',
  precondition_verification: 'verify',
  multi_step_task_completion: 'complete',
  tool_calling_precision: 'exact',
};

/** What a switch means, in the words of a card, a rationale and a hint. */
export const DESCRIPTIONS: {
  readonly [name in Switch]: { readonly question: string; readonly rationale: string; readonly hint: string };
} = {
  choose: {
    question: 'which of several listed records agrees with everything the person asks for',
    rationale:
      'The target lists records that differ in a few attributes and the agent has to take the one that meets every stated condition. Here the same lists come in the same form, with records that meet some conditions and not all, in random order.',
    hint: 'Compare every listed record with each condition of the request before you choose.',
  },
  verify: {
    question: 'whether the policy allows the request in the state the record is in',
    rationale:
      'The target allows a write only in some states of a record, and a write cannot be taken back. Here every kind of request that the policy limits occurs with both answers, so that neither always acting nor always handing over pays.',
    hint: 'Look at the state of the record and at the policy before you change anything.',
  },
  complete: {
    question: 'whether every request of the person is done, not only the first',
    rationale:
      'People ask for several things at once in the target, and an attempt passes only when all of them are done. Here a message holds several simple requests; each one done earns a part of the reward and only all of them the whole.',
    hint: 'List every request first and finish only when each of them is done.',
  },
  exact: {
    question: 'which of several similar values belongs into the argument',
    rationale:
      'The target has several values of one kind on file and only the one that belongs to the record is right. Here the record always points to one that is not the first on file, so that the habit of taking the first fails.',
    hint: 'Copy each argument from the record it belongs to.',
  },
};

/**
 * Switches of a capability, or of two joined by `+`.
 * @throws Error for a capability that the archetype cannot show.
 */
export function switchesOf(capability: string): Switch[] {
  return capability.split('+').map((name) => {
    const found = SWITCHES[name];
    if (!found)
      throw new Error(
        `no archetype shows the capability ${name}: the offline author knows ${Object.keys(SWITCHES).join(', ')}. ` +
          'Write environments/<capability>/environment.ts yourself, or use another analyst',
      );
    return found;
  });
}

const placeholders = (write: Write): string =>
  JSON.stringify([write.arguments, write.wordings.map(({ text }) => text)]);
const chooses = (world: World, write: Write): boolean =>
  world.catalog !== undefined && placeholders(write).includes(`{${world.catalog.list}.`);
const refers = (world: World, write: Write): boolean =>
  Object.keys(world.reference?.attributes ?? {}).some((name) =>
    JSON.stringify(write.arguments).includes(`{${name}}`),
  );
const limited = (write: Write): boolean => write.allowed.length > 0 && write.forbidden.length > 0;

/** Settings of one difficulty, without the texts. */
export type Difficulty = Omit<Settings, 'capability' | 'rationale' | 'level'>;

/**
 * Difficulties from the hardest to the easiest, and where the search begins.
 * @throws Error when the target has nothing that the capability could be shown with.
 */
export function ladderOf(world: World, switches: readonly Switch[]): { steps: Difficulty[]; start: number } {
  const has = (name: Switch) => switches.includes(name);
  const pair = switches.length > 1;
  const all = world.writes;
  const most = (list: string | undefined) =>
    Math.max(2, list === undefined ? 2 : (world.lists[list]?.[1] ?? 2));
  const fitting = all.filter(
    (write) =>
      (!has('choose') || chooses(world, write)) &&
      (!has('exact') || refers(world, write)) &&
      (!has('verify') || (limited(write) && world.handover !== undefined)),
  );
  const names = (writes: readonly Write[]) => writes.map(({ tool }) => tool).join(',');
  if (fitting.length === 0)
    throw new Error(
      `no request of the target has ${switches.map((name) => DESCRIPTIONS[name].question).join(' and ')} in question, as far as the base rollouts show`,
    );
  const plain: Difficulty = {
    requestsLeast: 1,
    requestsMost: 1,
    options: has('choose') ? most(world.catalog?.list) : 1,
    extremeShare: has('choose') ? 0.75 : 0.5,
    decoys: has('exact') ? most(world.reference?.list) : 1,
    listed: Math.max(most(world.catalog?.list), most(world.reference?.list)),
    forbiddenShare: has('verify') ? (pair ? 0.5 : 0.6) : 0,
    writes: names(has('complete') && !has('verify') ? all : fitting),
    firstWrites: has('complete') && pair ? names(fitting) : '',
    partial: has('complete') ? 0.5 : 0,
  };
  const start: Difficulty = has('complete')
    ? { ...plain, requestsLeast: 2, requestsMost: Math.max(2, world.mostRequests) }
    : plain;
  if (pair) return { steps: [start], start: 0 };

  switch (switches[0]!) {
    case 'choose': {
      const steps = Array.from({ length: start.options }, (_, i) => ({
        ...start,
        options: start.options + 1 - i,
      }));
      return { steps: steps.filter(({ options }) => options > 1), start: 1 };
    }
    case 'exact': {
      const steps = Array.from({ length: start.decoys }, (_, i) => ({
        ...start,
        decoys: start.decoys + 1 - i,
      }));
      return { steps: steps.filter(({ decoys }) => decoys > 1), start: 1 };
    }
    case 'verify':
      return {
        steps: [0.7, 0.6, 0.5].map((forbiddenShare) => ({ ...start, forbiddenShare })),
        start: 1,
      };
    case 'complete': {
      const simple = all.filter((write) => !chooses(world, write));
      const easier = simple.length > 0 ? names(simple) : start.writes;
      // Never fewer requests than the target's people make: what is not practised here is forgotten there.
      const hardest = { ...start, requestsLeast: start.requestsMost };
      const steps = [hardest, start, { ...start, writes: easier }];
      return { steps, start: 1 };
    }
  }
}

/** The part of a world that these difficulties need: their writes, and the tools and attributes that go with them. */
export function neededPart(world: World, steps: readonly Difficulty[]): World {
  const names = new Set(steps.flatMap((step) => `${step.writes},${step.firstWrites}`.split(',')));
  const writes = world.writes.filter(({ tool }) => names.has(tool));
  const kept: World = { ...world, writes };
  if (!writes.some((write) => chooses(world, write))) delete (kept as { catalog?: unknown }).catalog;
  const { account, entity, handover } = kept;
  const tools = new Set([account, entity, kept.catalog, ...writes, handover].map((part) => part?.tool));
  const { makers: _, dialogue, ...described } = kept;
  const attributes = new Set(
    [...JSON.stringify(described).matchAll(/\{#?([^{}":]+)\}/g)].map((match) => match[1]!),
  );
  for (const lookup of [account, entity, kept.catalog]) if (lookup) attributes.add(`${lookup.parameter}.key`);
  const needs = (text: string) =>
    [...text.matchAll(/\{([^{}]+)\}/g)].every((match) => attributes.has(match[1]!));
  return {
    ...kept,
    dialogue: dialogue.filter(({ question, answer }) => needs(question) && needs(answer)),
    tools: world.tools.filter((tool) => tools.has(tool.function.name)),
    kinds: Object.fromEntries(Object.entries(world.kinds).filter(([tool]) => tools.has(tool))),
    makers: Object.fromEntries(
      Object.entries(world.makers).filter(([attribute]) => attributes.has(attribute)),
    ),
  };
}
