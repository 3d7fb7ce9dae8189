import { isObject, type JsonObject, parseTrajectory, read } from '../parse.js';
import type { Check, Message, ToolSchema, Trajectory } from '../trajectory.js';
import { contentText, readAssistant, readChatMessage, readTools } from './chat.js';
import { FULL_MARKS, type ScoreVerdict, scoreVerdict, withoutVerdict } from './rewards.js';

const ATTACHMENT = /^attachment:\/\/([0-9a-fA-F]{1,128})$/;

/** Puts attachments in the place of their references, once (an attachment is not itself resolved). */
class Attachments {
  readonly #texts: JsonObject;
  /** References without an attachment. */
  missing = 0;

  constructor(texts: unknown) {
    this.#texts = isObject(texts) ? texts : {};
  }

  resolve(value: unknown, depth = 0): unknown {
    if (typeof value === 'string') {
      const key = ATTACHMENT.exec(value)?.[1];
      if (key === undefined) return value;
      const text = Object.hasOwn(this.#texts, key) ? this.#texts[key] : undefined;
      if (typeof text === 'string') return text;
      this.missing++;
      return value;
    }
    // Nothing that a sample holds is nested this deep; JSON itself may be.
    if (depth > 200 || typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.resolve(item, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, this.resolve(item, depth + 1)]),
    );
  }
}

function assistantTurn(message: JsonObject, field: string): Message {
  const calls = message.tool_calls === null || message.tool_calls === undefined ? [] : message.tool_calls;
  const given = read.list(calls, `${field}.tool_calls`);
  const parseErrors = given.flatMap((call) =>
    isObject(call) && typeof call.parse_error === 'string' ? [call.parse_error] : [],
  );
  const flat = given.map((call, i) => {
    const at = read.object(call, `${field}.tool_calls[${i}]`);
    return { id: at.id, name: at.function, arguments: at.arguments };
  });
  const thinking = Array.isArray(message.content)
    ? message.content.flatMap((part) =>
        isObject(part) && part.type === 'reasoning' && typeof part.reasoning === 'string'
          ? [part.reasoning]
          : [],
      )
    : [];
  const turn = readAssistant({ content: message.content, tool_calls: flat }, field);
  const malformed = [turn.malformed, ...parseErrors].filter((why) => why !== undefined).join('; ');
  return {
    ...turn,
    ...(thinking.length > 0 ? { reasoning: thinking.join('\n') } : {}),
    ...(malformed === '' ? {} : { malformed }),
  };
}

function readMessage(value: unknown, field: string): Message {
  const message = read.object(value, field);
  if (message.role === 'assistant') return assistantTurn(message, field);
  if (message.role !== 'tool') return readChatMessage(message, field);
  const error = isObject(message.error) ? message.error : null;
  const said = contentText(message.content, `${field}.content`) ?? '';
  const why = error && typeof error.message === 'string' ? error.message : '';
  return {
    role: 'tool',
    content: said === '' ? why : said,
    tool_call_id: typeof message.tool_call_id === 'string' ? message.tool_call_id : '',
    ...(typeof message.function === 'string' ? { name: message.function } : {}),
    ...(error ? { error: true } : {}),
  };
}

/** Tools that the model was offered: those of the first request to it. */
function offeredTools(events: unknown, attachments: Attachments): ToolSchema[] {
  if (!Array.isArray(events)) return [];
  const first = events.find(
    (event) => isObject(event) && event.event === 'model' && Array.isArray(event.tools),
  );
  return isObject(first) ? readTools(attachments.resolve(first.tools)) : [];
}

const LETTERS: { readonly [letter: string]: number } = { C: 1, I: 0, P: 0.5, N: 0 };
const WORDS: { readonly [word: string]: number } = { yes: 1, true: 1, pass: 1, no: 0, false: 0, fail: 0 };

/** A score's value as a number, as the framework itself converts it; null where it has none. */
export function scoreNumber(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string' || value.trim() === '') return null;
  if (Object.hasOwn(LETTERS, value)) return LETTERS[value]!;
  const word = value.trim().toLowerCase();
  if (Object.hasOwn(WORDS, word)) return WORDS[word]!;
  const number = Number(word);
  return Number.isFinite(number) ? number : null;
}

interface Scored {
  readonly verdict: ScoreVerdict;
  readonly checks: readonly Check[];
  readonly scores: { readonly [scorer: string]: unknown };
}

/** The verdict is the first scorer's that gives one number; all numbers become checks. */
function readScores(value: unknown, order: readonly string[], passAt: number | undefined): Scored {
  const given = isObject(value) ? value : {};
  const scorers = [
    ...new Set([...order.filter((name) => Object.hasOwn(given, name)), ...Object.keys(given)]),
  ];
  const checks: Check[] = [];
  const scores: [string, unknown][] = [];
  let deciding: number | null = null;
  const check = (name: string, score: number, why: unknown) =>
    checks.push({
      name,
      passed: score >= (passAt ?? FULL_MARKS),
      ...(typeof why === 'string' && why !== '' ? { detail: why.slice(0, 500) } : {}),
    });
  for (const scorer of scorers) {
    const score = given[scorer];
    const raw = isObject(score) && 'value' in score ? score.value : score;
    const why = isObject(score) ? score.explanation : undefined;
    scores.push([scorer, raw]);
    const number = scoreNumber(raw);
    if (number !== null) {
      deciding ??= number;
      check(scorer, number, why);
    } else if (isObject(raw))
      for (const [part, inner] of Object.entries(raw)) {
        const score = scoreNumber(inner);
        if (score !== null) check(`${scorer}.${part}`, score, why);
      }
  }
  const verdict =
    deciding !== null
      ? scoreVerdict(deciding, passAt)
      : withoutVerdict(scorers.length === 0 ? 'it has no score' : 'no scorer gives a single number');
  return { verdict, checks, scores: Object.fromEntries(scores) };
}

/** What stands beside the samples of a log. */
export interface InspectLog {
  /** The evaluation's name; part of the task's id, since samples are numbered within it. */
  readonly task: string;
  readonly model: string | null;
  /** Scorers in the evaluation's order. */
  readonly scorers: readonly string[];
}

export function readLog(evaluation: unknown, results: unknown): InspectLog {
  const spec = isObject(evaluation) ? evaluation : {};
  const scores = isObject(results) && Array.isArray(results.scores) ? results.scores : [];
  const listed = Array.isArray(spec.scorers) ? spec.scorers : [];
  return {
    task: typeof spec.task === 'string' && spec.task !== '' ? spec.task : 'inspect',
    model: typeof spec.model === 'string' ? spec.model : null,
    scorers: [...scores, ...listed].flatMap((score) =>
      isObject(score) && typeof score.name === 'string' ? [score.name] : [],
    ),
  };
}

/**
 * One sample of a log.
 * @throws RecordError naming the wrong field.
 */
export function readSample(value: unknown, log: InspectLog, passAt: number | undefined): Trajectory {
  const sample = read.object(value, '(sample)');
  const taskId = `${log.task}/${read.id(sample.id, 'id')}`;
  const epoch = sample.epoch === undefined || sample.epoch === null ? 1 : read.count(sample.epoch, 'epoch');
  const trial = Math.max(0, epoch - 1);
  const attachments = new Attachments(sample.attachments);
  const messages = read
    .list(sample.messages ?? [], 'messages')
    .map((item, i) => readMessage(attachments.resolve(item), `messages[${i}]`));
  const error = isObject(sample.error) ? sample.error : null;
  const limit = isObject(sample.limit) && typeof sample.limit.type === 'string' ? sample.limit.type : null;
  const output =
    isObject(sample.output) && Array.isArray(sample.output.choices) ? sample.output.choices[0] : null;
  const stop = isObject(output) && typeof output.stop_reason === 'string' ? output.stop_reason : null;
  const { verdict, checks, scores } = readScores(attachments.resolve(sample.scores), log.scorers, passAt);
  const broken = error
    ? withoutVerdict(
        `infrastructure: ${typeof error.message === 'string' ? error.message : 'the sample ended with an error'}`,
      )
    : messages.length === 0
      ? withoutVerdict('it has no message')
      : null;
  const { reward, outcome, excluded } = broken ?? verdict;
  return parseTrajectory({
    id: `${taskId}-${trial}`,
    taskId,
    trial,
    source: 'inspect',
    messages,
    tools: offeredTools(sample.events, attachments),
    reward,
    outcome,
    termination: error ? 'error' : limit !== null ? `${limit}_limit` : stop,
    ...(checks.length > 0 ? { checks } : {}),
    metadata: {
      ...(excluded ? { excluded } : {}),
      ...(log.model !== null ? { model: log.model } : {}),
      ...(Object.keys(scores).length > 0 ? { scores } : {}),
      ...(isObject(sample.metadata) && Object.keys(sample.metadata).length > 0
        ? { sample: attachments.resolve(sample.metadata) }
        : {}),
      ...(attachments.missing > 0 ? { attachmentsMissing: attachments.missing } : {}),
    },
  });
}
