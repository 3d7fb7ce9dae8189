import type { Reference, ReferenceAction } from '../../trajectory/trajectory.js';
import type { Act, Course } from './acts.js';
import type { Strictness } from './strictness.js';
import { type ArgumentDifference, differences, isIdentifier, leaves, mentions, normalise } from './values.js';

/** A golden operation (a write or a hand-over) and what the agent did about it. */
export interface Operation {
  readonly golden: ReferenceAction;
  /** `done`: carried out as it should be; `differs`: attempted otherwise; `missing`: never attempted. */
  readonly state: 'done' | 'differs' | 'missing';
  /** The call that belongs to it; null when missing. */
  readonly act: Act | null;
  /** What differs, for a call of the same tool. */
  readonly differences: readonly ArgumentDifference[];
}

/** A wrong try at an operation that took effect, though the operation was carried out rightly too. */
export interface Correction {
  /** The golden action against the wrong call. */
  readonly operation: Operation;
  /**
   * `overwritten`: the wrong call came after the right one; `left`: it made something new that no later call names;
   * `mended`: the right call came after it, and may have undone it.
   */
  readonly fate: 'overwritten' | 'left' | 'mended';
}

export interface Matching {
  readonly operations: readonly Operation[];
  /** Writes that took effect and belong to no golden operation. */
  readonly extra: readonly Act[];
  /** Wrong tries at operations that were carried out rightly as well. */
  readonly corrections: readonly Correction[];
  /** Writes that took effect once more, exactly as they had before. */
  readonly repeated: readonly Act[];
  /** Hand-overs that belong to no golden operation. */
  readonly handovers: readonly Act[];
}

const identifiers = (given: object) =>
  new Set(
    leaves(given).flatMap((leaf) =>
      isIdentifier(leaf.value) ? [`${leaf.path}=${normalise(leaf.value)}`] : [],
    ),
  );

/** Free text (a summary, a reason in words) is said in many ways: it is never compared. */
function withoutProse(given: { readonly [name: string]: unknown }): object {
  return Object.fromEntries(
    Object.entries(given).filter(
      ([, value]) => !(typeof value === 'string' && value.trim().split(/\s+/).length > 6),
    ),
  );
}

/** What of a golden action and a call of the same tool differs. */
export function callDifferences(
  golden: ReferenceAction,
  act: Act,
  strictness: Pick<Strictness, 'orderedLists'>,
): ArgumentDifference[] {
  const handover = golden.kind === 'handover';
  return differences(
    handover ? withoutProse(golden.arguments) : golden.arguments,
    handover ? withoutProse(act.arguments) : act.arguments,
    { ordered: strictness.orderedLists, only: golden.compareArguments },
  );
}

interface Candidate {
  readonly operation: number;
  readonly act: number;
  readonly score: number;
}

/** Whether a call made something new, as far as an id in its result tells, that no later change names. */
function leftBehind({ acts, trajectory }: Course, act: Act): boolean {
  const { messages } = trajectory;
  return leaves(act.parsed).some(
    ({ value }) =>
      isIdentifier(value) &&
      !messages.some((m, i) => i < act.message && mentions(m.content ?? '', value)) &&
      !mentions(act.json, value) &&
      !acts.some(
        (other) => other.kind === 'write' && other.message > act.message && mentions(other.json, value),
      ),
  );
}

/**
 * Which call belongs to which golden operation. First equal ones; then the most alike of the rest: calls of the
 * same tool, or of another one for the same entity. A call that names an entity which the user named himself does
 * what the user asked for: it is no attempt at an operation on another entity.
 */
export function matchOperations(course: Course, reference: Reference, strictness: Strictness): Matching {
  const golden = reference.actions.filter((action) => action.kind === 'write' || action.kind === 'handover');
  const acts = course.acts.filter((act) => act.kind === 'write' || act.kind === 'handover');
  const actOf = new Array<number | null>(golden.length).fill(null);
  const taken = new Set<number>();
  const state = new Array<Operation['state']>(golden.length).fill('missing');

  golden.forEach((action, operation) => {
    const equal = (failed: boolean) =>
      acts.findIndex(
        (act, i) =>
          !taken.has(i) &&
          act.name === action.name &&
          act.failed === failed &&
          callDifferences(action, act, strictness).length === 0,
      );
    const at = equal(false);
    if (at < 0) return;
    actOf[operation] = at;
    state[operation] = 'done';
    taken.add(at);
  });

  const userSaid = (act: Act, text: string) =>
    course.trajectory.messages.some(
      (message, i) => i < act.message && message.role === 'user' && mentions(message.content, text),
    );
  const goldenIds = golden.map((action) => identifiers(action.arguments));
  // What all golden operations name (the customer, say) tells none from another.
  const common = new Set(
    golden.length < 2 ? [] : [...goldenIds[0]!].filter((id) => goldenIds.every((ids) => ids.has(id))),
  );
  const candidates: Candidate[] = [];
  golden.forEach((action, operation) => {
    if (state[operation] !== 'missing') return;
    acts.forEach((act, i) => {
      if (taken.has(i)) return;
      const made = identifiers(act.arguments);
      const shared = [...made].filter((id) => goldenIds[operation]!.has(id));
      const own = shared.filter((id) => !common.has(id)).length;
      const effective = act.failed ? 0 : 0.5;
      if (act.name === action.name) {
        const foreign = [...made].filter((id) => !goldenIds[operation]!.has(id));
        const asked = foreign.some((id) => userSaid(act, id.slice(id.indexOf('=') + 1)));
        if (shared.length === 0 && asked) return;
        const wrong = callDifferences(action, act, strictness).length;
        candidates.push({ operation, act: i, score: 10 + own * 3 + shared.length + effective - wrong * 0.1 });
      } else if (own > 0 && !act.failed) {
        candidates.push({ operation, act: i, score: own + effective });
      }
    });
  });
  // Later calls first among equals: the last attempt is what the agent settled for.
  candidates.sort((a, b) => b.score - a.score || a.operation - b.operation || b.act - a.act);
  for (const candidate of candidates) {
    if (taken.has(candidate.act) || actOf[candidate.operation] !== null) continue;
    actOf[candidate.operation] = candidate.act;
    state[candidate.operation] = 'differs';
    taken.add(candidate.act);
  }

  const operations = golden.map((action, i): Operation => {
    const act = actOf[i] === null ? null : acts[actOf[i]!]!;
    return {
      golden: action,
      state: state[i]!,
      act,
      differences: act && act.name === action.name ? callDifferences(action, act, strictness) : [],
    };
  });
  const left = acts.filter((act, i) => !taken.has(i) && !act.failed);
  // Earlier or repeated tries at an operation (same tool, shared entity) belong to it.
  const triedIn = (act: Act) =>
    operations.find(
      ({ golden: action, act: other }) =>
        other?.name === act.name &&
        [...identifiers(act.arguments)].some(
          (id) => identifiers(action.arguments).has(id) && !common.has(id),
        ),
    );
  // Changes to what the agent itself made (a booking to replace, say) follow from making it.
  const ownMaking = (act: Act) =>
    [...identifiers(act.arguments)].some((id) => {
      const text = id.slice(id.indexOf('=') + 1);
      const first = course.trajectory.messages.findIndex(
        (m) => m.role !== 'assistant' && mentions(m.content, text),
      );
      return course.acts.some(
        (maker) => maker.kind === 'write' && maker.resultMessage === first && first >= 0,
      );
    });
  return {
    operations,
    extra: left.filter((act) => act.kind === 'write' && !triedIn(act) && !ownMaking(act)),
    corrections: left.flatMap((act): Correction[] => {
      const operation = act.kind === 'write' ? triedIn(act) : undefined;
      if (operation?.state !== 'done' || !operation.act || operation.act.key === act.key) return [];
      const wrong = callDifferences(operation.golden, act, strictness);
      if (wrong.length === 0) return [];
      const later = act.message > operation.act.message;
      return [
        {
          operation: { golden: operation.golden, state: 'differs', act, differences: wrong },
          fate: later ? 'overwritten' : leftBehind(course, act) ? 'left' : 'mended',
        },
      ];
    }),
    repeated: left.filter(
      (act) => act.kind === 'write' && operations.some(({ act: done }) => done?.key === act.key),
    ),
    handovers: left.filter((act) => act.kind === 'handover'),
  };
}
