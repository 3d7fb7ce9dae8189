import type { ToolKind, ToolSchema } from '../../../../trajectory/trajectory.js';

// The archetype "service": an agent serves one person. It looks records up, calls one write per request (or hands
// the request over where the policy forbids it) and says what was done. This file is copied, as it stands, into
// every generated environment; only WORLD (what was learned of the target) and the settings differ.

/** Values made of parts: one of `words`, or one character of each alphabet. */
export type Maker = readonly (
  | { readonly words: readonly string[] }
  | { readonly alphabets: readonly string[] }
)[];

/** Attributes of a record and their values. */
export type Values = { readonly [attribute: string]: string };

/** JSON whose strings hold {attribute} placeholders; a list has one element, repeated for every record. */
export type Template =
  | string
  | number
  | boolean
  | null
  | readonly Template[]
  | { readonly [key: string]: Template };

/** A read tool: which record it returns, and in what form. */
export interface Lookup {
  readonly tool: string;
  readonly parameter: string;
  readonly result: Template;
}

/** One way to word a request, and what the wording says of the record to choose. */
export interface Wording {
  readonly text: string;
  /** Attributes of the option that the person states. */
  readonly stated: readonly string[];
  /**
   * Among the options that agree with the stated attributes: the least (1) or greatest (−1) of this attribute, and
   * the least and most options that agree.
   */
  readonly extreme?: {
    readonly attribute: string;
    readonly sign: 1 | -1;
    readonly agreeing: readonly [number, number];
  };
}

export interface Write {
  readonly tool: string;
  /** How often requests ask for it, relative to the others. */
  readonly weight: number;
  readonly arguments: { readonly [parameter: string]: Template };
  readonly wordings: readonly Wording[];
  /** Statuses with which the policy allows it, and forbids it; empty where nothing was seen to depend on it. */
  readonly allowed: readonly string[];
  readonly forbidden: readonly string[];
  /** What the tool answers. */
  readonly done: Template;
  /** What is said of the request when done, and when handed over. */
  readonly fact: string;
}

export interface World {
  readonly name: string;
  readonly systemPrompt: string;
  readonly tools: readonly ToolSchema[];
  readonly kinds: { readonly [tool: string]: ToolKind };
  readonly maxTurns: number;
  /** Refused calls after which the target ends an attempt. */
  readonly mostErrors?: number;
  readonly makers: { readonly [attribute: string]: Maker };
  /** The person's own record, the record that a request is about, and the list to choose from. */
  readonly account?: Lookup;
  readonly entity: Lookup & { readonly status?: string };
  readonly catalog?: Lookup & { readonly list: string; readonly key: string };
  /** Lists inside records: their least and greatest observed lengths. */
  readonly lists: { readonly [list: string]: readonly [number, number] };
  /** The entity's list that a request names one element of. */
  readonly lines?: string;
  /** Attributes of the entity that repeat an element of a list of the account: their names here and there. */
  readonly reference?: { readonly list: string; readonly attributes: Values };
  readonly writes: readonly Write[];
  readonly handover?: {
    readonly tool: string;
    readonly arguments: { readonly [parameter: string]: Template };
    readonly done: Template;
    readonly fact: string;
  };
  /** A write refuses arguments that do not exist (whether they are right is never checked). */
  readonly checksArguments: boolean;
  /** What a read or a write answers when the record is unknown. */
  readonly unknown: Template;
  /** What the agent may ask, and what the person answers. */
  readonly dialogue: readonly { readonly question: string; readonly answer: string }[];
  readonly opening: string;
  /** Most requests that one person was seen to make. */
  readonly mostRequests: number;
  /** Between requests, before the last one, and at the end. */
  readonly joints: readonly [string, string, string];
  readonly reply: { readonly before: string; readonly between: string; readonly after: string };
  readonly hint: string;
}

/** What is in question here; everything that is not, has one possible answer. */
export interface Settings {
  readonly capability: string;
  /** Step of the difficulty ladder, 0 the hardest. */
  readonly level: number;
  /** Requests of one person, least and most. */
  readonly requestsLeast: number;
  readonly requestsMost: number;
  /** Records to choose from; 1: no choice. */
  readonly options: number;
  /** Share of choices that are worded by an extreme (the cheapest), where both wordings occur. */
  readonly extremeShare: number;
  /** Share of requests that the policy forbids. */
  readonly forbiddenShare: number;
  /** Elements of the account's list that one argument is taken from; 1: no choice. The first is never right. */
  readonly decoys: number;
  /**
   * Most elements of a list that is not in question. The right one stands first there, so that neither care nor the
   * habit of taking the first errs; the lists are as long as the target's, for what is learned after a short one is
   * not known after a long one.
   */
  readonly listed: number;
  /** Writes that people ask for, separated by commas. */
  readonly writes: string;
  /** The first request is one of these; empty: any. */
  readonly firstWrites: string;
  /** Share of the reward that an attempt with some requests right can earn. */
  readonly partial: number;
  readonly rationale: string;
}
