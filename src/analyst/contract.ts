import type { Environment } from '../environment/contract.js';
import type { Trajectory } from '../trajectory/trajectory.js';

/** A capability as the analyst words it: general, never a domain rule. */
export interface Capability {
  /** snake_case. */
  readonly name: string;
  /** 2–3 sentences that let another analyst decide. */
  readonly definition: string;
  /** Attempts that discovery found it in, of both kinds; no rater is shown them. */
  readonly examples?: readonly { readonly trajectory: string; readonly note: string }[];
}

/** Label of one (trajectory, capability) pair: not needed, needed and shown, needed and not shown. */
export type Label = 'NA' | 'PRESENT' | 'LACKING';

/** Where a label can be seen: message index in the trajectory and the words there. */
export interface Evidence {
  readonly message: number;
  readonly quote: string;
  /** One sentence: what is wrong there. */
  readonly note: string;
}

export interface LabelledPair {
  readonly capability: string;
  readonly label: Label;
  /** Required for LACKING. */
  readonly evidence?: Evidence;
}

/** A written capability environment: source of the module and its card. */
export interface AuthoredEnvironment {
  /** TypeScript source of `environment.ts`. */
  readonly source: string;
  /** Markdown of `CARD.md`. */
  readonly card: string;
  /** Settings that the module reads, difficulty among them; written beside it as `settings.json`. */
  readonly settings: { readonly [key: string]: number | string | boolean };
}

/** A reason why an authored environment was not accepted. */
export interface Finding {
  readonly check: string;
  readonly detail: string;
}

/** What authoring may look at: the target's interface and observed results, never its tasks. */
export interface AuthorContext {
  readonly target: Pick<Environment, 'name' | 'tools' | 'toolKinds' | 'maxTurns'>;
  /** Base rollouts on the training split: result shapes, wording of requests, system-prompt style. */
  readonly trajectories: readonly Trajectory[];
  readonly seed: number;
}

/** Who does the thinking of the steps: `offline`, `llm` or `handoff`. */
export interface Analyst {
  readonly name: string;
  /** It judges by the reference solution, and can tell less where there is none. */
  readonly comparesWithReference?: boolean;
  /** Labels that may be asked for at once; absent: one. */
  readonly concurrency?: number;
  /** Up to ten candidates. */
  discover(trajectories: readonly Trajectory[]): Promise<readonly Capability[]>;
  /** Which of the trajectories a rater labels, where raters differ by what they see; absent: all of them. */
  sees?(trajectories: readonly Trajectory[], rater: number): readonly Trajectory[];
  /** One rater's labels of one trajectory for the candidates (one it cannot give is left out); raters count from 0. */
  label(
    trajectory: Trajectory,
    candidates: readonly Capability[],
    rater: number,
  ): Promise<readonly LabelledPair[]>;
  /**
   * Called once all labels were asked for.
   * @throws TraceError where answers are still awaited, or some are wrong and have to be mended first.
   */
  finish?(): void;
  /** What the diagnosis will take (requests, tokens, money), in lines for people, before any of it is done. */
  preview?(trajectories: readonly Trajectory[], raters: number): readonly string[];
  /** How it stands now, in a few words: tokens and money so far. */
  standing?(): string;
  /** What a reader of the diagnosis has to know of the answers, in words: what was refused, what is missing. */
  remarks?(): readonly string[];
  author(capability: Capability, context: AuthorContext): Promise<AuthoredEnvironment>;
  repair(
    environment: AuthoredEnvironment,
    findings: readonly Finding[],
    round: number,
  ): Promise<AuthoredEnvironment>;
}
