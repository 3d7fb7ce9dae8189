import { digestJson } from '../../run/digest.js';
import type { Journal } from '../../run/journal.js';
import { readAnswer } from '../prompted/answer.js';
import type { Asker, Checked, Reply, Task } from '../prompted/task.js';
import type { RenderedPrompt } from '../prompts/render.js';
import { type LlmClient, type ModelAnswer, RequestError, type RequestTurn } from './client.js';
import type { LlmSettings } from './settings.js';

/** Changes when requests of an older version mean something else. */
const REQUEST_VERSION = 1;
/** Said when a question is put anew: it makes it another request, for models that would repeat themselves. */
const AGAIN =
  'Take care that the answer has the form described above, and that every quote stands where you say.';
/** An earlier answer is shown again up to this length when it is to be mended. */
const LONGEST_SHOWN = 12_000;

/**
 * Puts questions to a language model. A wrong answer is sent back once with what is wrong with it, then the question
 * is put anew; what is still wrong is missing. Every answer is kept under the hash of its request, and taken from
 * there the next time.
 */
export class LlmAsker implements Asker {
  readonly name = 'llm';
  readonly concurrency: number;
  readonly #client: LlmClient;
  readonly #settings: LlmSettings;
  readonly #journal: Journal;

  constructor(client: LlmClient, settings: LlmSettings, journal: Journal) {
    this.concurrency = settings.concurrency;
    this.#client = client;
    this.#settings = settings;
    this.#journal = journal;
  }

  async ask<T>(task: Task<T>): Promise<Reply<T>> {
    let value: T | null = null;
    let problems: readonly string[] = [];
    try {
      for (let attempt = 0; attempt < this.#settings.tries; attempt++) {
        const prompt = task.prompt(attempt);
        const question: RequestTurn = {
          role: 'user',
          parts: attempt === 0 ? prompt.user : [...prompt.user, AGAIN],
        };
        const first = await this.#answer(task, attempt, prompt, [question]);
        const judged = this.#judge(task, first);
        value = joined(task, value, judged.value);
        if (judged.problems.length === 0) return { value, problems: [] };
        const second = await this.#answer(
          task,
          attempt,
          prompt,
          repairTurns(question, first, judged.problems),
        );
        const mended = this.#judge(task, second);
        value = joined(task, value, mended.value);
        problems = mended.problems;
        if (problems.length === 0 || (value !== null && task.isComplete(value))) return { value, problems };
      }
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      problems = [error.message];
    }
    return { value, problems };
  }

  async #answer<T>(
    { purpose, salt }: Task<T>,
    attempt: number,
    { system, schema }: RenderedPrompt,
    turns: readonly RequestTurn[],
  ): Promise<Pick<ModelAnswer, 'text' | 'finish'>> {
    const { provider, model, temperature, options, maxOutputTokens } = this.#settings;
    const key = digestJson({
      version: REQUEST_VERSION,
      provider,
      model,
      temperature,
      options,
      system,
      turns,
      schema,
      salt,
      attempt,
    });
    const kept = this.#journal.answer(key);
    if (kept && !(kept.finish === 'length' && kept.maxOutputTokens < maxOutputTokens)) return kept;
    return this.#client.complete({ key, system, turns, schema }, ({ text, finish, usage }) =>
      this.#journal.keepAnswer({ request: key, purpose, model, text, finish, maxOutputTokens, ...usage }),
    );
  }

  #judge<T>(task: Task<T>, { text, finish }: Pick<ModelAnswer, 'text' | 'finish'>): Checked<T> {
    const read = readAnswer(text);
    if ('value' in read) return task.check(read.value);
    return { value: null, problems: [cutWords(finish, this.#settings.maxOutputTokens) ?? read.problem] };
  }
}

/** Why an answer ends in its middle. */
function cutWords(finish: string, maxOutputTokens: number): string | null {
  switch (finish) {
    case 'length':
      return `the answer was cut off after ${maxOutputTokens} tokens (maxOutputTokens); it has to be shorter`;
    case 'too-large':
      return 'the answer was larger than any that could be right';
    case 'content-filter':
      return 'the provider withheld the answer (content filter)';
    default:
      return null;
  }
}

function joined<T>(task: Task<T>, earlier: T | null, later: T | null): T | null {
  if (earlier === null || later === null) return later ?? earlier;
  return task.combine(earlier, later);
}

/** The question once more, with the answer that was given and what is wrong with it. */
function repairTurns(
  question: RequestTurn,
  { text }: Pick<ModelAnswer, 'text'>,
  problems: readonly string[],
): RequestTurn[] {
  const words = [
    text.trim() === '' ? 'Your last answer to this was empty.' : 'That answer cannot be used:',
    ...problems.map((problem) => `- ${problem}`),
    'Give the whole answer again, corrected: one JSON object of the form described above, and nothing else.',
  ].join('\n');
  const again: RequestTurn = { role: 'user', parts: [words] };
  // Providers refuse empty turns.
  if (text.trim() === '' && question.role === 'user')
    return [{ role: 'user', parts: [...question.parts, words] }];
  const shown = text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN)} […]`;
  return [question, { role: 'assistant', text: shown }, again];
}
