import { z } from 'zod';
import type { Random } from '../../run/random.js';
import type { JsonSchema, Trajectory } from '../../trajectory/trajectory.js';
import { type CompactView, quoteStands } from '../compact/compact.js';
import type { Capability, Label, LabelledPair } from '../contract.js';
import type { PromptFile } from '../prompts/prompt-file.js';
import { renderPrompt } from '../prompts/render.js';
import { schemaProblems } from './answer.js';
import type { Checked, Task } from './task.js';

export interface LabelQuestion {
  readonly id: string;
  readonly prompt: PromptFile;
  readonly trajectory: Trajectory;
  readonly view: CompactView;
  readonly candidates: readonly Capability[];
  /** Counts from 0. */
  readonly rater: number;
  /** Shuffles the candidates; the same for all trajectories of a rater. */
  readonly random: Random;
}

const LABELS: readonly Label[] = ['NA', 'PRESENT', 'LACKING'];
/** A shorter quote stands in nearly every message. */
const SHORTEST_QUOTE = 6;

const shape = z.object({
  labels: z.array(
    z.object({
      capability: z.string(),
      reason: z.string().optional(),
      label: z.enum(['NA', 'PRESENT', 'LACKING']),
      evidence: z.object({ message: z.int(), quote: z.string() }).nullish(),
    }),
  ),
});

/** One rater's labelling of one attempt for all candidates. */
export function labelTask(question: LabelQuestion): Task<readonly LabelledPair[]> {
  const { candidates, prompt, rater, trajectory, view } = question;
  const schema = withNames(
    prompt.output,
    candidates.map((candidate) => candidate.name),
  );
  return {
    purpose: 'label',
    id: question.id,
    salt: `rater ${rater}`,
    prompt: (attempt) => {
      const order = question.random.fork('order', rater, attempt).shuffle(candidates);
      return renderPrompt(
        prompt,
        {
          policy: view.policy,
          tools: view.tools === '' ? '(none were recorded)' : view.tools,
          transcript: view.transcript,
          ending: view.ending,
          reference: referenceSection(view),
          note: view.note,
          capabilities: order.map(({ name, definition }) => `- ${name}: ${definition}`).join('\n'),
          rater: String(rater + 1),
        },
        schema,
      );
    },
    check: (answer) => check(answer, schema, candidates, trajectory),
    combine: (earlier, later) =>
      candidates.flatMap(({ name }) => {
        const pair = [...earlier, ...later].find(({ capability }) => capability === name);
        return pair ? [pair] : [];
      }),
    isComplete: (pairs) => pairs.length === candidates.length,
  };
}

/** The section with the right solution, or nothing. */
export function referenceSection({ reference }: CompactView): string {
  return reference === null
    ? ''
    : `\nWhat the task's authors hold for the right solution (there may be others):\n\n${reference}\n`;
}

/** The prompt's schema with the candidates' names as the only ones allowed, where it has that place. */
function withNames(schema: JsonSchema, names: readonly string[]): JsonSchema {
  const copy = structuredClone(schema) as {
    properties?: { labels?: { items?: { properties?: { capability?: { enum?: readonly string[] } } } } };
  } & JsonSchema;
  const capability = copy.properties?.labels?.items?.properties?.capability;
  if (capability) capability.enum = names;
  return copy;
}

/** Every pair by itself: a wrong one leaves the others standing. */
function check(
  answer: unknown,
  schema: JsonSchema,
  candidates: readonly Capability[],
  trajectory: Trajectory,
): Checked<readonly LabelledPair[]> {
  const problems = [...schemaProblems(schema, answer)];
  const entries = (answer as { labels?: unknown } | null)?.labels;
  if (!Array.isArray(entries))
    return {
      value: null,
      problems: problems.length > 0 ? problems : ['labels: a list is wanted'],
    };
  const pairs = new Map<string, LabelledPair>();
  const twice = new Set<string>();
  for (const [i, item] of entries.entries()) {
    const parsed = shape.shape.labels.element.safeParse(item);
    if (!parsed.success) {
      if (problems.length === 0)
        problems.push(`labels[${i}]: ${parsed.error.issues[0]?.message ?? 'wrong shape'}`);
      continue;
    }
    const { capability, label, reason, evidence } = parsed.data;
    if (!candidates.some(({ name }) => name === capability)) {
      problems.push(
        `labels[${i}]: ${JSON.stringify(capability)} is none of the capabilities; use their names verbatim`,
      );
      continue;
    }
    if (pairs.has(capability) || twice.has(capability)) {
      problems.push(`${capability} is labelled twice; give one label each`);
      pairs.delete(capability);
      twice.add(capability);
      continue;
    }
    if (!LABELS.includes(label)) continue;
    if (label !== 'LACKING') {
      pairs.set(capability, { capability, label });
      continue;
    }
    const wrong = evidenceProblem(evidence ?? null, trajectory);
    if (wrong !== null || !evidence) {
      problems.push(`${capability}: ${wrong}`);
      continue;
    }
    const note = reason?.trim() || 'The capability was needed here and was not shown.';
    pairs.set(capability, {
      capability,
      label,
      evidence: { message: evidence.message, quote: evidence.quote.trim(), note },
    });
  }
  for (const { name } of candidates)
    if (!pairs.has(name) && !problems.some((problem) => problem.includes(name)))
      problems.push(`${name} has no valid label`);
  const value = candidates.flatMap(({ name }) => pairs.get(name) ?? []);
  return { value, problems };
}

/** What is wrong with the evidence of a LACKING label, or null. */
function evidenceProblem(
  evidence: { readonly message: number; readonly quote: string } | null,
  { messages }: Trajectory,
): string | null {
  if (!evidence) return 'LACKING needs evidence: the index of a message and words quoted from it';
  const { message: index, quote } = evidence;
  const message = messages[index];
  if (!message || message.role === 'system')
    return `there is no message ${index} of the conversation; the indices stand in square brackets, up to ${messages.length - 1}`;
  if (quoteStands(message, quote)) {
    const whole = quote.trim().length >= SHORTEST_QUOTE || message.content?.trim() === quote.trim();
    return whole ? null : `the quote ${JSON.stringify(quote)} is too short to show anything`;
  }
  const elsewhere = messages.flatMap((other, i) =>
    other.role !== 'system' && quoteStands(other, quote) ? [i] : [],
  );
  const short = JSON.stringify(quote.length > 120 ? `${quote.slice(0, 120)}…` : quote);
  if (quote.trim() === '') return 'the quote is empty';
  return elsewhere.length > 0
    ? `the quote ${short} does not stand in message ${index}, but in ${elsewhere.slice(0, 3).join(', ')}`
    : `the quote ${short} stands nowhere in message ${index}; copy it character by character, without the marks of what was left out`;
}
