import { z } from 'zod';
import { areNearDuplicates } from './near-duplicates.js';

/** An attempt that a proposal rests on. */
export interface ProposalExample {
  readonly trajectory: string;
  readonly note: string;
}

/** A capability as discovery proposes it. */
export interface Proposal {
  readonly name: string;
  readonly definition: string;
  readonly examples: readonly ProposalExample[];
}

export const proposalShape = z.object({
  name: z.string(),
  definition: z.string(),
  elsewhere: z.string(),
  examples: z.array(z.object({ attempt: z.int(), note: z.string() })),
});

/** Several proposals as one: the first one's words, everybody's examples, each attempt once. */
export function asOne(proposals: readonly Proposal[]): Proposal {
  const [first] = proposals;
  if (!first) throw new RangeError('no proposal to make one of');
  const examples = new Map<string, ProposalExample>();
  for (const proposal of proposals)
    for (const example of proposal.examples)
      if (!examples.has(example.trajectory)) examples.set(example.trajectory, example);
  return { ...first, examples: [...examples.values()] };
}

/**
 * Joins proposals that only their words tell apart; groups in the order of their first members. The words of the
 * proposal with the most examples stand for its group.
 */
export function joinNearDuplicates(proposals: readonly Proposal[]): Proposal[] {
  const groups: Proposal[][] = [];
  for (const proposal of proposals) {
    const group = groups.find((members) => members.some((member) => areNearDuplicates(member, proposal)));
    if (group) group.push(proposal);
    else groups.push([proposal]);
  }
  return groups.map((group) => asOne([...group].sort((a, b) => b.examples.length - a.examples.length)));
}

/** The proposals with the most examples, most first; equal ones in their order. */
export function mostSupported(proposals: readonly Proposal[], most: number): Proposal[] {
  return [...proposals].sort((a, b) => b.examples.length - a.examples.length).slice(0, most);
}
