import { z } from 'zod';
import type { PromptFile } from '../prompts/prompt-file.js';
import { renderPrompt } from '../prompts/render.js';
import { schemaProblems } from './answer.js';
import { type DomainWords, domainProblem } from './domain.js';
import { areNearDuplicates } from './near-duplicates.js';
import { asOne, type Proposal } from './proposals.js';
import type { Checked, Task } from './task.js';

const shape = z.object({
  capabilities: z.array(z.object({ name: z.string(), definition: z.string(), members: z.array(z.int()) })),
  left_out: z.array(z.object({ member: z.int(), reason: z.string() })),
});

/** Joins the proposals of all batches into distinct capabilities. */
export function mergeTask(question: {
  readonly id: string;
  readonly prompt: PromptFile;
  readonly proposals: readonly Proposal[];
  readonly candidates: number;
  readonly domain: DomainWords;
}): Task<readonly Proposal[]> {
  const { candidates, domain, prompt, proposals } = question;
  const list = proposals
    .map(
      ({ name, definition, examples }, i) =>
        `${i + 1}. ${name} (${examples.length} examples): ${definition}${examples[0] ? ` For example: ${examples[0].note}` : ''}`,
    )
    .join('\n');
  return {
    purpose: 'merge',
    id: question.id,
    salt: '',
    prompt: () => renderPrompt(prompt, { proposals: list, candidates: String(candidates) }),
    check: (answer) => check(answer, prompt, proposals, candidates, domain),
    // A merge is taken whole or not at all: halves of two answers do not fit together.
    combine: (_, later) => later,
    isComplete: () => true,
  };
}

function check(
  answer: unknown,
  prompt: PromptFile,
  proposals: readonly Proposal[],
  candidates: number,
  domain: DomainWords,
): Checked<readonly Proposal[]> {
  const problems = schemaProblems(prompt.output, answer);
  const parsed = shape.safeParse(answer);
  if (!parsed.success) {
    const said = problems.length > 0 ? problems : ['capabilities and left_out are wanted'];
    return { value: null, problems: said };
  }
  const { capabilities, left_out } = parsed.data;
  const places = new Map<number, string>();
  const place = (member: number, where: string) => {
    if (proposals[member - 1] === undefined)
      problems.push(`${where}: there is no proposal ${member}; they are numbered 1 to ${proposals.length}`);
    else if (places.has(member))
      problems.push(`proposal ${member} stands in ${places.get(member)} and in ${where}`);
    else places.set(member, where);
  };
  for (const { name, definition, members } of capabilities) {
    const wrong = domainProblem({ name, definition }, domain);
    if (wrong !== null) problems.push(wrong);
    if (members.length === 0) problems.push(`${name} joins no proposal`);
    for (const member of members) place(member, name);
  }
  for (const { member } of left_out) place(member, 'left_out');
  const missing = proposals.flatMap((_, i) => (places.has(i + 1) ? [] : [i + 1]));
  if (missing.length > 0)
    problems.push(`proposals ${missing.join(', ')} stand nowhere: join them or list them under left_out`);
  if (capabilities.length > candidates)
    problems.push(`${capabilities.length} capabilities are too many: at most ${candidates}`);
  if (capabilities.length === 0) problems.push('no capability is left');
  for (const [i, a] of capabilities.entries())
    for (const b of capabilities.slice(i + 1))
      if (areNearDuplicates(a, b)) problems.push(`${a.name} and ${b.name} say the same: join them`);
  if (problems.length > 0) return { value: null, problems };
  const value = capabilities.map(({ name, definition, members }) => ({
    ...asOne(members.map((member) => proposals[member - 1]!)),
    name,
    definition: definition.trim(),
  }));
  return { value, problems };
}
