import type { AssistantMessage, Message, ToolMessage, Trajectory } from '../../trajectory/trajectory.js';
import { messageText } from '../offline/evidence.js';
import type { Family } from '../prompts/library.js';
import { endingOf } from './ending.js';
import { charactersOf, estimateTokens, shorten } from './tokens.js';

/**
 * What of an attempt may be shown. Outcome, reward, checks and termination are not in it: whoever reads it cannot
 * be told the verdict by mistake.
 */
export type ShownTrajectory = Pick<
  Trajectory,
  'messages' | 'tools' | 'systemPrompt' | 'reference' | 'metadata'
>;

export interface CompactOptions {
  readonly family: Family;
  /** Most tokens, estimated, of the whole view. */
  readonly tokens: number;
  /** Most tokens of the policy, on top of `tokens`, where several views share one; absent: a share of `tokens`. */
  readonly policyTokens?: number;
  /** Show the target's reference solution, where there is one. */
  readonly reference?: boolean;
}

/** An attempt in the form that a rater reads. */
export interface CompactView {
  /** Rules and instructions that the agent had. */
  readonly policy: string;
  /** Tools that it was offered, one a line; for code repair usually empty. */
  readonly tools: string;
  /** Every message with its index, in order. */
  readonly transcript: string;
  /** What stood at the end: changes that took effect, the final patch, the last words. */
  readonly ending: string;
  /** The reference solution, or null where it is not to be shown or not known. */
  readonly reference: string | null;
  /** Says how much was left out, and under which budget. */
  readonly note: string;
}

/** How long each kind of text may be, in characters; the first profile that fits the budget is taken. */
interface Profile {
  readonly result: number;
  readonly words: number;
  readonly call: number;
}

const PROFILES: readonly Profile[] = [
  { result: Number.POSITIVE_INFINITY, words: Number.POSITIVE_INFINITY, call: Number.POSITIVE_INFINITY },
  { result: 6_000, words: 8_000, call: 8_000 },
  { result: 3_000, words: 6_000, call: 6_000 },
  { result: 1_500, words: 4_000, call: 4_000 },
  { result: 800, words: 2_500, call: 2_500 },
  { result: 400, words: 1_500, call: 1_500 },
  { result: 200, words: 800, call: 800 },
  { result: 120, words: 400, call: 400 },
];

/** Halvings between two profiles, and what stands for no limit then. */
const REFINEMENTS = 3;
const LONGEST_TEXT = 30_000;

/** Shares of the budget that the policy (more where there is room), the tools and the reference may take. */
const POLICY_SHARE = 0.3;
const TOOLS_SHARE = 0.08;
const ENDING_SHARE = 0.12;
const REFERENCE_SHARE = 0.1;

/**
 * Compacts an attempt for reading: policy, request, calls with their arguments, errors whole, results cut where they
 * have to be, what stood at the end. A pure function of the conversation; it never says how the attempt was judged.
 */
export function compactTrajectory(trajectory: ShownTrajectory, options: CompactOptions): CompactView {
  const { family, tokens } = options;
  const within = (text: string, share: number) => shorten(text, charactersOf(tokens * share), 0.8);
  const system = trajectory.messages.filter((message) => message.role === 'system');
  const policyText =
    system.length > 0
      ? system.map((message) => message.content).join('\n\n')
      : (trajectory.systemPrompt ?? '');
  const tools = within(toolLines(trajectory), TOOLS_SHARE);
  const ending = within(endingOf(trajectory, family), ENDING_SHARE);
  const reference = options.reference ? referenceText(trajectory) : null;
  const shownReference = reference === null ? null : within(reference, REFERENCE_SHARE);

  const beside = [tools, ending, shownReference ?? ''].reduce((sum, text) => sum + estimateTokens(text), 0);
  const policyRoom =
    options.policyTokens ?? Math.max(tokens * POLICY_SHARE, tokens - beside - whole(trajectory, family));
  const policy = shorten(policyText.trim(), charactersOf(policyRoom), 0.8) || '(none was recorded)';
  const taken = beside + (options.policyTokens === undefined ? estimateTokens(policy) : 0);
  const room = Math.max(tokens - taken, Math.floor(tokens * 0.3));
  const { transcript, shortened, dropped } = fitted(trajectory, family, room);
  const left = [
    ...(shortened > 0 ? [`${shortened} texts shortened`] : []),
    ...(dropped > 0 ? [`${dropped} messages in the middle left out`] : []),
    ...(policy.length < policyText.trim().length ? ['the policy shortened'] : []),
  ];
  const note = `Shown in at most ${tokens.toLocaleString('en-US')} tokens: ${left.length === 0 ? 'nothing was left out' : left.join(', ')}.`;
  return { policy, tools, transcript, ending, reference: shownReference, note };
}

/** Tokens of the conversation with nothing left out. */
function whole({ messages }: ShownTrajectory, family: Family): number {
  return estimateTokens(linesOf(messages, family, PROFILES[0]!).lines.join('\n'));
}

interface Transcript {
  readonly transcript: string;
  readonly shortened: number;
  readonly dropped: number;
}

function fitted(trajectory: ShownTrajectory, family: Family, tokens: number): Transcript {
  const tried = (profile: Profile) => {
    const { lines, shortened } = linesOf(trajectory.messages, family, profile);
    const transcript = lines.join('\n');
    return { lines, transcript, shortened, fits: estimateTokens(transcript) <= tokens };
  };
  let last: ReturnType<typeof tried> | null = null;
  for (const [i, profile] of PROFILES.entries()) {
    last = tried(profile);
    if (!last.fits) continue;
    // Between this profile and the last one that was too long: as much as there is room for.
    let best = last;
    let [loose, strict] = [PROFILES[i - 1], profile];
    for (let step = 0; loose && step < REFINEMENTS; step++) {
      const middle = between(loose, strict);
      const candidate = tried(middle);
      if (candidate.fits) [best, strict] = [candidate, middle];
      else loose = middle;
    }
    return { transcript: best.transcript, shortened: best.shortened, dropped: 0 };
  }
  const { lines, shortened } = last!;
  // Even the strictest profile is too long: the beginning (the request) and the end stay, the middle goes.
  const room = charactersOf(tokens);
  let head = 0;
  let size = 0;
  while (head < lines.length && size + lines[head]!.length + 1 <= room * 0.35)
    size += lines[head++]!.length + 1;
  head = Math.max(head, 1);
  let tail = lines.length;
  while (tail > head && size + lines[tail - 1]!.length + 1 <= room * 0.95) size += lines[--tail]!.length + 1;
  const dropped = tail - head;
  const gap = dropped > 0 ? [`[… ${dropped} entries left out here …]`] : [];
  return {
    transcript: [...lines.slice(0, head), ...gap, ...lines.slice(tail)].join('\n'),
    shortened,
    dropped,
  };
}

/** The profile half-way between two, in ratio. */
function between(loose: Profile, strict: Profile): Profile {
  const mean = (a: number, b: number) => Math.round(Math.sqrt(Math.min(a, LONGEST_TEXT) * b));
  return {
    result: mean(loose.result, strict.result),
    words: mean(loose.words, strict.words),
    call: mean(loose.call, strict.call),
  };
}

function linesOf(
  messages: readonly Message[],
  family: Family,
  profile: Profile,
): { lines: string[]; shortened: number } {
  let shortened = 0;
  const cut = (text: string, most: number, head?: number) => {
    const short = shorten(text, most, head);
    if (short !== text) shortened++;
    return short;
  };
  // Test output and tracebacks say the most in their last lines, lists of records in their first ones.
  const resultHead = family === 'code-repair' ? 0.35 : 0.7;
  const names = callNames(messages);
  const lines = messages.flatMap((message, i): string[] => {
    switch (message.role) {
      case 'user':
        return [`[${i}] user: ${cut(message.content, profile.words)}`];
      case 'assistant':
        return assistantLines(
          message,
          i,
          (text) => cut(text, profile.words),
          (text) => cut(text, profile.call),
        );
      case 'tool': {
        const name = message.name ?? names.get(message.tool_call_id);
        const of = name === undefined ? '' : ` of ${name}`;
        // An error is what the agent has to react to: it is shown long after other results are cut.
        const failed = isError(message);
        const most = failed ? Math.max(profile.result, 1_000) : profile.result;
        return [`[${i}] ${failed ? 'error' : 'result'}${of}: ${cut(message.content, most, resultHead)}`];
      }
      default:
        return [];
    }
  });
  return { lines, shortened };
}

function assistantLines(
  message: AssistantMessage,
  index: number,
  words: (text: string) => string,
  call: (text: string) => string,
): string[] {
  const lines: string[] = [];
  if (message.reasoning?.trim()) lines.push(`[${index}] agent thinks: ${words(message.reasoning.trim())}`);
  if (message.content?.trim()) lines.push(`[${index}] agent: ${words(message.content)}`);
  for (const { function: made } of message.tool_calls ?? [])
    lines.push(`[${index}] agent calls: ${call(JSON.stringify(made))}`);
  if (message.malformed) lines.push(`[${index}] agent: (the turn could not be read: ${message.malformed})`);
  if (lines.length === 0) lines.push(`[${index}] agent: (an empty turn)`);
  return lines;
}

/** The tool said so, or its words begin like an error. */
export function isError(message: ToolMessage): boolean {
  return message.error ?? /^\s*(error|exception|traceback|failed)\b/i.test(message.content);
}

/** Names of the tools by the ids of their calls. */
function callNames(messages: readonly Message[]): Map<string, string> {
  return new Map(
    messages.flatMap((message) =>
      message.role === 'assistant'
        ? (message.tool_calls ?? []).map((call): [string, string] => [call.id, call.function.name])
        : [],
    ),
  );
}

function toolLines({ tools }: ShownTrajectory): string {
  return tools
    .map(({ function: tool }) => {
      const parameters = tool.parameters.properties;
      const names = typeof parameters === 'object' && parameters !== null ? Object.keys(parameters) : [];
      const words = tool.description?.split('\n')[0]?.trim() ?? '';
      return `- ${tool.name}(${names.join(', ')})${words === '' ? '' : `: ${shorten(words, 160)}`}`;
    })
    .join('\n');
}

function referenceText({ reference }: ShownTrajectory): string | null {
  if (!reference) return null;
  const lines = [
    ...reference.actions.map(
      (action) => `- ${JSON.stringify({ name: action.name, arguments: action.arguments })}`,
    ),
    ...reference.requiredFacts.map((fact) => `- tells the user: ${fact}`),
    ...(reference.assertions ?? []).map((assertion) => `- ${assertion}`),
  ];
  return lines.length === 0 ? '(the right solution changes nothing)' : lines.join('\n');
}

const squeezed = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** All words of a message that evidence may be quoted from: thinking, what was said, calls as compact JSON. */
export function quotableText(message: Message): string {
  const thinking = message.role === 'assistant' ? (message.reasoning ?? '') : '';
  const broken = message.role === 'assistant' ? (message.malformed ?? '') : '';
  return [thinking, messageText(message), broken].filter((text) => text !== '').join('\n');
}

/** Whether a quote stands in a message; runs of white space count as one space. */
export function quoteStands(message: Message, quote: string): boolean {
  const wanted = squeezed(quote);
  return wanted !== '' && squeezed(quotableText(message)).includes(wanted);
}
