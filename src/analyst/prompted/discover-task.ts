import type { Trajectory } from '../../trajectory/trajectory.js';
import type { CompactView } from '../compact/compact.js';
import type { PromptFile } from '../prompts/prompt-file.js';
import { renderPrompt } from '../prompts/render.js';
import { schemaProblems } from './answer.js';
import { type DomainWords, domainProblem } from './domain.js';
import { referenceSection } from './label-task.js';
import { joinNearDuplicates, type Proposal, proposalShape } from './proposals.js';
import type { Checked, Task } from './task.js';

/** An attempt as discovery reads it. */
export interface DiscoveryAttempt {
  readonly trajectory: Trajectory;
  readonly view: CompactView;
}

export interface DiscoveryQuestion {
  readonly id: string;
  readonly prompt: PromptFile;
  readonly attempts: readonly DiscoveryAttempt[];
  /** Most proposals. */
  readonly candidates: number;
  readonly domain: DomainWords;
}

/** One batch of discovery: attempts of both kinds, candidates for what the ones lack and the others have. */
export function discoverTask(question: DiscoveryQuestion): Task<readonly Proposal[]> {
  const { attempts, candidates, domain, prompt } = question;
  return {
    purpose: 'discover',
    id: question.id,
    salt: '',
    prompt: () =>
      renderPrompt(prompt, {
        policy: commonPolicy(attempts),
        attempts: attempts.map((attempt, i) => attemptText(attempt, i + 1, attempts)).join('\n\n'),
        candidates: String(candidates),
        note: `${attempts.length} attempts. ${attempts[0]?.view.note ?? ''}`.trim(),
      }),
    check: (answer) => check(answer, prompt, attempts, candidates, domain),
    combine: (earlier, later) => joinNearDuplicates([...earlier, ...later]).slice(0, candidates),
    // Nothing left after refusals is no answer.
    isComplete: (proposals) => proposals.length > 0,
  };
}

/** The policy where all attempts have the same one, so that it is read once. */
function commonPolicy(attempts: readonly DiscoveryAttempt[]): string {
  const policies = new Set(attempts.map(({ view }) => view.policy));
  return policies.size === 1 ? [...policies][0]! : '(each attempt has its own, see there)';
}

function attemptText(
  { trajectory, view }: DiscoveryAttempt,
  number: number,
  all: readonly DiscoveryAttempt[],
): string {
  // Discovery contrasts the two kinds; raters are never told (docs/analysts.md).
  const kind = trajectory.outcome === 'failed' ? 'missed its goal' : 'reached its goal';
  const sameTask = all.findIndex((other) => other.trajectory.taskId === trajectory.taskId) + 1;
  const task = sameTask > 0 && sameTask < number ? `; the same task as attempt ${sameTask}` : '';
  const own = new Set(all.map((other) => other.view.policy)).size > 1 ? `Policy:\n\n${view.policy}\n\n` : '';
  return `### Attempt ${number} (${kind}${task})\n\n${own}${view.transcript}\n\n${view.ending}\n${referenceSection(view)}`.trimEnd();
}

function check(
  answer: unknown,
  prompt: PromptFile,
  attempts: readonly DiscoveryAttempt[],
  candidates: number,
  domain: DomainWords,
): Checked<readonly Proposal[]> {
  const problems = schemaProblems(prompt.output, answer);
  const entries = (answer as { capabilities?: unknown } | null)?.capabilities;
  if (!Array.isArray(entries))
    return {
      value: null,
      problems: problems.length > 0 ? problems : ['capabilities: a list is wanted'],
    };
  const schemaFits = problems.length === 0;
  const good: Proposal[] = [];
  for (const [i, item] of entries.entries()) {
    const parsed = proposalShape.safeParse(item);
    if (!parsed.success) {
      if (schemaFits)
        problems.push(`capabilities[${i}]: ${parsed.error.issues[0]?.message ?? 'wrong shape'}`);
      continue;
    }
    const { name, definition, elsewhere, examples } = parsed.data;
    const wrong =
      domainProblem({ name, definition }, domain) ??
      (elsewhere.trim() === ''
        ? `${name}: name another domain where the same would be needed, or leave it out`
        : null);
    if (wrong !== null) {
      problems.push(wrong);
      continue;
    }
    const known = examples.filter(({ attempt }) => attempts[attempt - 1] !== undefined);
    if (known.length === 0) {
      problems.push(`${name}: give one to four of the attempts 1 to ${attempts.length} as examples`);
      continue;
    }
    if (known.length < examples.length)
      problems.push(`${name}: the attempts are numbered 1 to ${attempts.length}`);
    good.push({
      name,
      definition: definition.trim(),
      examples: known.map(({ attempt, note }) => ({
        trajectory: attempts[attempt - 1]!.trajectory.id,
        note: note.trim(),
      })),
    });
  }
  if (entries.length > candidates)
    problems.push(`${entries.length} capabilities are too many: at most ${candidates}`);
  const value = joinNearDuplicates(good).slice(0, candidates);
  // Nothing wrong and nothing found is an answer; nothing left after refusals is none.
  return { value, problems };
}
