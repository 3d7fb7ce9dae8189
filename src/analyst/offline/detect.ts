import type { Reference, Trajectory } from '../../trajectory/trajectory.js';
import type { Evidence } from '../contract.js';
import { type Course, readCourse } from './acts.js';
import { argumentCauses, chosenAmongListed, givenByRecord } from './arguments.js';
import type { OfflineCapability } from './capabilities.js';
import { brokenTurn, loopEvidence, refusalEvidence } from './conduct.js';
import { callEvidence, lastWords, quoteOf } from './evidence.js';
import { type Correction, type Matching, matchOperations, type Operation } from './matching.js';
import type { Strictness } from './strictness.js';
import { isIdentifier, leaves, mentions } from './values.js';
import { judgeWithoutReference } from './without-reference.js';

/** Something a trajectory lacks, and where it shows. */
export interface Finding {
  readonly capability: OfflineCapability;
  readonly evidence: Evidence;
}

/** What one trajectory needs and lacks. */
export interface Detection {
  readonly findings: readonly Finding[];
  /** Needed as far as this trajectory and its reference tell; what is lacking is always needed. */
  readonly needed: ReadonlySet<OfflineCapability>;
}

/** What became of a wrong change beside the right one. */
const FATES = {
  overwritten: ' (the right call came before, and was overwritten)',
  left: ' (the right call came later, and what this one made was left)',
  mended: ' (the right call came later)',
} as const satisfies { readonly [fate in Correction['fate']]: string };

class Detector {
  readonly #course: Course;
  readonly #strictness: Strictness;
  readonly #findings: Finding[] = [];
  readonly #needed = new Set<OfflineCapability>();

  constructor(trajectory: Trajectory, strictness: Strictness) {
    this.#course = readCourse(trajectory);
    this.#strictness = strictness;
  }

  get #trajectory(): Trajectory {
    return this.#course.trajectory;
  }

  detect(): Detection {
    const broken = this.#brokenTurn();
    const loop = this.#loop();
    const { reference } = this.#trajectory;
    if (reference) this.#againstReference(reference, broken, loop);
    else
      for (const { capability, evidence } of judgeWithoutReference(this.#course)) {
        this.#needed.add(capability);
        this.#add(capability, evidence);
      }
    for (const finding of this.#findings) this.#needed.add(finding.capability);
    return { findings: this.#findings, needed: this.#needed };
  }

  #add(capability: OfflineCapability, evidence: Evidence | null): void {
    if (evidence) this.#findings.push({ capability, evidence });
  }

  #last(note: string): Evidence | null {
    return lastWords(this.#trajectory.messages, note);
  }

  /** True when the attempt ended with a turn that could not be read. */
  #brokenTurn(): boolean {
    if (this.#trajectory.messages.some((message) => message.role === 'assistant'))
      this.#needed.add('well_formed_output');
    const broken = brokenTurn(this.#trajectory);
    if (broken) this.#add('well_formed_output', broken.evidence);
    return broken?.ended === true;
  }

  #loop(): boolean {
    if (this.#course.acts.length >= 2) this.#needed.add('loop_avoidance');
    const evidence = loopEvidence(this.#course, this.#strictness.loopLength);
    this.#add('loop_avoidance', evidence);
    return evidence !== null;
  }

  #againstReference(reference: Reference, broken: boolean, loop: boolean): void {
    const matching = matchOperations(this.#course, reference, this.#strictness);
    this.#needs(reference, matching);
    for (const operation of matching.operations) {
      if (operation.state === 'differs') this.#attempted(operation);
      if (operation.state === 'done') this.#readBefore(operation, reference);
    }
    for (const { operation, fate } of matching.corrections)
      if (fate !== 'mended' || this.#strictness.mendedCounts) this.#attempted(operation, FATES[fate]);
    if (reference.exhaustive !== false)
      for (const act of matching.extra)
        this.#add(
          'precondition_verification',
          callEvidence(act, 'a change that the reference does not make'),
        );
    for (const act of matching.repeated)
      this.#add('loop_avoidance', callEvidence(act, 'a change carried out a second time'));
    this.#neverAttempted(reference, matching, broken, loop);
    this.#facts(reference);
  }

  #needs(reference: Reference, { operations, extra }: Matching): void {
    const writes = operations.filter((operation) => operation.golden.kind === 'write');
    const handovers = operations.length - writes.length;
    if (operations.some((operation) => this.#takesOver(operation)))
      this.#needed.add('tool_calling_precision');
    if (operations.length >= 2) this.#needed.add('multi_step_task_completion');
    if (operations.length > 0) {
      this.#needed.add('action_execution');
      this.#needed.add('escalation_judgment');
      this.#needed.add('information_gathering');
    }
    if (writes.some((operation) => this.#chooses(operation))) this.#needed.add('structured_data_reasoning');
    // Where single requests are handed over, a refusal shows in the reference; elsewhere it leaves no trace there,
    // and any change may have conditions.
    const visible = handsOverSingleRequests(this.#trajectory);
    if (extra.length > 0 || handovers > 0 || (!visible && reference.exhaustive !== false))
      this.#needed.add('precondition_verification');
    if (reference.requiredFacts.length > 0) this.#needed.add('information_reporting');
    if (this.#course.acts.some((act) => act.failed)) this.#needed.add('error_recovery');
  }

  /**
   * Whether the operation has an argument to be taken over with care: one that a record gives, or an amount, a
   * date, a text. An id that the user says is no more than repeated; one that is chosen is another matter.
   */
  #takesOver({ golden, act }: Operation): boolean {
    if (golden.kind === 'handover') return false;
    const before = act?.message ?? this.#trajectory.messages.length;
    return leaves(golden.arguments).some(
      (leaf) =>
        !isIdentifier(leaf.value) || givenByRecord(this.#course, leaf.value, before, golden.arguments),
    );
  }

  /** Whether the operation names something that stood among others in a result. */
  #chooses({ golden, act }: Operation): boolean {
    const before = act?.message ?? this.#trajectory.messages.length;
    return leaves(golden.arguments).some(
      (leaf) =>
        isIdentifier(leaf.value) && chosenAmongListed(this.#course, leaf.value, before, golden.arguments),
    );
  }

  /** Causes of an operation that was attempted otherwise; `fate` says what became of the call. */
  #attempted(operation: Operation, fate = ''): void {
    const { golden, act } = operation;
    if (!act) return;
    if (act.name !== golden.name) {
      if (act.kind === 'handover')
        this.#add(
          'escalation_judgment',
          callEvidence(act, `handed over, where the reference calls ${golden.name}`),
        );
      else
        this.#add(
          'precondition_verification',
          callEvidence(act, `the reference calls ${golden.name} here instead`),
        );
      return;
    }
    if (operation.differences.length === 0) {
      this.#add(
        'error_recovery',
        callEvidence(act, `the right call failed (${quoteOf(act.result ?? '')}) and was given up`),
      );
      return;
    }
    const seen = new Set<OfflineCapability>();
    for (const cause of argumentCauses(operation, this.#course, this.#strictness)) {
      if (seen.has(cause.capability)) continue;
      seen.add(cause.capability);
      this.#add(cause.capability, callEvidence(act, `${cause.note}${fate}`, cause.made ?? undefined));
    }
  }

  /** A right write whose record, which the reference reads first, was never read. */
  #readBefore({ golden, act }: Operation, reference: Reference): void {
    if (!this.#strictness.readsRequired || !act) return;
    const at = reference.actions.indexOf(golden);
    const named = leaves(golden.arguments).flatMap((leaf) => (isIdentifier(leaf.value) ? [leaf.value] : []));
    const unread = reference.actions
      .slice(0, at)
      .filter((action) => action.kind === 'read')
      .flatMap((action) => leaves(action.arguments).map((leaf) => String(leaf.value)))
      .find(
        (value) =>
          named.includes(value) &&
          !this.#course.acts.some(
            (read) =>
              read.kind === 'read' &&
              !read.failed &&
              read.message < act.message &&
              (mentions(JSON.stringify(read.arguments), value) || mentions(read.result ?? '', value)),
          ),
      );
    if (unread)
      this.#add(
        'information_gathering',
        callEvidence(act, `${unread} was changed without being read first`, unread),
      );
  }

  /** One cause for all operations that were never attempted. */
  #neverAttempted(reference: Reference, matching: Matching, broken: boolean, loop: boolean): void {
    const missing = matching.operations.filter((operation) => operation.state === 'missing');
    if (missing.length === 0 || broken) return;
    const names = [...new Set(missing.map((operation) => operation.golden.name))].join(', ');
    const tried = matching.operations.length - missing.length;
    const writes = missing.filter((operation) => operation.golden.kind === 'write');
    const handover = matching.handovers.at(-1);
    if (handover && writes.length > 0) {
      this.#add(
        'escalation_judgment',
        callEvidence(handover, `handed over, where the reference calls ${names}`),
      );
      return;
    }
    // A change made instead of the right one is already counted.
    if (reference.exhaustive !== false && matching.extra.length > 0 && missing.length === 1 && tried === 0)
      return;
    if (loop) return;
    const failed = this.#course.acts.at(-1);
    if (failed?.failed) {
      this.#add(
        'error_recovery',
        callEvidence(failed, `given up after an error (${quoteOf(failed.result ?? '')}); missing: ${names}`),
      );
      return;
    }
    if (tried > 0) {
      this.#add('multi_step_task_completion', this.#last(`ended without ${names}`));
      return;
    }
    if (writes.length === 0) {
      this.#add('escalation_judgment', this.#last(`ended without handing over (${names})`));
      return;
    }
    if (this.#lookedNothingUp(reference)) {
      this.#add('information_gathering', this.#last(`ended without looking anything up; missing: ${names}`));
      return;
    }
    const refused = this.#strictness.refusalInWords ? refusalEvidence(this.#trajectory.messages) : null;
    if (refused) this.#add('escalation_judgment', refused);
    else this.#add('action_execution', this.#last(`ended without ${names}`));
  }

  /** None of the records that the reference reads was read, nor another of their kind. */
  #lookedNothingUp(reference: Reference): boolean {
    const reads = reference.actions.filter(
      (action) => action.kind === 'read' && leaves(action.arguments).some((leaf) => isIdentifier(leaf.value)),
    );
    const tools = new Set(reads.map((action) => action.name));
    const used = this.#course.acts.filter((act) => act.kind === 'read' && !act.failed);
    return tools.size > 0 ? !used.some((act) => tools.has(act.name)) : used.length === 0;
  }

  #facts(reference: Reference): void {
    const said = this.#trajectory.messages
      .flatMap((message) => (message.role === 'assistant' && message.content ? [message.content] : []))
      .map((text) => text.toLowerCase().replaceAll(',', ''));
    const missing = reference.requiredFacts.filter((fact) => {
      const wanted = fact.toLowerCase();
      return !said.some((text) => text.includes(wanted) || text.includes(wanted.replaceAll(',', '')));
    });
    if (missing.length === 0) return;
    // Wrong operations drag their facts along: the report of a wrong state is no fault of its own.
    if (this.#findings.length > 0) return;
    this.#add(
      'information_reporting',
      this.#last(`never said: ${missing.map((fact) => JSON.stringify(fact)).join(', ')}`),
    );
  }
}

/** Whether hand-overs of this target concern one request (its tool names the entity) rather than the whole case. */
function handsOverSingleRequests({ tools, reference }: Trajectory): boolean {
  const kinds = reference?.toolKinds ?? {};
  const parameters = (kind: string) =>
    tools.flatMap(({ function: tool }) =>
      kinds[tool.name] === kind ? Object.keys((tool.parameters.properties as object | undefined) ?? {}) : [],
    );
  const written = new Set(parameters('write'));
  return parameters('handover').some((name) => written.has(name));
}

/**
 * What a trajectory needs and lacks, judged against its reference by the kinds of its tools. Never reads reward,
 * outcome or checks: the same conversation is judged the same whether it passed or failed.
 */
export function detect(trajectory: Trajectory, strictness: Strictness): Detection {
  return new Detector(trajectory, strictness).detect();
}
