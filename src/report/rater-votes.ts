import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const KINDS = ['lacking', 'present', 'na'] as const;
const OUTCOMES = ['failed', 'passed'] as const;

/** Where a label can be seen, as a rater wrote it down. */
export interface RaterEvidence {
  readonly message: number;
  readonly quote: string;
  readonly note: string;
}

type ListName = `${(typeof KINDS)[number]}_${(typeof OUTCOMES)[number]}`;
type LabelLists = { readonly [list in ListName]?: readonly string[] };

/** What the report reads of a rater's file: the six lists by capability, and the evidence. */
export interface RaterLabels {
  readonly labels: { readonly [capability: string]: LabelLists };
  readonly evidence?: {
    readonly [capability: string]: { readonly [trajectory: string]: RaterEvidence } | undefined;
  };
}

/** How many raters gave an attempt each label. */
export interface Votes {
  readonly lacking: number;
  readonly present: number;
  readonly na: number;
}

/** What the raters say of one capability. */
export interface CapabilityVotes {
  /** By trajectory id. */
  readonly votes: ReadonlyMap<string, Votes>;
  /** The first evidence that a rater gives, by trajectory id. */
  readonly evidence: ReadonlyMap<string, RaterEvidence>;
}

/** Counts the raters' labels of one capability. */
export function votesFor(capability: string, raters: readonly RaterLabels[]): CapabilityVotes {
  const votes = new Map<string, { lacking: number; present: number; na: number }>();
  const evidence = new Map<string, RaterEvidence>();
  for (const rater of raters) {
    const lists = own(rater.labels, capability);
    if (!lists) continue;
    const found = rater.evidence && own(rater.evidence, capability);
    for (const kind of KINDS)
      for (const outcome of OUTCOMES)
        for (const id of lists[`${kind}_${outcome}`] ?? []) {
          const vote = votes.get(id) ?? { lacking: 0, present: 0, na: 0 };
          vote[kind]++;
          votes.set(id, vote);
          const shown = kind === 'lacking' && found ? own(found, id) : undefined;
          if (shown && !evidence.has(id)) evidence.set(id, shown);
        }
  }
  return { votes, evidence };
}

/** An object's own entry: capabilities and attempts may be called `constructor`. */
const own = <T>(object: { readonly [key: string]: T }, key: string): T | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

/** The rater files of a diagnosis' folder, in order; none where there is no folder. @throws SyntaxError */
export function readRaters(folder: string): RaterLabels[] {
  const path = join(folder, 'raters');
  if (!existsSync(path)) return [];
  return readdirSync(path)
    .filter((name) => /^\d+\.json$/.test(name))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .map((name) => JSON.parse(readFileSync(join(path, name), 'utf8')) as RaterLabels);
}
