import type { Message, Trajectory } from '../../trajectory/trajectory.js';
import type { Evidence } from '../contract.js';
import type { Course } from './acts.js';
import { callEvidence, lastWords, messageText, quoteOf } from './evidence.js';

const REFUSAL =
  /\b(unable to|(can ?not|can['’]t|could not|couldn['’]t|won['’]t be able to) (be |help|assist|process|proceed|cancel|change|modify|return|refund|exchange|update|do|make|offer|provide)|not (possible|eligible|allowed|permitted)|against (the|our) policy)/i;
/** Turns in words at the end among which a refusal is looked for. */
const CLOSING_TURNS = 4;
/** Ends that a malformed turn brings about, in the words of the benchmarks. */
const BROKEN_ENDS = /^(malformed|agent_error|format_error|parse_error)$/;

/**
 * The last turn that could not be read, or the words before an end that a broken turn brought about; null where
 * all turns are whole. `ended`: the attempt went no further, so that it explains what was left undone.
 */
export function brokenTurn({
  messages,
  termination,
}: Trajectory): { readonly evidence: Evidence | null; readonly ended: boolean } | null {
  const at = messages.findLastIndex((m) => m.role === 'assistant' && m.malformed !== undefined);
  if (at >= 0) {
    const message = messages[at]!;
    const why = message.role === 'assistant' ? (message.malformed ?? '') : '';
    const quote = quoteOf(messageText(message));
    const evidence =
      quote === ''
        ? lastWords(messages, `the turn after these words is broken: ${why}`, at)
        : { message: at, quote, note: why };
    return { evidence, ended: at >= messages.findLastIndex((m) => m.role === 'assistant') };
  }
  if (!BROKEN_ENDS.test(termination ?? '')) return null;
  const note = `the attempt ended as ${termination} after these words`;
  return { evidence: lastWords(messages, note), ended: true };
}

/**
 * Where something was repeated `length` times within a short stretch (2·length − 1 steps, so that going back and
 * forth between two steps counts); null where nothing was.
 */
function lastOfRepetition(steps: readonly string[], length: number): number | null {
  const found = steps.findIndex((step, i) => {
    const stretch = steps.slice(Math.max(0, i - 2 * length + 2), i + 1);
    return stretch.filter((other) => other === step).length >= length;
  });
  return found < 0 ? null : found;
}

/** The same call with the same result, or the same words, again and again; null where nothing is. */
export function loopEvidence({ acts, trajectory }: Course, length: number): Evidence | null {
  const repeated = lastOfRepetition(
    acts.map((act) => `${act.key} ${act.result}`),
    length,
  );
  if (repeated !== null)
    return callEvidence(acts[repeated]!, `the same call with the same result, ${length} times or more`);
  const said = trajectory.messages.flatMap((message, index) => {
    const text = message.role === 'assistant' ? (message.content?.trim() ?? '') : '';
    return text === '' ? [] : [{ index, text }];
  });
  const echoed = lastOfRepetition(
    said.map(({ text }) => text),
    length,
  );
  if (echoed === null) return null;
  const { index, text } = said[echoed]!;
  return { message: index, quote: quoteOf(text), note: `the same words, ${length} times or more` };
}

/** The words near the end that refuse; null where none do. */
export function refusalEvidence(messages: readonly Message[]): Evidence | null {
  let turns = 0;
  for (let i = messages.length - 1; i >= 0 && turns < CLOSING_TURNS; i--) {
    const message = messages[i]!;
    if (message.role !== 'assistant' || !message.content) continue;
    turns++;
    const match = REFUSAL.exec(message.content);
    if (!match) continue;
    const start =
      Math.max(
        message.content.lastIndexOf('.', match.index),
        message.content.lastIndexOf('\n', match.index),
      ) + 1;
    return {
      message: i,
      quote: quoteOf(message.content, start),
      note: 'refused, where the reference acts',
    };
  }
  return null;
}
