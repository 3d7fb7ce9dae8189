import { toolKindByName } from '../../trajectory/importers/tool-kinds.js';
import type { Message } from '../../trajectory/trajectory.js';
import type { Evidence } from '../contract.js';
import type { Act, Course } from './acts.js';
import type { OfflineCapability } from './capabilities.js';
import { refusalEvidence } from './conduct.js';
import { callEvidence, lastWords, quoteOf } from './evidence.js';
import { isIdentifier, leaves, mentions } from './values.js';

/** What a rule found: the capability is needed where the rule applies, and lacking where there is evidence. */
interface Verdict {
  readonly capability: OfflineCapability;
  readonly evidence: Evidence | null;
}

/** Turns in words at the end among which an announcement is looked for. */
const CLOSING_TURNS = 2;
const DEEDS =
  'cancel|change|modify|update|book|process|return|refund|exchange|transfer|remove|add|submit|place|proceed|send|complete|apply|upgrade|reset|fix';
const DONE =
  'cancell?ed|changed|modified|updated|booked|processed|returned|refunded|exchanged|removed|added|submitted|placed|completed|applied|upgraded';
/** `I will now cancel …`, `one moment`: more is to come. */
const ANNOUNCED = new RegExp(
  `\\bI(['’]ll| will|['’]m going to| am going to)( now| go ahead and)? (${DEEDS})\\b|\\b(one moment|please (hold|wait)|give me a (moment|second|minute))\\b`,
  'i',
);
/** `I have cancelled …`: a change is claimed. */
const CLAIMED = new RegExp(`\\bI(['’]ve| have)( now| just)?( successfully)? (${DONE})\\b`, 'i');
const HANDED_OVER_IN_WORDS =
  /\btransfer(ring|red)? (you|this|your (case|request|call))\b.{0,40}\b(human|agent|specialist|representative|team)\b/i;

/** An error whose call never got through afterwards, and that nothing made good. */
function errors({ acts }: Course): Verdict[] {
  if (!acts.some((act) => act.failed)) return [];
  const ids = (act: Act) =>
    leaves(act.arguments).flatMap((leaf) => (isIdentifier(leaf.value) ? [leaf.value] : []));
  const left = acts.findLast((act, i) => {
    if (!act.failed) return false;
    const later = acts.slice(i + 1).filter((other) => !other.failed);
    // Another way to a fact is as good; a change is made good by the same tool, the same entity or a hand-over.
    return act.kind !== 'write'
      ? later.length === 0
      : !later.some(
          (other) =>
            other.name === act.name ||
            other.kind === 'handover' ||
            (other.kind === 'write' && ids(other).some((id) => ids(act).includes(id))),
        );
  });
  const evidence = left
    ? callEvidence(left, `given up after an error (${quoteOf(left.result ?? '')})`)
    : null;
  return [{ capability: 'error_recovery', evidence }];
}

/**
 * The form of an id. Letters before digits say what it names, and stay: `#W639` and `#W506` are `#W9`; in codes of
 * mixed letters and digits (`M05KNL`) only the length does.
 */
const formOf = (id: string) =>
  /^[^\d]*\d+$/.test(id) ? id.replace(/\d+/, '9') : id.replace(/[\p{L}\d]/gu, 'x');

/** An id, as far as its shape tells; paths and commands are put together rather than taken over. */
const isName = (value: unknown): value is string =>
  typeof value === 'string' && isIdentifier(value) && !/[\s/\\]/.test(value);

/** Ids in a text. */
const idsIn = (text: string) =>
  text
    .split(/[\s,;:!?()"'“”‘’]+/u)
    .map((word) => word.replace(/^[.*[\]]+|[.*[\]]+$/g, ''))
    .filter(isName);

/** Something that the user named and no call concerns, where a call concerns another thing of its form. */
function droppedRequests({ acts, trajectory }: Course): Verdict[] {
  const { messages } = trajectory;
  const named = new Set(messages.flatMap((m) => (m.role === 'user' ? idsIn(m.content) : [])));
  const calls = acts.map((act) => JSON.stringify(act.arguments));
  const used = [...named].filter((id) => calls.some((call) => mentions(call, id)));
  const forms = new Set(used.map(formOf));
  const dropped = [...named].filter((id) => forms.has(formOf(id)) && !used.includes(id));
  if (used.length + dropped.length < 2) return [];
  const excused = acts.some((act) => act.kind === 'handover') || refusalEvidence(messages) !== null;
  const [first] = dropped;
  const evidence =
    first === undefined || excused
      ? null
      : lastWords(messages, `the user named ${first}, and no call concerns it`);
  return [{ capability: 'multi_step_task_completion', evidence }];
}

/** A change that is announced at the end and does not follow, or claimed though none was made. */
function emptyWords({ acts, trajectory }: Course): Verdict[] {
  const { messages } = trajectory;
  const writes = acts.filter((act) => act.kind === 'write' && !act.failed);
  const said = messages.flatMap((message, index) =>
    message.role === 'assistant' && message.content ? [{ index, text: message.content }] : [],
  );
  const evidence = (index: number, text: string, pattern: RegExp, note: string): Evidence => ({
    message: index,
    quote: quoteOf(text, sentenceStart(text, pattern)),
    note,
  });
  const claimed = said.find(
    ({ index, text }) => CLAIMED.test(text) && !writes.some((act) => act.message < index),
  );
  // A question waits for its answer, and who has handed the case over may ask for patience.
  const announced = said
    .slice(-CLOSING_TURNS)
    .find(
      ({ index, text }) =>
        ANNOUNCED.test(text) &&
        !text.includes('?') &&
        !acts.some((act) => act.message >= index || act.kind === 'handover'),
    );
  const changing = writes.length > 0 || acts.some((act) => act.kind === 'write');
  if (claimed && offersWrites(trajectory.tools, acts))
    return [
      {
        capability: 'action_execution',
        evidence: evidence(claimed.index, claimed.text, CLAIMED, 'claimed, but no change had been made'),
      },
    ];
  if (announced)
    return [
      {
        capability: 'action_execution',
        evidence: evidence(announced.index, announced.text, ANNOUNCED, 'announced, but no call follows'),
      },
    ];
  return changing ? [{ capability: 'action_execution', evidence: null }] : [];
}

const offersWrites = (tools: Course['trajectory']['tools'], acts: readonly Act[]) =>
  acts.some((act) => act.kind === 'write') ||
  tools.some((tool) => toolKindByName(tool.function.name) === 'write');

/** Where the sentence begins that a pattern matches. */
function sentenceStart(text: string, pattern: RegExp): number {
  const at = pattern.exec(text)?.index ?? 0;
  return Math.max(text.lastIndexOf('. ', at), text.lastIndexOf('\n', at)) + 1;
}

/** A case given away unseen, or only in words. */
function handovers({ acts, trajectory }: Course): Verdict[] {
  const { messages, tools } = trajectory;
  const given = acts.findIndex((act) => act.kind === 'handover');
  if (given >= 0) {
    const looked = acts
      .slice(0, given)
      .some((act) => act.kind === 'write' || (act.kind === 'read' && !act.failed));
    return [
      {
        capability: 'escalation_judgment',
        evidence: looked ? null : callEvidence(acts[given]!, 'handed over before anything was looked up'),
      },
    ];
  }
  if (!tools.some((tool) => toolKindByName(tool.function.name) === 'handover')) return [];
  const saying = messages.findIndex(
    (m: Message) =>
      m.role === 'assistant' && HANDED_OVER_IN_WORDS.test(m.content ?? '') && !m.content?.includes('?'),
  );
  if (saying < 0) return [];
  const text = messages[saying]!.content ?? '';
  return [
    {
      capability: 'escalation_judgment',
      evidence: {
        message: saying,
        quote: quoteOf(text, sentenceStart(text, HANDED_OVER_IN_WORDS)),
        note: 'handed over in words, but no call does it',
      },
    },
  ];
}

/** An id that stood nowhere before the call, and that the tool did not know. */
function inventedIds({ acts, trajectory }: Course): Verdict[] {
  const { messages, systemPrompt = '' } = trajectory;
  const naming = acts.filter((act) => leaves(act.arguments).some((leaf) => isName(leaf.value)));
  if (naming.length === 0) return [];
  for (const act of naming.filter(({ failed }) => failed)) {
    const invented = leaves(act.arguments)
      .map((leaf) => leaf.value)
      .filter(isName)
      .find(
        (id) =>
          !mentions(systemPrompt, id) &&
          !messages.some((m, i) => i < act.message && m.role !== 'assistant' && mentions(m.content, id)),
      );
    if (invented !== undefined)
      return [
        {
          capability: 'tool_calling_precision',
          evidence: callEvidence(act, `${invented} stands in nothing that was said or read before`, invented),
        },
      ];
  }
  return [{ capability: 'tool_calling_precision', evidence: null }];
}

/**
 * What can be told of an attempt whose right solution is not known. Partial: a rule sees the outside of a fault and
 * never whether the change itself was right; docs/diagnosis.md has each of them.
 */
export function judgeWithoutReference(course: Course): Verdict[] {
  return [
    ...errors(course),
    ...droppedRequests(course),
    ...emptyWords(course),
    ...handovers(course),
    ...inventedIds(course),
  ];
}
