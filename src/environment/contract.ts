import type {
  AssistantMessage,
  Check,
  Message,
  Reference,
  ToolKind,
  ToolSchema,
} from '../trajectory/trajectory.js';

/**
 * The contract of every environment, targets and synthesized ones alike. An environment knows tasks and
 * messages, never tokens. Everything is a pure function of the seed.
 */

/** One instance of a task: plain data, a pure function of its seed (and, where offered, of the difficulty). */
export interface Scenario {
  readonly seed: number;
  /** Stable task id, unique inside the environment. */
  readonly id: string;
}

/** A verifier's verdict. `reward` is in [0, 1]. */
export interface Score {
  readonly reward: number;
  readonly checks: readonly Check[];
}

/** One running attempt. */
export interface Episode {
  /** The whole conversation so far, system prompt first; grows by `act`. */
  readonly messages: readonly Message[];
  readonly done: boolean;
  /** Why it ended (`agent_stop`, `user_stop`, `max_turns`, `malformed`, `handover`); null while it runs. */
  readonly termination: string | null;
  /**
   * Takes the agent's turn: appends it, runs its tool calls and lets the user answer.
   * @throws Error when the episode is done, or for a broken infrastructure (the attempt is then excluded).
   */
  act(message: AssistantMessage): void | Promise<void>;
  /** Score of the attempt as it stands; final once `done`. */
  score(): Score | Promise<Score>;
}

export interface OpenOptions {
  /** Put the environment's `<expert_guidance>` into the system prompt. */
  readonly hint?: boolean;
}

export interface Environment<S extends Scenario = Scenario> {
  readonly name: string;
  readonly tools: readonly ToolSchema[];
  readonly toolKinds: { readonly [tool: string]: ToolKind };
  /** Most assistant turns an episode takes before it ends as `max_turns`. */
  readonly maxTurns: number;
  systemPrompt(scenario: S, options?: OpenOptions): string;
  /** Deterministic: the same seed gives the same scenario, in any process. */
  scenario(seed: number): S;
  open(scenario: S, options?: OpenOptions): Episode | Promise<Episode>;
  /** What is known of the right solution; absent where a target has no reference. */
  reference?(scenario: S): Reference;
}

/** Slices of a target's tasks; disjoint by construction. */
export type SplitName =
  /** The small fixed set that rollouts (diagnosis) and training on the target may use. */
  | 'train'
  /** The compound tasks of `train` alone: what direct GRPO trains on. */
  | 'train-compound'
  /** Model and checkpoint selection. */
  | 'validation'
  /** Held-out tasks of the same distribution; only evaluation reads them. */
  | 'test'
  /** Held-out tasks of a harder distribution; only evaluation reads them. */
  | 'shift';

/** An environment where an agent is to improve, with its fixed splits. */
export interface Target<S extends Scenario = Scenario> extends Environment<S> {
  /** Prompt family of the LLM-driven steps: general, tool-use or code-repair. */
  readonly family: string;
  /** A reward of at least this is a pass. */
  readonly successThreshold: number;
  /** Seeds of a split, in a fixed order; `size` takes fewer or, where the split is open-ended, more. */
  split(name: SplitName, size?: number): readonly number[];
  /**
   * Which capabilities a task needs, where a target knows; only evaluation reads it, to break the results down.
   * The names are the target's own: no step matches them with diagnosed ones.
   */
  capabilitiesOf?(scenario: S): readonly string[];
}

/** A named wrong behaviour of a synthesized environment, as the assistant turns that show it. */
export interface Mistake {
  readonly name: string;
  readonly turns: readonly AssistantMessage[];
}

/** An environment that teaches one capability (method, step 2). */
export interface CapabilityEnvironment<S extends Scenario = Scenario> extends Environment<S> {
  readonly capability: string;
  /** Why training here should transfer to the target, 3–5 sentences. */
  readonly rationale: string;
  /** Assistant turns that must score 1. */
  oracle(scenario: S): readonly AssistantMessage[];
  /** Wrong behaviours that must score low. */
  mistakes(scenario: S): readonly Mistake[];
}
