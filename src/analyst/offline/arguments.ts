import type { Act, Course } from './acts.js';
import type { OfflineCapability } from './capabilities.js';
import type { Operation } from './matching.js';
import { type Standing, standings } from './results.js';
import type { Strictness } from './strictness.js';
import { type ArgumentDifference, isIdentifier, type Leaf, leaves, mentions, normalise } from './values.js';

/** Why an argument of an attempted operation is wrong. */
export interface ArgumentCause {
  readonly capability: OfflineCapability;
  /** The wrong value, where the call has one. */
  readonly made: string | null;
  readonly note: string;
}

/** Where a value could be known from before a message. */
interface Knowledge {
  readonly saidByUser: boolean;
  readonly inResults: boolean;
  readonly standings: ReadonlySet<Standing>;
}

const ids = (given: object) =>
  new Set(leaves(given).flatMap((leaf) => (isIdentifier(leaf.value) ? [normalise(leaf.value)] : [])));

/**
 * How a value could be known before a message. A value that a result merely echoes from the call that asked for
 * it does not count as given, and `given` holds only in a result about the entity at hand.
 */
export function knowledgeOf(
  course: Course,
  value: string,
  before: number,
  entity: ReadonlySet<string>,
): Knowledge {
  const { messages } = course.trajectory;
  const saidByUser = messages.some((m, i) => i < before && m.role === 'user' && mentions(m.content, value));
  const found = new Set<Standing>();
  let inResults = false;
  for (const act of course.acts) {
    if (act.resultMessage === null || act.resultMessage >= before || act.failed || act.kind === 'write')
      continue;
    const here = standings(act.parsed, value);
    if (here.size === 0) continue;
    inResults = true;
    if (here.has('alternative')) found.add('alternative');
    const asked = ids(act.arguments);
    if (here.has('given') && !asked.has(normalise(value)) && [...asked].some((id) => entity.has(id)))
      found.add('given');
  }
  return { saidByUser, inResults, standings: found };
}

function sameResult(course: Course, first: string, second: string, before: number): boolean {
  return course.acts.some(
    (act) =>
      act.resultMessage !== null &&
      act.resultMessage < before &&
      standings(act.parsed, first).has('alternative') &&
      standings(act.parsed, second).size > 0,
  );
}

const show = (values: readonly Leaf['value'][]) => values.map((value) => JSON.stringify(value)).join(', ');

function causeOf(
  difference: ArgumentDifference,
  operation: Operation,
  act: Act,
  course: Course,
  strictness: Pick<Strictness, 'sameResult'>,
): ArgumentCause {
  const { path, golden, made } = difference;
  const wrong = made.find(isIdentifier) ?? made[0];
  const right = golden.find(isIdentifier) ?? golden[0];
  const madeText = wrong === undefined ? null : String(wrong);
  const precision = (note: string): ArgumentCause => ({
    capability: 'tool_calling_precision',
    made: madeText,
    note,
  });
  if (right === undefined) return precision(`${path} has ${show(made)}, which the reference does not have`);
  const said =
    made.length === 0
      ? `${path} lacks ${show(golden)}`
      : `${path} is ${show(made)}, right is ${show(golden)}`;
  if (!isIdentifier(right)) return precision(said);

  const known = knowledgeOf(course, right, act.message, ids(operation.golden.arguments));
  const wrongKnown = isIdentifier(wrong)
    ? knowledgeOf(course, wrong, act.message, ids(act.arguments))
    : { saidByUser: false, inResults: false };
  if (!known.saidByUser && !known.inResults)
    return {
      capability: wrongKnown.saidByUser ? 'tool_calling_precision' : 'information_gathering',
      made: madeText,
      note: `${said}; the right value had not been looked up`,
    };
  // The right value had to be chosen: it stood beside others and nobody handed it over.
  const chosen = chosenAmongListed(course, right, act.message, operation.golden.arguments);
  const fromList = made.length === 0 || wrongKnown.inResults;
  const together =
    !strictness.sameResult || !isIdentifier(wrong) || sameResult(course, right, wrong, act.message);
  if (chosen && fromList && together)
    return {
      capability: 'structured_data_reasoning',
      made: madeText,
      note: `${said}; both stood in results the agent had read`,
    };
  return precision(said);
}

/**
 * Causes of a call that differs from its golden action, one for each wrong argument that names a thing. Amounts,
 * dates and options count only where all things named are right: a wrong thing drags them along.
 */
export function argumentCauses(
  operation: Operation,
  course: Course,
  strictness: Pick<Strictness, 'sameResult'>,
): ArgumentCause[] {
  const { act } = operation;
  if (!act) return [];
  const naming = operation.differences.filter((difference) =>
    [...difference.golden, ...difference.made].some(isIdentifier),
  );
  if (naming.length > 0)
    return naming.map((difference) => causeOf(difference, operation, act, course, strictness));
  const all = operation.differences.map((difference) =>
    causeOf(difference, operation, act, course, strictness),
  );
  const [first] = all;
  return first ? [{ ...first, note: all.map((cause) => cause.note).join('; ') }] : [];
}

/** Whether a value had to be chosen: it stood beside others in a result, and neither user nor record gave it. */
export function chosenAmongListed(
  course: Course,
  value: string,
  before: number,
  goldenArguments: object,
): boolean {
  const known = knowledgeOf(course, value, before, ids(goldenArguments));
  return known.standings.has('alternative') && !known.standings.has('given') && !known.saidByUser;
}

/** Whether the record at hand gives a value that the user did not say. */
export function givenByRecord(
  course: Course,
  value: string,
  before: number,
  goldenArguments: object,
): boolean {
  const known = knowledgeOf(course, value, before, ids(goldenArguments));
  return known.standings.has('given') && !known.saidByUser;
}
