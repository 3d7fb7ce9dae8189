/**
 * The canonical trajectory: what every importer produces, every rollout writes and every step reads.
 * Messages keep OpenAI's chat form (so that chat templates of open-weight models take them as they are),
 * with one difference: a tool call's arguments are the parsed object, never a JSON string.
 */

/** A JSON Schema object; foreign schemas are kept as they are. */
export type JsonSchema = { readonly [key: string]: unknown };

/** An OpenAI function tool. */
export interface ToolSchema {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters: JsonSchema;
  };
}

/**
 * What a call of a tool does to the world: `read` looks, `write` changes state, `handover` gives the case to
 * someone else, `other` is the rest (calculators, notes).
 */
export type ToolKind = 'read' | 'write' | 'handover' | 'other';

export interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: { readonly [name: string]: unknown } };
}

export interface SystemMessage {
  readonly role: 'system';
  readonly content: string;
}
export interface UserMessage {
  readonly role: 'user';
  readonly content: string;
}
export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string | null;
  readonly tool_calls?: readonly ToolCall[];
  /** Thinking text, where a format has it apart. */
  readonly reasoning?: string;
  /** Why the turn could not be read as text or tool calls (malformed JSON, length limit); absent when fine. */
  readonly malformed?: string;
}
export interface ToolMessage {
  readonly role: 'tool';
  readonly content: string;
  readonly tool_call_id: string;
  readonly name?: string;
  /** The tool said it failed. */
  readonly error?: boolean;
}
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

export type Outcome = 'passed' | 'failed' | 'excluded';

/** One named verifier check of an attempt. */
export interface Check {
  readonly name: string;
  readonly passed: boolean;
  readonly detail?: string;
}

/** An action of the reference solution. */
export interface ReferenceAction {
  readonly name: string;
  readonly arguments: { readonly [name: string]: unknown };
  readonly kind: ToolKind;
  /** Arguments that count when a call is compared with this action; absent: all of them. */
  readonly compareArguments?: readonly string[];
}

/** What a target knows of the right solution of a task; offline diagnosis compares trajectories with it. */
export interface Reference {
  readonly actions: readonly ReferenceAction[];
  /** Facts that the agent has to say; matched case-insensitively as substrings of its messages. */
  readonly requiredFacts: readonly string[];
  /** Kinds of the target's tools, by name. */
  readonly toolKinds: { readonly [tool: string]: ToolKind };
  /** Natural-language assertions of the benchmark, kept for reading; no algorithm checks them. */
  readonly assertions?: readonly string[];
  /**
   * False where writes beyond `actions` may be right too, because the verifier tests conditions of the end state
   * rather than the state itself. Absent: a write outside `actions` is wrong.
   */
  readonly exhaustive?: boolean;
}

/** One attempt at one task. */
export interface Trajectory {
  readonly id: string;
  readonly taskId: string;
  /** Which attempt at the task, from 0. */
  readonly trial: number;
  /** Where it comes from: an importer's format name, or `rollout`. */
  readonly source: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  readonly systemPrompt?: string;
  /** Verifier's reward in [0, 1]; null when the source has none. */
  readonly reward: number | null;
  /** `excluded`: broken by infrastructure or without a verdict; neither passed nor failed. */
  readonly outcome: Outcome;
  /** Why the episode ended (`user_stop`, `max_turns`, `malformed`, …), in the source's own words. */
  readonly termination: string | null;
  readonly checks?: readonly Check[];
  readonly reference?: Reference;
  readonly metadata: { readonly [key: string]: unknown };
}
